/** Searches a text that arrives in pieces. The result is the same for any chunking, and no text is released too early. */
import { hasQuote, isInsideString, resolveEscapes } from './folding/json-text.ts';
import { liveIn, type VisibleText, visibleTexts, writtenAt } from './folding/visible-text.ts';
import type { Span, SpanDetector } from './guardrail.ts';

/** Length of decided text that is kept as context of the text after it. */
export const contextLength = 96;
/** Maximum length of a match: a word with thousands of invisible characters between its letters is no real word. */
export const maxMatchLength = 16_384;
/** Threshold of undecided text from which it is searched again only after growing by an eighth, so that the time stays linear. */
const patience = 4096;

export interface FoundSpan extends Span {
	/** Tells whether the span is inside a string, if the text is JSON. */
	readonly isInString: boolean;
	/** False if a label in place of the span would break the JSON around it. */
	readonly isMaskable: boolean;
}

export class TextScan {
	readonly #detectors: readonly SpanDetector[];
	readonly #isJson: boolean;
	/** Decided text as context, followed by undecided text. */
	#buffer = '';
	/** Offset of the buffer in the text. */
	#bufferStart = 0;
	#isBufferInString = false;
	#decided = 0;
	/** Length of the buffer at its last search. */
	#searched = 0;

	/**
	 * @param isJson marks the text as JSON, whose escapes hide characters.
	 * @param context beginning of the text, which was searched before.
	 */
	constructor(detectors: readonly SpanDetector[], isJson: boolean, context = '') {
		this.#detectors = detectors;
		this.#isJson = isJson;
		this.#buffer = context;
		this.#decided = context.length;
	}

	/** Offset before which no match can begin any more, whatever follows. */
	get decided(): number {
		return this.#decided;
	}

	/** @returns the certain matches, ordered by start, with offsets in the whole text. */
	push(piece: string): readonly FoundSpan[] {
		this.#buffer += piece;
		if (this.#detectors.length === 0) return this.#pass();
		const undecided = this.#searched - (this.#decided - this.#bufferStart);
		if (undecided > patience && this.#buffer.length - this.#searched < undecided / 8) return [];
		return this.#scan(true);
	}

	/** Ends the text after this last piece. */
	end(piece = ''): readonly FoundSpan[] {
		this.#buffer += piece;
		return this.#scan(false);
	}

	#scan(isOpen: boolean): readonly FoundSpan[] {
		const buffer = this.#buffer;
		const { text, positions } = this.#isJson ? resolveEscapes(buffer) : { text: buffer, positions: undefined };
		const spans: Span[] = [];
		let live = text.length;
		for (const detector of this.#detectors) live = Math.min(live, detector.find(text, isOpen, spans));
		for (const visible of visibleTexts(text, isOpen)) live = Math.min(live, this.#findVisible(visible, isOpen, spans));
		live = Math.max(live, text.length - maxMatchLength);
		const decided = isOpen ? (positions?.[live] ?? live) : buffer.length;
		const found = this.#accept(spans, positions, decided);
		this.#decided = Math.max(this.#decided, this.#bufferStart + decided);
		this.#trim(positions, text.length);
		this.#searched = this.#buffer.length;
		return found;
	}

	/** Adds matches in the shown text, at their written positions. @returns the offset from which more text can create or change matches. */
	#findVisible(visible: VisibleText, isOpen: boolean, spans: Span[]): number {
		const found: Span[] = [];
		let live = visible.text.length;
		for (const detector of this.#detectors) live = Math.min(live, detector.find(visible.text, isOpen, found));
		for (const span of found) spans.push({ ...span, ...writtenAt(visible, span.start, span.end) });
		return liveIn(visible, live);
	}

	/** Skips the search when there are no detectors. */
	#pass(): readonly FoundSpan[] {
		this.#bufferStart += this.#buffer.length;
		this.#decided = this.#bufferStart;
		this.#buffer = '';
		return [];
	}

	#accept(spans: readonly Span[], positions: Int32Array | undefined, decided: number): readonly FoundSpan[] {
		if (spans.length === 0) return [];
		const from = this.#decided - this.#bufferStart;
		const found = new Map<string, FoundSpan>();
		for (const { policy, category, ...span } of spans) {
			const start = positions?.[span.start] ?? span.start;
			const end = positions?.[span.end] ?? span.end;
			if (start < from || start >= decided) continue;
			const isInString = this.#isJson && isInsideString(this.#buffer.slice(0, start), this.#isBufferInString);
			const isMaskable = !this.#isJson || !hasQuote(this.#buffer.slice(start, end));
			const located = { policy, category, start: start + this.#bufferStart, end: end + this.#bufferStart, isInString, isMaskable };
			found.set(`${start} ${end} ${policy} ${category}`, located);
		}
		return [...found.values()].toSorted((one, other) => one.start - other.start || other.end - one.end);
	}

	/** @param length of the text that the positions belong to. */
	#trim(positions: Int32Array | undefined, length: number): void {
		let keep = this.#decided - this.#bufferStart - contextLength;
		if (keep <= contextLength) return;
		// The cut is never in the middle of an escape or a character.
		if (positions !== undefined) {
			let index = length;
			while (index > 0 && (positions[index] ?? 0) > keep) index--;
			keep = positions[index] ?? 0;
		}
		const code = this.#buffer.charCodeAt(keep);
		if (code >= 0xdc00 && code <= 0xdfff) keep--;
		if (this.#isJson) this.#isBufferInString = isInsideString(this.#buffer.slice(0, keep), this.#isBufferInString);
		this.#buffer = this.#buffer.slice(keep);
		this.#bufferStart += keep;
	}
}
