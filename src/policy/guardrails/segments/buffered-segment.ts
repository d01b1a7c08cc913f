/** Guards texts of a stream that can be read as one: decides which parts can be delivered, and masks them. */
import type { Finding } from '../guardrail.ts';
import type { HeldBackWindow } from '../held-back-window.ts';
import { applyMasks, type Mask, orderMasks } from '../masks.ts';

/** Length of settled text that is kept for readings across blocks. */
const retainedCharacters = 512;
/** Separator with which clients join blocks. */
const separator = '\n';

export interface SegmentPiece {
	readonly segmentGroup: BufferedSegment;
	readonly text: string;
	/** Offset in the thread. */
	readonly start: number;
	/** Number of preceding blocks. */
	readonly cuts: number;
	readonly alone: HeldBackWindow;
	/** Offset in its block. */
	readonly startAlone: number;
}

/** Readings of the blocks as one text, from shortly before the end of the first. */
interface Readings {
	readonly joined: HeldBackWindow;
	/** Reading with a separator between blocks. */
	readonly spaced: HeldBackWindow;
	/** Offset of the readings in the thread. */
	readonly base: number;
	/** Positions of the separators in `spaced`. */
	readonly separatorsAt: number[];
}

export class BufferedSegment {
	readonly #begin: (context: string) => HeldBackWindow;
	#block = '';
	/** Reads the current block alone. */
	#alone: HeldBackWindow;
	#aloneStart = 0;
	/** Set from the second block on. */
	#readings: Readings | undefined;
	/** End of the first block. */
	#recent = '';
	#length = 0;
	#cuts = 0;
	/** Match in a finished block. */
	#hasViolation = false;
	readonly #findings = new Map<string, Finding>();

	constructor(begin: (context: string) => HeldBackWindow) {
		this.#begin = begin;
		this.#alone = begin('');
	}

	/** @param block id of the block; pieces of the same block are certainly one text. */
	push(block: string, text: string): SegmentPiece {
		if (block !== this.#block && this.#length > 0) this.#cut();
		this.#block = block;
		const alone = this.#alone;
		const start = this.#length;
		this.#length += text.length;
		alone.push(text);
		this.#readings?.joined.push(text);
		this.#readings?.spaced.push(text);
		if (this.#readings === undefined) this.#retainRecent(text);
		return { segmentGroup: this, text, start, cuts: this.#cuts, alone, startAlone: start - this.#aloneStart };
	}

	end(): void {
		this.#alone.end();
		this.#readings?.joined.end();
		this.#readings?.spaced.end();
	}

	get isBlocked(): boolean {
		const { joined, spaced } = this.#readings ?? {};
		return this.#hasViolation || this.#alone.isBlocked || joined?.isBlocked === true || spaced?.isBlocked === true;
	}

	/** Findings by offsets in the thread. */
	get findings(): readonly Finding[] {
		this.#collect(this.#alone, (offset) => offset + this.#aloneStart);
		if (this.#readings !== undefined) {
			const { joined, spaced, base, separatorsAt } = this.#readings;
			this.#collect(joined, (offset) => offset + base);
			this.#collect(spaced, (offset) => offset + base - separatorsAt.filter((at) => at < offset).length);
		}
		return [...this.#findings.values()];
	}

	canLeave({ text, start, cuts, alone, startAlone }: SegmentPiece): boolean {
		if (startAlone + text.length > alone.releasable) return false;
		if (this.#readings === undefined) return true;
		const { joined, spaced, base } = this.#readings;
		const end = start + text.length - base;
		return end <= joined.releasable && end + cuts <= spaced.releasable;
	}

	/** Masks a piece that can be delivered; returns the same text if it has no match. */
	visible({ text, start, cuts, alone, startAlone }: SegmentPiece): string {
		if (this.#readings === undefined) return alone.visible(text, startAlone);
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
		this.#hasViolation ||= this.#alone.isBlocked;
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

	#retainRecent(text: string): void {
		this.#recent += text;
		const needed = this.#length - this.#alone.settled + retainedCharacters;
		if (this.#recent.length > 2 * needed) this.#recent = this.#recent.slice(-needed);
	}

	/** Collects findings once, although several readings can have the same one. */
	#collect({ findings }: HeldBackWindow, inSegmentGroup: (offset: number) => number): void {
		for (const finding of findings) {
			const { policy, category, action } = finding;
			const isClassification = policy === 'content' || policy === 'topics';
			const start = isClassification ? 0 : inSegmentGroup(finding.start);
			const key = `${policy} ${category} ${action} ${start}`;
			if (!this.#findings.has(key)) this.#findings.set(key, { ...finding, start, end: inSegmentGroup(finding.end) });
		}
	}
}

function addMasks(masks: Mask[], window: HeldBackWindow, offset: number, length: number): void {
	for (const { start, end, text } of window.masks) {
		if (end > offset && start < offset + length) masks.push({ start: start - offset, end: end - offset, text });
	}
}
