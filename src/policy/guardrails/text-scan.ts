/** Searches a text that comes in pieces, so that however it is cut the same is found, and nothing is given away too early. */
import { holdsQuote, isInsideString, resolveEscapes } from './folding/json-text.ts';
import { liveIn, type ShownText, shownTexts, writtenAt } from './folding/shown-text.ts';
import type { Span, SpanDetector } from './guardrail.ts';

/** So much of what was decided is kept, for it may tell what follows. */
export const contextLength = 96;
/** What is longer is no match: a word with thousands of invisible characters between its letters is nobody's word. */
export const longestMatch = 16_384;
/** From so much on, what is undecided is searched again only when it has grown by its eighth: the time stays linear. */
const patience = 4096;

export interface FoundSpan extends Span {
	/** Of JSON: whether the span stands inside a string. */
	readonly isInString: boolean;
	/** False where a label in place of the span would break the JSON around it. */
	readonly isMaskable: boolean;
}

export class TextScan {
	readonly #detectors: readonly SpanDetector[];
	readonly #isJson: boolean;
	/** Begins with what was decided, as context, and goes on with what was not. */
	#buffer = '';
	/** Where in the text the buffer begins. */
	#bufferStart = 0;
	#isBufferInString = false;
	#decided = 0;
	/** How much of the buffer was searched last. */
	#searched = 0;

	/**
	 * @param isJson the text is JSON, whose escapes hide what they stand for.
	 * @param context what the text begins with and was searched before.
	 */
	constructor(detectors: readonly SpanDetector[], isJson: boolean, context = '') {
		this.#detectors = detectors;
		this.#isJson = isJson;
		this.#buffer = context;
		this.#decided = context.length;
	}

	/** Whatever follows, nothing is found any more that begins before this offset. */
	get decided(): number {
		return this.#decided;
	}

	/** @returns what was found for certain, in the order of where it begins, by offsets in the whole text. */
	push(piece: string): readonly FoundSpan[] {
		this.#buffer += piece;
		if (this.#detectors.length === 0) return this.#pass();
		const undecided = this.#searched - (this.#decided - this.#bufferStart);
		if (undecided > patience && this.#buffer.length - this.#searched < undecided / 8) return [];
		return this.#scan(true);
	}

	/** The text is over, after this last piece. */
	end(piece = ''): readonly FoundSpan[] {
		this.#buffer += piece;
		return this.#scan(false);
	}

	#scan(isOpen: boolean): readonly FoundSpan[] {
		const buffer = this.#buffer;
		const { text, places } = this.#isJson ? resolveEscapes(buffer) : { text: buffer, places: undefined };
		const spans: Span[] = [];
		let live = text.length;
		for (const detector of this.#detectors) live = Math.min(live, detector.find(text, isOpen, spans));
		for (const shown of shownTexts(text, isOpen)) live = Math.min(live, this.#findShown(shown, isOpen, spans));
		live = Math.max(live, text.length - longestMatch);
		const decided = isOpen ? (places?.[live] ?? live) : buffer.length;
		const found = this.#accept(spans, places, decided);
		this.#decided = Math.max(this.#decided, this.#bufferStart + decided);
		this.#trim(places, text.length);
		this.#searched = this.#buffer.length;
		return found;
	}

	/** Adds what is found in a text as it is shown, by where that is written. @returns from where on more text may make or change matches. */
	#findShown(shown: ShownText, isOpen: boolean, spans: Span[]): number {
		const found: Span[] = [];
		let live = shown.text.length;
		for (const detector of this.#detectors) live = Math.min(live, detector.find(shown.text, isOpen, found));
		for (const span of found) spans.push({ ...span, ...writtenAt(shown, span.start, span.end) });
		return liveIn(shown, live);
	}

	/** Nothing is looked for. */
	#pass(): readonly FoundSpan[] {
		this.#bufferStart += this.#buffer.length;
		this.#decided = this.#bufferStart;
		this.#buffer = '';
		return [];
	}

	#accept(spans: readonly Span[], places: Int32Array | undefined, decided: number): readonly FoundSpan[] {
		if (spans.length === 0) return [];
		const from = this.#decided - this.#bufferStart;
		const found = new Map<string, FoundSpan>();
		for (const { policy, category, ...span } of spans) {
			const start = places?.[span.start] ?? span.start;
			const end = places?.[span.end] ?? span.end;
			if (start < from || start >= decided) continue;
			const isInString = this.#isJson && isInsideString(this.#buffer.slice(0, start), this.#isBufferInString);
			const isMaskable = !this.#isJson || !holdsQuote(this.#buffer.slice(start, end));
			const placed = { policy, category, start: start + this.#bufferStart, end: end + this.#bufferStart, isInString, isMaskable };
			found.set(`${start} ${end} ${policy} ${category}`, placed);
		}
		return [...found.values()].toSorted((one, other) => one.start - other.start || other.end - one.end);
	}

	/** @param length of what the places are of. */
	#trim(places: Int32Array | undefined, length: number): void {
		let keep = this.#decided - this.#bufferStart - contextLength;
		if (keep <= contextLength) return;
		// Never in the middle of an escape or a character.
		if (places !== undefined) {
			let index = length;
			while (index > 0 && (places[index] ?? 0) > keep) index--;
			keep = places[index] ?? 0;
		}
		const code = this.#buffer.charCodeAt(keep);
		if (code >= 0xdc00 && code <= 0xdfff) keep--;
		if (this.#isJson) this.#isBufferInString = isInsideString(this.#buffer.slice(0, keep), this.#isBufferInString);
		this.#buffer = this.#buffer.slice(keep);
		this.#bufferStart += keep;
	}
}
