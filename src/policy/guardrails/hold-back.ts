/** One text of a stream under enforcement: what may leave of it, and how it reads then. */
import type { Finding } from './guardrail.ts';
import type { JudgedText } from './judge.ts';
import { addMask, applyMasks, type Mask, maskOf } from './masks.ts';
import type { TextScan } from './text-scan.ts';
import type { Verdicts } from './verdicts.ts';

/** A judgement on the whole waits for the end of a sentence, or for so many characters. */
export const judgedWindow = 256;
const sentenceEnd = /[.!?。！？\n]["')\]]?\s/g;

export class HoldBack {
	readonly #scan: TextScan;
	readonly #judged: readonly JudgedText[];
	readonly #verdicts: Verdicts;
	readonly #isJson: boolean;
	readonly #masks: Mask[] = [];
	readonly #findings: Finding[] = [];
	readonly #told = new Set<string>();
	/** What no judge has seen as a whole sentence. */
	#unjudged = '';
	#length = 0;
	#isOver = false;
	#hasTripped = false;

	/** @param isJson as the scan. */
	constructor(scan: TextScan, judged: readonly JudgedText[], verdicts: Verdicts, isJson: boolean) {
		this.#isJson = isJson;
		this.#scan = scan;
		this.#judged = judged;
		this.#verdicts = verdicts;
	}

	push(piece: string): void {
		this.#length += piece.length;
		this.#take(this.#scan.push(piece));
		if (this.#judged.length === 0) return;
		for (const judged of this.#judged) judged.add(piece);
		this.#unjudged += piece;
		const end = this.#sentenceEnd();
		if (end === 0) return;
		this.#judge(false);
		this.#unjudged = this.#unjudged.slice(end);
	}

	/** The text is over: all of it may leave, unless it tripped. */
	end(): void {
		if (this.#isOver) return;
		this.#take(this.#scan.end());
		this.#judge(true);
		this.#unjudged = '';
		this.#isOver = true;
	}

	/** A finding blocks: nothing more may leave. */
	get isBlocked(): boolean {
		return this.#hasTripped;
	}

	get findings(): readonly Finding[] {
		return this.#findings;
	}

	/** Up to where the text may leave. */
	get releasable(): number {
		if (this.#hasTripped) return 0;
		return this.#isOver ? this.#length : Math.min(this.#scan.decided, this.#length - this.#unjudged.length);
	}

	/** How a part of the text that may leave reads; the same text where nothing in it is masked. `offset`: where the part begins. */
	shown(part: string, offset: number): string {
		return applyMasks(part, offset, this.#masks);
	}

	#take(spans: ReturnType<TextScan['push']>): void {
		for (const span of spans) {
			const finding = this.#verdicts.ofSpan(span);
			if (finding === undefined) continue;
			this.#findings.push(finding);
			if (finding.action === 'BLOCK') this.#hasTripped = true;
			if (finding.action === 'MASK') addMask(this.#masks, maskOf(finding, this.#isJson && !span.isInString));
		}
	}

	#judge(isOver: boolean): void {
		for (const judged of this.#judged) {
			for (const judgement of judged.judge(isOver)) {
				const finding = this.#verdicts.ofJudgement(judgement, this.#length);
				const key = `${judgement.policy} ${judgement.category} ${finding?.action}`;
				if (finding === undefined || this.#told.has(key)) continue;
				this.#told.add(key);
				this.#findings.push(finding);
				if (finding.action === 'BLOCK') this.#hasTripped = true;
			}
		}
	}

	/** @returns how much of what is not judged may be; 0 while a sentence goes on. */
	#sentenceEnd(): number {
		const text = this.#unjudged;
		let end = 0;
		for (const found of text.matchAll(sentenceEnd)) end = found.index + found[0].length;
		if (end > 0 || text.length < judgedWindow) return end;
		const space = text.lastIndexOf(' ');
		return space > 0 ? space : text.length;
	}
}
