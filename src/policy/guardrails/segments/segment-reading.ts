/** Evaluates the texts of a thread as one, only around their ends, because each text was already evaluated alone. */

import type { Classification, ClassifiedText } from '../guardrail.ts';
import { contextLength, type FoundSpan, type TextScan } from '../text-scan.ts';
import { firstWordsEnd, JoinedPositions, joinsWords, lastWordsStart, type SegmentedText, separators } from './joined-segments.ts';

export interface ReadingParts {
	/** @param context beginning of the text, which was searched before. */
	createScan(isJson: boolean, context: string): TextScan;
	beginClassifying(): readonly ClassifiedText[];
}

export interface JoinedSink {
	takeSpans(spans: readonly FoundSpan[], positions: JoinedPositions): void;
	/** @param index of the first of the texts. */
	takeClassification(classification: Classification, index: number, length: number): void;
}

export interface SegmentGroup {
	readonly texts: readonly SegmentedText[];
	/** Indexes of the thread's texts. */
	readonly indexes: readonly number[];
	/** Offsets by index, of all texts except the last, from which the following text can create or change matches. */
	readonly openEnds: ReadonlyMap<number, number>;
}

/** Number of characters in one step, which can have many small texts. */
const pieceLength = 512;
/**
 * Length of the first part of the next text. It doubles up to `pieceLength` until no match is incomplete, because each round reads
 * undecided text again.
 */
const headLength = 128;

/** @returns steps, each with the number of characters read. */
export function* readSegmentGroup(segmentGroup: SegmentGroup, parts: ReadingParts, sink: JoinedSink): Generator<number, void> {
	const { texts, indexes, openEnds } = segmentGroup;
	const openEnd = (_: string, index: number): number => openEnds.get(index) ?? 0;
	for (const separator of separators) {
		yield* walk(segmentGroup, openEnd, (index, text, at) => new SearchReader(parts, sink, separator, index, text, at));
	}
	if (parts.beginClassifying().length === 0) return;
	// If no words meet, judges read the same words with both separators.
	const ways = joinsWords(texts, indexes) ? separators : separators.slice(0, 1);
	const wordsStart = onceForEach(lastWordsStart);
	const wordsEnd = onceForEach(firstWordsEnd);
	for (const separator of ways) {
		yield* walk(segmentGroup, wordsStart, (index) => new ClassifierReader(parts, sink, separator, index, wordsEnd));
	}
}

/** Caches a measurement, because both ways of joining measure the same texts. */
function onceForEach(measure: (text: string) => number): (text: string, index: number) => number {
	const known = new Map<number, number>();
	return (text, index) => {
		const before = known.get(index);
		if (before !== undefined) return before;
		const measured = measure(text);
		known.set(index, measured);
		return measured;
	};
}

/** Reads parts of several texts as one. */
interface Reader {
	/** @returns the offset up to which the text must be read. */
	beginText(text: string, index: number): number;
	/** Tells whether the text after this offset of the current text says the same as that text alone. */
	isThrough(at: number): boolean;
	add(index: number, at: number, piece: string): void;
	/** @param isOver true if the text ends there; false if it continues. */
	end(isOver: boolean): void;
}

/**
 * Iterates over the texts and skips the middle of long ones.
 * @param tailStart returns the offset from which a text is read together with the next one.
 */
function* walk(
	{ texts, indexes }: SegmentGroup,
	tailStart: (text: string, index: number) => number,
	begin: (index: number, text: string, at: number) => Reader,
): Generator<number, void> {
	let reader: Reader | undefined;
	let unread = 0;
	const last = indexes.at(-1);
	for (const index of indexes) {
		const { text = '' } = texts[index] ?? {};
		const tail = index === last ? text.length : tailStart(text, index);
		let at = 0;
		if (reader !== undefined) {
			let length = headLength;
			for (let end = reader.beginText(text, index); at < text.length && (at === 0 || (at < tail && !reader.isThrough(at))); end += length) {
				reader.add(index, at, text.slice(at, end));
				unread += Math.min(end, text.length) - at + 1;
				at = Math.min(end, text.length);
				length = Math.min(pieceLength, 2 * length);
				if (unread < headLength) continue;
				yield unread;
				unread = 0;
			}
		}
		if (at < tail) {
			reader?.end(false);
			reader = undefined;
		}
		if (index === last) break;
		if (reader === undefined) {
			reader = begin(index, text, tail);
			at = tail;
		}
		for (; at < text.length; at += pieceLength) {
			reader.add(index, at, text.slice(at, at + pieceLength));
			yield pieceLength;
		}
	}
	reader?.end(true);
}

class SearchReader implements Reader {
	readonly #sink: JoinedSink;
	readonly #separator: string;
	readonly #scan: TextScan;
	readonly #positions = new JoinedPositions();
	/** Text that is not searched yet. */
	#pending = '';
	#textStart = 0;

	/** @param at offset from which the text of this index is searched. */
	constructor(parts: ReadingParts, sink: JoinedSink, separator: string, index: number, text: string, at: number) {
		const start = wholeCharacter(text, Math.max(0, at - contextLength));
		this.#sink = sink;
		this.#separator = separator;
		this.#scan = parts.createScan(false, text.slice(start, at));
		this.#positions.add(index, start, at - start);
	}

	beginText(): number {
		this.#positions.skip(this.#separator.length);
		this.#pending += this.#separator;
		this.#textStart = this.#positions.length;
		return headLength;
	}

	isThrough(): boolean {
		this.#search();
		return this.#scan.decided >= this.#textStart + contextLength;
	}

	add(index: number, at: number, piece: string): void {
		this.#positions.add(index, at, piece.length);
		this.#pending += piece;
		if (this.#pending.length >= pieceLength) this.#search();
	}

	/** Matches that continue were already decided in that text alone. */
	end(isOver: boolean): void {
		if (isOver) this.#sink.takeSpans(this.#scan.end(this.#pending), this.#positions);
	}

	#search(): void {
		if (this.#pending === '') return;
		this.#sink.takeSpans(this.#scan.push(this.#pending), this.#positions);
		this.#pending = '';
	}
}

class ClassifierReader implements Reader {
	readonly #sink: JoinedSink;
	readonly #separator: string;
	readonly #classified: readonly ClassifiedText[];
	readonly #firstIndex: number;
	/** Text that is not judged yet, collected because each small piece would be judged together with the end of the previous text. */
	#pending = '';
	#length = 0;
	readonly #wordsEndOf: (text: string, index: number) => number;
	#wordsEnd = 0;

	constructor(
		parts: ReadingParts,
		sink: JoinedSink,
		separator: string,
		index: number,
		wordsEndOf: (text: string, index: number) => number,
	) {
		this.#wordsEndOf = wordsEndOf;
		this.#sink = sink;
		this.#separator = separator;
		this.#classified = parts.beginClassifying();
		this.#firstIndex = index;
	}

	beginText(text: string, index: number): number {
		this.#add(this.#separator);
		this.#wordsEnd = this.#wordsEndOf(text, index);
		return this.#wordsEnd;
	}

	isThrough(at: number): boolean {
		return at >= this.#wordsEnd;
	}

	add(_: number, __: number, piece: string): void {
		this.#add(piece);
	}

	end(): void {
		for (const classified of this.#classified) {
			classified.add(this.#pending);
			for (const classification of classified.classify(true)) this.#sink.takeClassification(classification, this.#firstIndex, this.#length);
		}
	}

	#add(piece: string): void {
		this.#length += piece.length;
		this.#pending += piece;
		if (this.#pending.length < headLength) return;
		for (const classified of this.#classified) classified.add(this.#pending);
		this.#pending = '';
	}
}

/** Returns the same offset, or the beginning of the character that it splits. */
function wholeCharacter(text: string, at: number): number {
	const code = text.charCodeAt(at);
	return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
