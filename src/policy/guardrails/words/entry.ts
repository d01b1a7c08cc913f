/** Listed word or phrase, and the comparison with text at which its symbols were found. */
import { gap, unseen } from '../folding/fold-character.ts';
import { readUnit, Unit } from '../folding/read-unit.ts';
import { maxGapLength, type Reading, writtenTogether } from './symbols.ts';

export interface Entry {
	readonly letters: readonly string[];
	/** Indexes of letters that follow a gap in the entry. */
	readonly breaks: ReadonlySet<number>;
}

interface ReadLetter {
	readonly letter: string;
	readonly end: number;
	/** Code of the written character, if it is a single one. */
	readonly code: number;
	readonly isSign: boolean;
	readonly gapBefore: number;
	readonly hasSpaceBefore: boolean;
	readonly hasApostropheBefore: boolean;
}

/** Letters that a digit can replace. */
const meantBy: Readonly<Record<string, string>> = { 0: 'o', 1: 'il', 2: 'z', 3: 'e', 4: 'a', 5: 's', 6: 'gb', 7: 't', 8: 'b', 9: 'g' };
/** Minimum repetitions of a drawn-out letter. A letter that is only doubled makes another word. */
const minDrawnOut = 3;
/** Minimum length of an entry that matches with separated letters: `a s` is no word. */
const minSpacedLetters = 3;
const capitalI = 0x49;
const digit = /^\d$/;
const noBreaks: ReadonlySet<number> = new Set();

/** @returns undefined if the text has no letters, or longer gaps than a word has. */
export function readEntry(text: string): Entry | undefined {
	const unit = new Unit();
	const letters: string[] = [];
	let breaks: Set<number> | undefined;
	let gapLength = 0;
	for (let at = 0; at < text.length; at = unit.end) {
		readUnit(text, at, unit);
		if (unit.letters === gap) {
			(breaks ??= new Set()).add(letters.length);
			gapLength++;
		} else if (unit.letters !== unseen) {
			if (gapLength > maxGapLength) return undefined;
			letters.push(...Array.from(unit.letters));
			gapLength = 0;
		}
	}
	return letters.length === 0 ? undefined : { letters, breaks: breaks ?? noBreaks };
}

/** Result that depends on more text. */
export const undecided = -2;
export const noMatch = -1;

/** Compares entries with texts. */
export class EntryMatcher {
	readonly #unit = new Unit();
	readonly #read: ReadLetter[] = [];
	#text = '';
	#at = 0;
	#end = 0;
	#signsAreLetters = true;
	#gap = 0;
	#hasSpace = false;
	#hasApostrophe = false;
	readonly #pieces = new Pieces();

	/**
	 * @param end of the text to compare; `isOpen`: more can follow there.
	 * @returns the end of the entry that begins at `start`; `noMatch`; `undecided`.
	 */
	match(text: string, start: number, end: number, isOpen: boolean, entry: Entry, reading: Reading): number {
		this.#text = text;
		this.#at = start;
		this.#end = end;
		this.#signsAreLetters = reading.signsAreLetters;
		this.#read.length = 0;
		this.#gap = 0;
		this.#hasSpace = false;
		this.#hasApostrophe = false;
		const { letters, breaks } = entry;
		const pieces = this.#pieces;
		pieces.begin();
		let next = 0;
		for (let index = 0; index < letters.length; ) {
			const letter = letters[index] ?? '';
			const runStart = index;
			for (; letters[index] === letter; index++, next++) {
				const read = this.#letterAt(next);
				if (read === undefined) return this.#isCutOff(isOpen) ? undecided : noMatch;
				if (!stands(read, letter) || !pieces.take(read, letter, index === 0 || breaks.has(index))) return noMatch;
			}
			const afterRun = next;
			while (this.#isDrawnOut(next, letter, letters[index])) next++;
			if (index === letters.length && this.#letterAt(next) === undefined && this.#gap === 0 && this.#isCutOff(isOpen)) return undecided;
			if (next > afterRun && next - afterRun + index - runStart < minDrawnOut) return noMatch;
		}
		const last = this.#read[next - 1];
		if (last === undefined || !isEndOfWord(last, this.#letterAt(next))) return noMatch;
		return pieces.isWord(letters.length) ? last.end : noMatch;
	}

	#isDrawnOut(index: number, letter: string, following: string | undefined): boolean {
		const read = this.#letterAt(index);
		if (read === undefined || read.gapBefore > 0 || !stands(read, letter)) return false;
		return following === undefined || !stands(read, following);
	}

	/** Tells whether the text ended before the gap at the end of the word. */
	#isCutOff(isOpen: boolean): boolean {
		return isOpen && this.#gap <= maxGapLength;
	}

	#letterAt(index: number): ReadLetter | undefined {
		const unit = this.#unit;
		while (this.#read.length <= index && this.#at < this.#end && this.#gap <= maxGapLength) {
			readUnit(this.#text, this.#at, unit);
			const code = unit.end - this.#at === 1 ? this.#text.charCodeAt(this.#at) : 0;
			this.#at = unit.end;
			if (unit.letters === unseen) continue;
			if (unit.letters === gap || (unit.isSign && !this.#signsAreLetters)) {
				this.#gap++;
				if (unit.isSpace) this.#hasSpace = true;
				if (unit.isApostrophe) this.#hasApostrophe = true;
				continue;
			}
			for (const letter of unit.letters) {
				const { isSign, end } = unit;
				const [gapBefore, hasSpaceBefore, hasApostropheBefore] = [this.#gap, this.#hasSpace, this.#hasApostrophe];
				this.#read.push({ letter, end, code, isSign, gapBefore, hasSpaceBefore, hasApostropheBefore });
				this.#gap = 0;
				this.#hasSpace = false;
				this.#hasApostrophe = false;
			}
		}
		return this.#read[index];
	}
}

/** Pieces of an entry's word, separated by gaps: `k i l l`, `ki-ll`. */
class Pieces {
	/** State of the entry's current word: whether a piece has several letters, and whether its pieces are separated by spaces. */
	#isAnyLong = false;
	#isSpaced = false;
	/** State of the whole entry. */
	#hasGaps = false;
	#hasSpaces = false;
	#hasLetters = false;

	begin(): void {
		this.#hasGaps = false;
		this.#hasSpaces = false;
		this.#hasLetters = false;
	}

	/**
	 * Joins single letters across spaces, but not longer pieces, which spaces separate into words (`the rapist`). An apostrophe joins nothing
	 * (`he'll`).
	 * @param isStart true if the entry begins here or has a gap of its own.
	 * @returns true if the letter belongs to the same word as those before it.
	 */
	take(read: ReadLetter, letter: string, isStart: boolean): boolean {
		if (!isSubstitute(read, letter)) this.#hasLetters = true;
		if (isStart) {
			this.#isAnyLong = false;
			this.#isSpaced = false;
		} else if (read.gapBefore === 0) {
			this.#isAnyLong = true;
		} else {
			if (read.hasApostropheBefore) return false;
			this.#hasGaps = true;
			if (read.hasSpaceBefore) {
				this.#isSpaced = true;
				this.#hasSpaces = true;
			}
		}
		return !this.#isSpaced || !this.#isAnyLong;
	}

	/** Rejects digits with gaps between them, which are a time or an amount: `4:55`. */
	isWord(length: number): boolean {
		return (!this.#hasGaps || this.#hasLetters) && (!this.#hasSpaces || length >= minSpacedLetters);
	}
}

/** Detects a digit, or an ASCII sign, that replaces the letter. */
function isSubstitute({ letter, isSign, code }: ReadLetter, wanted: string): boolean {
	return isSign ? code > 0 && code < 128 : letter !== wanted && digit.test(letter);
}

/** Tells whether the written character can mean the letter. */
function stands({ letter, code, isSign }: ReadLetter, wanted: string): boolean {
	if (letter === wanted) return true;
	if (meantBy[letter]?.includes(wanted) === true) return true;
	// A capital I and the like resemble an l, a plain i does not.
	return letter === 'i' && wanted === 'l' && (isSign || code === capitalI || code > 127);
}

function isEndOfWord(last: ReadLetter, next: ReadLetter | undefined): boolean {
	if (next === undefined || next.gapBefore > 0 || next.isSign || last.isSign) return true;
	return writtenTogether.test(last.letter) || writtenTogether.test(next.letter);
}
