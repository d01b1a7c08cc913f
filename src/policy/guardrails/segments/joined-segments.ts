/** Joins texts that follow each other as parts of one message, because readers can read them as one. */
import type { CooperativeTask } from '../../../core/cooperative-task.ts';
import { unitsOf } from '../folding/code-units.ts';
import { maxMatchLength } from '../text-scan.ts';

export interface SegmentedText {
	readonly text: string;
	/** Name of the thread, whose texts can be read as one; a text without a name is separate. */
	readonly segmentGroup?: string;
}

/** Separators with which clients and Tollgate's own translators join parts. */
export const separators = ['', '\n'];
/** Number of words that judges read together. Further words, on either side, do not change what two parts say together. */
const wordsAround = 40;
/** Approximate length of those words in code units. */
const unitsAtOnce = 256;
/** Number of texts that are sorted into threads in one step. */
const textsAtOnce = 4096;

/** @returns indexes of the texts of each thread with several texts. */
export function* segmentSteps(texts: readonly SegmentedText[]): CooperativeTask<readonly (readonly number[])[]> {
	const segmentGroups = new Map<string, number[]>();
	for (const [index, { segmentGroup = '' }] of texts.entries()) {
		if (index % textsAtOnce === textsAtOnce - 1) yield;
		if (segmentGroup === '') continue;
		const indexes = segmentGroups.get(segmentGroup);
		if (indexes === undefined) segmentGroups.set(segmentGroup, [index]);
		else indexes.push(index);
	}
	return [...segmentGroups.values()].filter((indexes) => indexes.length > 1);
}

/** Returns the beginning of a text's last words. */
export function lastWordsStart(text: string): number {
	return text.length - lengthOfWords(text, true);
}

/** Returns the end of a text's first words. */
export function firstWordsEnd(text: string): number {
	return lengthOfWords(text, false);
}

const unknown = 0;
const letter = 1;
/** Separates words for every judge. */
const sign = 2;
/** Invisible to some judge, or not a word of its own. */
const other = 3;
/** Cache of kinds by code unit. */
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

/** Returns the length of a text's first or last words. Only words that every judge counts are counted. */
function lengthOfWords(text: string, isFromEnd: boolean): number {
	const max = Math.min(text.length, maxMatchLength);
	let words = 0;
	let isInWord = false;
	for (let before = 0; before < max; before += unitsAtOnce) {
		const count = Math.min(unitsAtOnce, max - before);
		const start = isFromEnd ? text.length - before - count : before;
		const units = unitsOf(text, start, start + count);
		for (let index = 0; index < count; index++) {
			const kind = kindOf(units[isFromEnd ? count - 1 - index : index] as number);
			if (kind === sign && isInWord && ++words === wordsAround) return before + index;
			isInWord = kind === letter || (kind === other && isInWord);
		}
	}
	return max;
}

/** Tells whether a word continues from one text in the next when they are joined without a separator. */
export function joinsWords(texts: readonly SegmentedText[], indexes: readonly number[]): boolean {
	let isInWord = false;
	return indexes.some((index) => {
		const { text = '' } = texts[index] ?? {};
		const joins = isInWord && kindOf(text.charCodeAt(0)) !== sign;
		isInWord = kindOf(text.charCodeAt(text.length - 1)) !== sign;
		return joins;
	});
}

/** Position of a text, or of a part of it, in a joined text. */
interface Position {
	readonly index: number;
	/** Offset of the part in the text. */
	readonly offset: number;
	/** Offset of the part in the joined text. */
	readonly start: number;
	end: number;
}

/** Part of a joined text's span in one of its texts; `start` is negative if the span begins in an earlier text. */
export interface LocatedSpan {
	readonly index: number;
	readonly start: number;
	readonly end: number;
}

/** Positions of the parts in a joined text. */
export class JoinedPositions {
	readonly #positions: Position[] = [];
	#length = 0;

	get length(): number {
		return this.#length;
	}

	/** Skips characters that belong to no text. */
	skip(length: number): void {
		this.#length += length;
	}

	/** Adds a part, which follows the last added part of the same text. */
	add(index: number, offset: number, length: number): void {
		const start = this.#length;
		this.#length += length;
		const last = this.#positions.at(-1);
		if (last?.index === index) last.end = this.#length;
		else this.#positions.push({ index, offset, start, end: this.#length });
	}

	/** @returns the positions of a span, ordered by start. */
	positionsOf(start: number, end: number): readonly LocatedSpan[] {
		return this.#positions
			.slice(this.#firstAfter(start), this.#firstAfter(end - 1) + 1)
			.filter((position) => position.start < end)
			.map((position) => ({
				index: position.index,
				start: start - position.start + position.offset,
				end: end - position.start + position.offset,
			}));
	}

	/** @returns the first position that ends after this offset. */
	#firstAfter(offset: number): number {
		let low = 0;
		let high = this.#positions.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.#positions[middle]?.end ?? 0) > offset) high = middle;
			else low = middle + 1;
		}
		return low;
	}
}
