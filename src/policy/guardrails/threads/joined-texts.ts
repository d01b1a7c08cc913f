/** Texts that follow each other as parts of one thing said: whoever reads them may read them as one. */
import type { Steps } from '../../../core/steps.ts';
import { unitsOf } from '../folding/code-units.ts';
import { longestMatch } from '../text-scan.ts';

export interface ThreadedText {
	readonly text: string;
	/** Texts of the same thread may be read as one; without a name it stands alone. */
	readonly thread?: string;
}

/** What is put between parts by those who join them: our own translations do both. */
export const separators = ['', '\n'];
/** Judges look at so many words together: no more of them, from either side, is about what two parts say together. */
const wordsAround = 40;
/** So many code units are about as long as those words. */
const unitsAtOnce = 256;
/** So many texts are sorted into threads at once. */
const textsAtOnce = 4096;

/** @returns indexes of the texts of each thread of several. */
export function* threadSteps(texts: readonly ThreadedText[]): Steps<readonly (readonly number[])[]> {
	const threads = new Map<string, number[]>();
	for (const [index, { thread = '' }] of texts.entries()) {
		if (index % textsAtOnce === textsAtOnce - 1) yield;
		if (thread === '') continue;
		const indexes = threads.get(thread);
		if (indexes === undefined) threads.set(thread, [index]);
		else indexes.push(index);
	}
	return [...threads.values()].filter((indexes) => indexes.length > 1);
}

/** Where the last words of a text begin. */
export function lastWordsStart(text: string): number {
	return text.length - lengthOfWords(text, true);
}

/** Where the first words of a text end. */
export function firstWordsEnd(text: string): number {
	return lengthOfWords(text, false);
}

const unknown = 0;
const letter = 1;
/** Stands between words for every judge. */
const sign = 2;
/** Some judge does not see it, or not as a word of its own. */
const other = 3;
/** By code unit, once it was met. */
const kinds = new Uint8Array(0x10000);
const beginsWithLetter = /^(?!\u02bc)[\p{L}\p{Nd}]/u;
const signsOnly = /^[^\p{L}\p{N}\p{M}\p{Cf}\p{Cs}'\u2019]+$/u;

function kindOf(code: number): number {
	const known = kinds[code] as number;
	if (known !== unknown) return known;
	const kind = readKind(String.fromCharCode(code).normalize('NFKD'));
	kinds[code] = kind;
	return kind;
}

function readKind(character: string): number {
	if (beginsWithLetter.test(character)) return letter;
	return signsOnly.test(character) ? sign : other;
}

/** How long the first or the last words of a text are, of those that every judge counts: what only some see is no distance. */
function lengthOfWords(text: string, isFromEnd: boolean): number {
	const most = Math.min(text.length, longestMatch);
	let words = 0;
	let isInWord = false;
	for (let before = 0; before < most; before += unitsAtOnce) {
		const count = Math.min(unitsAtOnce, most - before);
		const start = isFromEnd ? text.length - before - count : before;
		const units = unitsOf(text, start, start + count);
		for (let index = 0; index < count; index++) {
			const kind = kindOf(units[isFromEnd ? count - 1 - index : index] as number);
			if (kind === sign && isInWord && ++words === wordsAround) return before + index;
			isInWord = kind === letter || (kind === other && isInWord);
		}
	}
	return most;
}

/** Whether a word goes on from one text in the next when nothing is put between them. */
export function joinsWords(texts: readonly ThreadedText[], indexes: readonly number[]): boolean {
	let isInWord = false;
	return indexes.some((index) => {
		const { text = '' } = texts[index] ?? {};
		const joins = isInWord && kindOf(text.charCodeAt(0)) !== sign;
		isInWord = kindOf(text.charCodeAt(text.length - 1)) !== sign;
		return joins;
	});
}

/** A text, or a part of it, in a joined text. */
interface Place {
	/** Of the text. */
	readonly index: number;
	/** Where in the text it begins. */
	readonly offset: number;
	/** Where in the joined text it begins. */
	readonly start: number;
	end: number;
}

/** A span of a joined text, in one of the texts that it is in: from before its beginning where it begins in another. */
export interface PlacedSpan {
	readonly index: number;
	readonly start: number;
	readonly end: number;
}

/** Where the parts of texts lie that are read as one. */
export class JoinedPlaces {
	readonly #places: Place[] = [];
	#length = 0;

	get length(): number {
		return this.#length;
	}

	/** What belongs to no text. */
	skip(length: number): void {
		this.#length += length;
	}

	/** The part follows what was added last of the same text. */
	add(index: number, offset: number, length: number): void {
		const start = this.#length;
		this.#length += length;
		const last = this.#places.at(-1);
		if (last?.index === index) last.end = this.#length;
		else this.#places.push({ index, offset, start, end: this.#length });
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
