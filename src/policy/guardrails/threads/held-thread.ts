/** Texts of a stream that may be read as one: what may leave of them, and how they read then. */
import type { Finding } from '../guardrail.ts';
import type { HoldBack } from '../hold-back.ts';
import { applyMasks, type Mask, orderMasks } from '../masks.ts';

/** So much of what was settled is kept for whoever reads across blocks. */
const keptCharacters = 512;
/** What blocks are put together with by those who join them. */
const separator = '\n';

/** Where a piece lies. */
export interface ThreadPiece {
	readonly thread: HeldThread;
	readonly text: string;
	/** In the thread. */
	readonly start: number;
	/** How many blocks were before it. */
	readonly cuts: number;
	readonly alone: HoldBack;
	/** In its block. */
	readonly startAlone: number;
}

/** The blocks as if they were one, from a while before the end of the first. */
interface Readings {
	readonly joined: HoldBack;
	/** With a separator between each two blocks. */
	readonly spaced: HoldBack;
	/** Where in the thread they begin. */
	readonly base: number;
	/** Where the separators are in `spaced`. */
	readonly separatorsAt: number[];
}

export class HeldThread {
	readonly #begin: (context: string) => HoldBack;
	#block = '';
	/** Reads the block that goes on, by itself. */
	#alone: HoldBack;
	#aloneStart = 0;
	/** Once there is a second block. */
	#readings: Readings | undefined;
	/** The end of the first block. */
	#recent = '';
	#length = 0;
	#cuts = 0;
	/** A block that is over. */
	#hasTripped = false;
	readonly #findings = new Map<string, Finding>();

	constructor(begin: (context: string) => HoldBack) {
		this.#begin = begin;
		this.#alone = begin('');
	}

	/** @param block pieces of the same block are one text without doubt. */
	push(block: string, text: string): ThreadPiece {
		if (block !== this.#block && this.#length > 0) this.#cut();
		this.#block = block;
		const alone = this.#alone;
		const start = this.#length;
		this.#length += text.length;
		alone.push(text);
		this.#readings?.joined.push(text);
		this.#readings?.spaced.push(text);
		if (this.#readings === undefined) this.#keepRecent(text);
		return { thread: this, text, start, cuts: this.#cuts, alone, startAlone: start - this.#aloneStart };
	}

	/** Nothing follows any more. */
	end(): void {
		this.#alone.end();
		this.#readings?.joined.end();
		this.#readings?.spaced.end();
	}

	get isBlocked(): boolean {
		const { joined, spaced } = this.#readings ?? {};
		return this.#hasTripped || this.#alone.isBlocked || joined?.isBlocked === true || spaced?.isBlocked === true;
	}

	/** By offsets in the thread. */
	get findings(): readonly Finding[] {
		this.#collect(this.#alone, (offset) => offset + this.#aloneStart);
		if (this.#readings !== undefined) {
			const { joined, spaced, base, separatorsAt } = this.#readings;
			this.#collect(joined, (offset) => offset + base);
			this.#collect(spaced, (offset) => offset + base - separatorsAt.filter((at) => at < offset).length);
		}
		return [...this.#findings.values()];
	}

	mayLeave({ text, start, cuts, alone, startAlone }: ThreadPiece): boolean {
		if (startAlone + text.length > alone.releasable) return false;
		if (this.#readings === undefined) return true;
		const { joined, spaced, base } = this.#readings;
		const end = start + text.length - base;
		return end <= joined.releasable && end + cuts <= spaced.releasable;
	}

	/** How a piece that may leave reads; the same text where nothing in it is masked. */
	shown({ text, start, cuts, alone, startAlone }: ThreadPiece): string {
		if (this.#readings === undefined) return alone.shown(text, startAlone);
		const { joined, spaced, base } = this.#readings;
		const masks: Mask[] = [];
		addMasks(masks, alone, startAlone, text.length);
		addMasks(masks, joined, start - base, text.length);
		addMasks(masks, spaced, start - base + cuts, text.length);
		return masks.length === 0 ? text : applyMasks(text, 0, orderMasks(masks));
	}

	#cut(): void {
		this.#readings ??= this.#beginReadings();
		const { spaced, separatorsAt, base } = this.#readings;
		separatorsAt.push(this.#length - base + this.#cuts);
		spaced.push(separator);
		this.#alone.end();
		this.#hasTripped ||= this.#alone.isBlocked;
		this.#collect(this.#alone, (offset) => offset + this.#aloneStart);
		this.#alone = this.#begin('');
		this.#aloneStart = this.#length;
		this.#cuts++;
	}

	#beginReadings(): Readings {
		const recentStart = this.#length - this.#recent.length;
		const settled = Math.max(0, this.#alone.settled - recentStart);
		const context = this.#recent.slice(0, settled);
		const rest = this.#recent.slice(settled);
		const joined = this.#begin(context);
		const spaced = this.#begin(context);
		joined.push(rest);
		spaced.push(rest);
		this.#recent = '';
		return { joined, spaced, base: recentStart, separatorsAt: [] };
	}

	#keepRecent(text: string): void {
		this.#recent += text;
		const needed = this.#length - this.#alone.settled + keptCharacters;
		if (this.#recent.length > 2 * needed) this.#recent = this.#recent.slice(-needed);
	}

	/** What is found in several readings counts once. */
	#collect({ findings }: HoldBack, inThread: (offset: number) => number): void {
		for (const finding of findings) {
			const { policy, category, action } = finding;
			const isJudgement = policy === 'content' || policy === 'topics';
			const start = isJudgement ? 0 : inThread(finding.start);
			const key = `${policy} ${category} ${action} ${start}`;
			if (!this.#findings.has(key)) this.#findings.set(key, { ...finding, start, end: inThread(finding.end) });
		}
	}
}

function addMasks(masks: Mask[], hold: HoldBack, offset: number, length: number): void {
	for (const { start, end, text } of hold.masks) {
		if (end > offset && start < offset + length) masks.push({ start: start - offset, end: end - offset, text });
	}
}
