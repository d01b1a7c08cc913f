/** Texts that follow each other as parts of one thing said: whoever reads them may read them as one. */
import type { Steps } from '../../core/steps.ts';
import { longestMatch } from './text-scan.ts';

export interface ThreadedText {
	readonly text: string;
	/** Texts of the same thread may be read as one; without a name it stands alone. */
	readonly thread?: string;
}

/** A text, or the beginning or end of a long one, in a joined text. */
interface Place {
	/** Of the text. */
	readonly index: number;
	/** Where in the text it begins. */
	readonly offset: number;
	/** Where in the joined text it begins. */
	readonly start: number;
	readonly end: number;
}

/** A span of a joined text, in one of the texts that it is in: from before its beginning where it begins in another. */
export interface PlacedSpan {
	readonly index: number;
	readonly start: number;
	readonly end: number;
}

/** What is put between parts by those who join them: our own translations do both. */
const separators = ['', '\n'];

export class JoinedText {
	text = '';
	readonly #places: Place[] = [];

	/** Indexes of the texts that it is made of. */
	get indexes(): readonly number[] {
		return this.#places.map(({ index }) => index);
	}

	add(index: number, offset: number, piece: string, separator: string): void {
		if (this.#places.length > 0) this.text += separator;
		const start = this.text.length;
		this.text += piece;
		this.#places.push({ index, offset, start, end: this.text.length });
	}

	/** @returns the places of a span, those that it begins in first. */
	placesOf(start: number, end: number): readonly PlacedSpan[] {
		return this.#places
			.slice(this.#firstAfter(start), this.#firstAfter(end - 1) + 1)
			.filter((place) => place.start < end)
			.map((place) => ({ index: place.index, start: start - place.start + place.offset, end: end - place.start + place.offset }));
	}

	/** @returns the first place that ends after this offset. */
	#firstAfter(offset: number): number {
		let low = 0;
		let high = this.#places.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.#places[middle]?.end ?? 0) > offset) high = middle;
			else low = middle + 1;
		}
		return low;
	}
}

/** So many texts are put together at once. */
const textsAtOnce = 4096;

/** Threads of several texts, each read in every way in which they may be joined. No match reaches further into a long text than is read. */
export function* joiningSteps(texts: readonly ThreadedText[]): Steps<readonly JoinedText[]> {
	const threads = new Map<string, number[]>();
	for (const [index, { thread = '' }] of texts.entries()) {
		if (index % textsAtOnce === textsAtOnce - 1) yield;
		if (thread === '') continue;
		const indexes = threads.get(thread);
		if (indexes === undefined) threads.set(thread, [index]);
		else indexes.push(index);
	}
	const joined: JoinedText[] = [];
	for (const indexes of threads.values()) {
		if (indexes.length < 2) continue;
		for (const separator of separators) yield* joinThread(texts, indexes, separator, joined);
	}
	return joined;
}

function* joinThread(texts: readonly ThreadedText[], indexes: readonly number[], separator: string, joined: JoinedText[]): Steps<void> {
	let current = new JoinedText();
	const close = (): void => {
		if (current.indexes.length > 1) joined.push(current);
		current = new JoinedText();
	};
	for (const [count, index] of indexes.entries()) {
		if (count % textsAtOnce === textsAtOnce - 1) yield;
		const { text = '' } = texts[index] ?? {};
		if (text.length <= 2 * longestMatch) {
			current.add(index, 0, text, separator);
			continue;
		}
		current.add(index, 0, text.slice(0, longestMatch), separator);
		close();
		const offset = text.length - longestMatch;
		current.add(index, offset, text.slice(offset), separator);
	}
	close();
}
