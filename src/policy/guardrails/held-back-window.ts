/** Guards one text of a stream under enforcement: decides which part can be delivered, and masks it. */
import type { ClassifiedText, Finding } from './guardrail.ts';
import { addMask, applyMasks, type Mask, maskOf } from './masks.ts';
import type { TextScan } from './text-scan.ts';
import type { Verdicts } from './verdicts.ts';

/** Maximum delay of a judgement, which waits for the end of a sentence. Text that matches within this window is not delivered. */
export const classificationWindow = 256;
const sentenceEnd = /[.!?\n]["')\]]?\s|[。！？]/;
const lastWord = /[\p{L}\p{N}\ud800-\udfff]*$/u;

interface HeldBackWindowDeps {
	/** Searches for spans that can be blocked or masked. */
	readonly scan: TextScan;
	/** Searches for spans that are only logged, which delay nothing. */
	readonly noted: TextScan | undefined;
	readonly classified: readonly ClassifiedText[];
	/** Tells whether a judgement can block, so that sentences are held back for it. */
	readonly isSentenceBuffered: boolean;
	readonly verdicts: Verdicts;
	/** Marks the text as JSON, for the scans. */
	readonly isJson: boolean;
	/** Beginning of the text, which was delivered before. */
	readonly context: string;
}

export class HeldBackWindow {
	readonly #parts: HeldBackWindowDeps;
	readonly #masks: Mask[] = [];
	readonly #findings: Finding[] = [];
	readonly #reported = new Set<string>();
	/** Text that was not judged as a complete sentence yet. */
	#unevaluated = '';
	#length = 0;
	#isOver = false;
	#hasViolation = false;

	constructor(parts: HeldBackWindowDeps) {
		this.#parts = parts;
		this.#length = parts.context.length;
		if (this.#length > 0) for (const classified of parts.classified) classified.add(parts.context);
	}

	push(piece: string): void {
		const { scan, noted, classified } = this.#parts;
		this.#length += piece.length;
		this.#take(scan.push(piece));
		if (noted !== undefined) this.#take(noted.push(piece));
		if (classified.length === 0) return;
		this.#unevaluated += piece;
		for (let end = unitEnd(this.#unevaluated); end > 0; end = unitEnd(this.#unevaluated)) {
			this.#classify(this.#unevaluated.slice(0, end), false);
			this.#unevaluated = this.#unevaluated.slice(end);
		}
	}

	/** Ends the text: all of it can be delivered, unless it matched. */
	end(): void {
		if (this.#isOver) return;
		const { scan, noted } = this.#parts;
		this.#take(scan.end());
		if (noted !== undefined) this.#take(noted.end());
		this.#classify(this.#unevaluated, true);
		this.#unevaluated = '';
		this.#isOver = true;
	}

	/** Tells whether a finding blocks, so that no further text can be delivered. */
	get isBlocked(): boolean {
		return this.#hasViolation;
	}

	get findings(): readonly Finding[] {
		return this.#findings;
	}

	/** End of the text that can be delivered. */
	get releasable(): number {
		if (this.#hasViolation) return 0;
		if (this.#isOver) return this.#length;
		const { scan, isSentenceBuffered } = this.#parts;
		return isSentenceBuffered ? Math.min(scan.decided, this.#length - this.#unevaluated.length) : scan.decided;
	}

	/** Offset before which no policy can find anything more, whatever follows. */
	get settled(): number {
		const { scan, noted } = this.#parts;
		return Math.min(scan.decided, noted?.decided ?? this.#length, this.#length - this.#unevaluated.length);
	}

	get masks(): readonly Mask[] {
		return this.#masks;
	}

	/** Masks a part of the text that can be delivered; returns the same text if it has no match. `offset`: the start of the part. */
	visible(part: string, offset: number): string {
		return applyMasks(part, offset, this.#masks);
	}

	#take(spans: ReturnType<TextScan['push']>): void {
		for (const span of spans) {
			const finding = this.#parts.verdicts.ofSpan(span);
			if (finding === undefined) continue;
			this.#findings.push(finding);
			if (finding.action === 'BLOCK') this.#hasViolation = true;
			if (finding.action === 'MASK') addMask(this.#masks, maskOf(finding, this.#parts.isJson && !span.isInString));
		}
	}

	#classify(unit: string, isOver: boolean): void {
		for (const classified of this.#parts.classified) {
			classified.add(unit);
			for (const classification of classified.classify(isOver)) {
				const finding = this.#parts.verdicts.ofClassification(classification, this.#length);
				const key = `${classification.policy} ${classification.category} ${finding?.action} ${finding?.monitored}`;
				if (finding === undefined || this.#reported.has(key)) continue;
				this.#reported.add(key);
				this.#findings.push(finding);
				if (finding.action === 'BLOCK') this.#hasViolation = true;
			}
		}
	}
}

/** @returns the end of the first sentence, or of the last complete word within the window; 0 while it continues. */
function unitEnd(text: string): number {
	const found = sentenceEnd.exec(text.slice(0, classificationWindow));
	if (found !== null) return found.index + found[0].length;
	if (text.length < classificationWindow) return 0;
	const window = text.slice(0, classificationWindow);
	return window.length - (lastWord.exec(window)?.[0].length ?? 0) || classificationWindow;
}
