import type { Finding } from './guardrail.ts';
import { type JoinedText, joiningSteps, type PlacedSpan, type ThreadedText } from './joined-texts.ts';
import type { JudgedText, Judgement } from './judge.ts';
import { applyMasks, type Mask, maskOf, orderMasks } from './masks.ts';
import type { TextScan } from './text-scan.ts';
import type { Verdicts } from './verdicts.ts';

export interface ScreenedText extends ThreadedText {
	/** The text is JSON, whose escapes hide what they stand for. */
	readonly isJson: boolean;
}

export interface TextFinding extends Finding {
	/** Index of the text. */
	readonly index: number;
}

interface ScreeningParts {
	createScan(isJson: boolean): TextScan;
	beginJudging(): readonly JudgedText[];
}

/** Longer texts are read in pieces: so much costs some microseconds, or a few milliseconds where every word is suspicious. */
const pieceLength = 1024;
/** Beyond, findings repeat themselves. */
const mostFindings = 1000;

/**
 * The screening of some texts, a piece at a time, so that long ones need not hold up whoever drives it: each by itself, then threads
 * of several as if they were one, so that it makes no difference over how many parts something is cut.
 */
export class Screening {
	readonly #texts: readonly ScreenedText[];
	readonly #verdicts: Verdicts;
	readonly #parts: ScreeningParts;
	readonly #findings: TextFinding[] = [];
	readonly #masks: (Mask[] | undefined)[] = [];
	readonly #known = new Set<string>();
	readonly #joining: ReturnType<typeof joiningSteps>;
	/** Threads, once the texts are read. */
	#joined: readonly JoinedText[] | undefined;
	/** Of the text that is read, or of the thread behind all texts. */
	#index = 0;
	#at = 0;
	#scan: TextScan | undefined;
	#judged: readonly JudgedText[] = [];
	#hasTripped = false;

	constructor(texts: readonly ScreenedText[], verdicts: Verdicts, parts: ScreeningParts) {
		this.#texts = texts;
		this.#joining = joiningSteps(texts);
		this.#verdicts = verdicts;
		this.#parts = parts;
	}

	/**
	 * Reads on for about so many characters.
	 * @returns whether all is read, or what was read is to be blocked.
	 */
	run(mostCharacters: number): boolean {
		let left = mostCharacters;
		while (left > 0 && !this.isDone) left -= this.#step();
		return this.isDone;
	}

	get isDone(): boolean {
		if (this.#hasTripped) return true;
		return this.#joined !== undefined && this.#index >= this.#texts.length + this.#joined.length;
	}

	get isBlocked(): boolean {
		return this.#hasTripped;
	}

	get findings(): readonly TextFinding[] {
		return this.#findings;
	}

	/** How the text reads; undefined where nothing in it is masked. */
	maskedText(index: number): string | undefined {
		const masks = this.#masks[index];
		return masks === undefined ? undefined : applyMasks(this.#texts[index]?.text ?? '', 0, orderMasks(masks));
	}

	get #thread(): JoinedText | undefined {
		return this.#joined?.[this.#index - this.#texts.length];
	}

	#step(): number {
		return this.#index < this.#texts.length || this.#joined !== undefined ? this.#read() : this.#join();
	}

	/** Each step counts as a piece. */
	#join(): number {
		const step = this.#joining.next();
		if (step.done !== true) return pieceLength;
		this.#joined = step.value;
		return 1;
	}

	#read(): number {
		const { text, isJson = false }: { text: string; isJson?: boolean } = this.#texts[this.#index] ?? this.#thread ?? { text: '' };
		if (this.#scan === undefined) {
			this.#scan = this.#parts.createScan(isJson);
			this.#judged = this.#parts.beginJudging();
		}
		const end = Math.min(text.length, this.#at + pieceLength);
		const piece = end === text.length && this.#at === 0 ? text : text.slice(this.#at, end);
		for (const judged of this.#judged) judged.add(piece);
		const read = end - this.#at;
		this.#at = end;
		// A text of one piece is searched once.
		if (end < text.length) this.#take(this.#scan.push(piece), isJson);
		else this.#finish(this.#scan, piece, isJson, text.length);
		return read + 1;
	}

	#finish(scan: TextScan, piece: string, isJson: boolean, length: number): void {
		this.#take(scan.end(piece), isJson);
		for (const judged of this.#judged) {
			for (const judgement of judged.judge(true)) this.#takeJudgement(judgement, length);
		}
		this.#scan = undefined;
		this.#at = 0;
		this.#index++;
	}

	#take(spans: ReturnType<TextScan['push']>, isJson: boolean): void {
		for (const span of spans) {
			const finding = this.#verdicts.ofSpan(span);
			if (finding === undefined) continue;
			const places = this.#thread?.placesOf(span.start, span.end) ?? [{ index: this.#index, start: span.start, end: span.end }];
			this.#addSpan(finding, places);
			if (finding.action !== 'MASK') continue;
			for (const { index, start, end } of places) {
				const masks = this.#masks[index] ?? [];
				this.#masks[index] = masks;
				masks.push(maskOf({ ...finding, start, end }, isJson && !span.isInString));
			}
		}
	}

	/** What was found in a text by itself is found again where it is read with others. */
	#addSpan(finding: Finding, places: readonly PlacedSpan[]): void {
		const [first] = places;
		const last = places.at(-1);
		if (first === undefined || last === undefined) return;
		const { policy, category } = finding;
		const key = `${first.index} ${first.start} ${last.index} ${last.end} ${policy} ${category}`;
		if (this.#known.has(key)) return;
		if (this.#known.size < mostFindings) this.#known.add(key);
		this.#add({ ...finding, ...first });
	}

	#takeJudgement(judgement: Judgement, length: number): void {
		const finding = this.#verdicts.ofJudgement(judgement, length);
		if (finding === undefined) return;
		const indexes = this.#thread?.indexes;
		if (indexes === undefined) this.#add({ ...finding, index: this.#index });
		else if (!this.#findings.some((known) => isSame(known, finding))) this.#add({ ...finding, index: indexes[0] ?? 0 });
	}

	#add(finding: TextFinding): void {
		if (finding.action === 'BLOCK') this.#hasTripped = true;
		if (this.#findings.length < mostFindings || finding.action !== 'NONE') this.#findings.push(finding);
	}
}

function isSame(one: Finding, other: Finding): boolean {
	return one.policy === other.policy && one.category === other.category && one.action === other.action;
}
