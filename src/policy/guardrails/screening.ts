import type { Finding } from './guardrail.ts';
import type { JudgedText, Judgement } from './judge.ts';
import { addMask, applyMasks, type Mask, maskOf } from './masks.ts';
import type { TextScan } from './text-scan.ts';
import type { Verdicts } from './verdicts.ts';

export interface ScreenedText {
	readonly text: string;
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

/** The screening of some texts, a piece at a time, so that long ones need not hold up whoever drives it. */
export class Screening {
	readonly #texts: readonly ScreenedText[];
	readonly #verdicts: Verdicts;
	readonly #parts: ScreeningParts;
	readonly #findings: TextFinding[] = [];
	readonly #masks: (Mask[] | undefined)[] = [];
	#index = 0;
	#at = 0;
	#scan: TextScan | undefined;
	#judged: readonly JudgedText[] = [];
	#hasTripped = false;

	constructor(texts: readonly ScreenedText[], verdicts: Verdicts, parts: ScreeningParts) {
		this.#texts = texts;
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
		return this.#hasTripped || this.#index >= this.#texts.length;
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
		return masks === undefined ? undefined : applyMasks(this.#texts[index]?.text ?? '', 0, masks);
	}

	#step(): number {
		const screened = this.#texts[this.#index];
		if (screened === undefined) return 0;
		const { text, isJson } = screened;
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
			this.#add(finding);
			if (finding.action !== 'MASK') continue;
			const masks = this.#masks[this.#index] ?? [];
			this.#masks[this.#index] = masks;
			addMask(masks, maskOf(finding, isJson && !span.isInString));
		}
	}

	#takeJudgement(judgement: Judgement, length: number): void {
		const finding = this.#verdicts.ofJudgement(judgement, length);
		if (finding !== undefined) this.#add(finding);
	}

	#add(finding: Finding): void {
		if (finding.action === 'BLOCK') this.#hasTripped = true;
		if (this.#findings.length < mostFindings || finding.action !== 'NONE') this.#findings.push({ ...finding, index: this.#index });
	}
}
