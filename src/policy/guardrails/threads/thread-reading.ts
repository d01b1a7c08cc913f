/** Reads what the texts of a thread say together: only around their ends, for the rest was read of each by itself. */

import type { JudgedText, Judgement } from '../guardrail.ts';
import { contextLength, type FoundSpan, type TextScan } from '../text-scan.ts';
import { firstWordsEnd, JoinedPlaces, joinsWords, lastWordsStart, separators, type ThreadedText } from './joined-texts.ts';

export interface ReadingParts {
	/** @param context what the text begins with and was searched before. */
	createScan(isJson: boolean, context: string): TextScan;
	beginJudging(): readonly JudgedText[];
}

export interface JoinedSink {
	takeSpans(spans: readonly FoundSpan[], places: JoinedPlaces): void;
	/** @param index of the first of the texts. */
	takeJudgement(judgement: Judgement, index: number, length: number): void;
}

export interface Thread {
	readonly texts: readonly ThreadedText[];
	/** Of the thread's texts. */
	readonly indexes: readonly number[];
	/** By index, of all texts but the last: from where on what follows may make or change matches. */
	readonly openEnds: ReadonlyMap<number, number>;
}

/** So much is read at once, or what many small texts come to. */
const pieceLength = 512;
/** So much is read on first, then twice as much each time, until no match goes on: each time what is undecided is read again. */
const headLength = 128;

/** @returns steps, each telling how much it read. */
export function* readThread(thread: Thread, parts: ReadingParts, sink: JoinedSink): Generator<number, void> {
	const { texts, indexes, openEnds } = thread;
	const openEnd = (_: string, index: number): number => openEnds.get(index) ?? 0;
	for (const separator of separators) {
		yield* walk(thread, openEnd, (index, text, at) => new SearchReader(parts, sink, separator, index, text, at));
	}
	if (parts.beginJudging().length === 0) return;
	// Where no words meet, judges read the same words in both.
	const ways = joinsWords(texts, indexes) ? separators : separators.slice(0, 1);
	const wordsStart = onceForEach(lastWordsStart);
	const wordsEnd = onceForEach(firstWordsEnd);
	for (const separator of ways) {
		yield* walk(thread, wordsStart, (index) => new JudgeReader(parts, sink, separator, index, wordsEnd));
	}
}

/** Both ways of joining measure the same texts. */
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
	/** @returns up to where the text is read in any case. */
	beginText(text: string, index: number): number;
	/** Whether what follows this offset of the text that was begun last is said by that text alone. */
	isThrough(at: number): boolean;
	add(index: number, at: number, piece: string): void;
	/** @param isOver the text ends where it was read last; else it goes on. */
	end(isOver: boolean): void;
}

/**
 * Goes along the texts and leaves out what stands in the middle of long ones.
 * @param tailStart from where on a text is read together with what follows it.
 */
function* walk(
	{ texts, indexes }: Thread,
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
	readonly #places = new JoinedPlaces();
	/** What is not searched yet. */
	#pending = '';
	/** Of the text that was begun last. */
	#textStart = 0;

	/** @param at from where on the text of this index is going to be searched. */
	constructor(parts: ReadingParts, sink: JoinedSink, separator: string, index: number, text: string, at: number) {
		const start = wholeCharacter(text, Math.max(0, at - contextLength));
		this.#sink = sink;
		this.#separator = separator;
		this.#scan = parts.createScan(false, text.slice(start, at));
		this.#places.add(index, start, at - start);
	}

	beginText(): number {
		this.#places.skip(this.#separator.length);
		this.#pending += this.#separator;
		this.#textStart = this.#places.length;
		return headLength;
	}

	isThrough(): boolean {
		this.#search();
		return this.#scan.decided >= this.#textStart + contextLength;
	}

	add(index: number, at: number, piece: string): void {
		this.#places.add(index, at, piece.length);
		this.#pending += piece;
		if (this.#pending.length >= pieceLength) this.#search();
	}

	/** What goes on was decided where it is that text's own. */
	end(isOver: boolean): void {
		if (isOver) this.#sink.takeSpans(this.#scan.end(this.#pending), this.#places);
	}

	#search(): void {
		if (this.#pending === '') return;
		this.#sink.takeSpans(this.#scan.push(this.#pending), this.#places);
		this.#pending = '';
	}
}

class JudgeReader implements Reader {
	readonly #sink: JoinedSink;
	readonly #separator: string;
	readonly #judged: readonly JudgedText[];
	readonly #firstIndex: number;
	/** What is not judged yet: of many small pieces each would be read with the end of what was before. */
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
		this.#judged = parts.beginJudging();
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
		for (const judged of this.#judged) {
			judged.add(this.#pending);
			for (const judgement of judged.judge(true)) this.#sink.takeJudgement(judgement, this.#firstIndex, this.#length);
		}
	}

	#add(piece: string): void {
		this.#length += piece.length;
		this.#pending += piece;
		if (this.#pending.length < headLength) return;
		for (const judged of this.#judged) judged.add(this.#pending);
		this.#pending = '';
	}
}

/** The same place, or the beginning of the character that it stands in the middle of. */
function wholeCharacter(text: string, at: number): number {
	const code = text.charCodeAt(at);
	return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
