/**
 * A text as the symbols that words are looked for in: letters only, those that are mistaken for each other made one,
 * each symbol knowing where in the text it comes from.
 */
import { gap, unseen } from '../folding/fold-character.ts';
import { readUnit, settledEnd, Unit } from '../folding/read-unit.ts';

/** Stands between letters that no word spans. */
export const breakSymbol = 255;

/** `l`, `1`, `!` and `|` are all read for `i`; which of them an entry means is compared afterwards. */
const symbolOfI = 8;
const symbolOfDigit = [14, 8, 25, 4, 0, 18, 6, 19, 1, 6];
/** Other letters are four symbols each, of which the first is from here on: a node's children fit one word of bits. */
const firstOfOther = 26;
/** So much that is no letter, between two letters, belongs to no word. */
export const longestGap = 8;

const breaks = 254;
const others = 255;
/** A symbol, or what to do with the character instead. */
const kindOfAscii = new Uint8Array(128).fill(breaks);
for (let code = 0; code < 26; code++) {
	for (const first of [0x41, 0x61]) kindOfAscii[first + code] = code === 11 ? symbolOfI : code;
}
for (const [digit, symbol] of symbolOfDigit.entries()) kindOfAscii[0x30 + digit] = symbol;
for (const character of '@$!|+&\\%') kindOfAscii[character.charCodeAt(0)] = others;

function isOther(code: number): boolean {
	return code >= 128 || kindOfAscii[code] === others;
}

/** Scripts that write no spaces between words. */
export const writtenTogether = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** How a text is read. */
export interface Reading {
	/** Whether signs such as `@` are letters; else they stand between letters. */
	readonly signsAreLetters: boolean;
	/** As how many a letter is read that stands three times in a row or more; 0: as it stands. */
	readonly elongatedAs: 0 | 1 | 2;
}

export const plainReading: Reading = { signsAreLetters: true, elongatedAs: 0 };

export class SymbolStream {
	symbols = new Uint8Array(0);
	/** Where in the text the letter of each symbol begins. */
	starts = new Int32Array(0);
	/** 1 where a word may begin. */
	edges = new Uint8Array(0);
	length = 0;
	/** Where reading ended: before half an escape, when the text goes on. */
	readEnd = 0;
	/** Whether another reading may see other words. */
	hasSigns = false;
	hasElongated = false;

	readonly #unit = new Unit();
	#isEdge = true;
	#gapLength = 0;
	/** The last letter, and how often it stood in a row. */
	#last = -1;
	#run = 0;

	/** @param isOpen more text may follow. */
	read(text: string, isOpen: boolean, reading: Reading): void {
		this.#begin(text.length);
		const end = isOpen ? settledEnd(text) : text.length;
		this.readEnd = end;
		for (let at = 0; at < end; ) {
			at = this.#readAscii(text, at, end, reading);
			while (at < end && isOther(text.charCodeAt(at))) at = this.#readOther(text, at, reading);
		}
		if (isOpen && this.#run === 2) {
			this.hasElongated = true;
			if (reading.elongatedAs === 1) this.length--;
		}
	}

	/** The hot loop, for what most texts consist of. @returns where something else begins. */
	#readAscii(text: string, from: number, end: number, reading: Reading): number {
		const { symbols, starts, edges } = this;
		let length = this.length;
		let isEdge = this.#isEdge;
		let gapLength = this.#gapLength;
		let last = this.#last;
		let run = this.#run;
		let at = from;
		for (; at < end; at++) {
			const code = text.charCodeAt(at);
			const kind = code < 128 ? (kindOfAscii[code] as number) : others;
			if (kind === breaks) {
				isEdge = true;
				gapLength++;
				last = -1;
				run = 0;
				continue;
			}
			if (kind === others) break;
			const lower = code | 0x20;
			run = lower === last ? run + 1 : 1;
			last = lower;
			if (run > 2) {
				this.hasElongated = true;
				if (reading.elongatedAs === 1 && run === 3) length--;
				if (reading.elongatedAs !== 0) continue;
			}
			if (gapLength > longestGap) {
				symbols[length] = breakSymbol;
				starts[length] = at;
				edges[length++] = 0;
			}
			symbols[length] = kind;
			starts[length] = at;
			edges[length++] = isEdge ? 1 : 0;
			isEdge = false;
			gapLength = 0;
		}
		this.length = length;
		this.#isEdge = isEdge;
		this.#gapLength = gapLength;
		this.#last = last;
		this.#run = run;
		return at;
	}

	#begin(textLength: number): void {
		const needed = textLength * 4 + 16;
		if (this.symbols.length < needed) {
			this.symbols = new Uint8Array(needed);
			this.starts = new Int32Array(needed);
			this.edges = new Uint8Array(needed);
		}
		this.length = 0;
		this.hasSigns = false;
		this.hasElongated = false;
		this.#isEdge = true;
		this.#gapLength = 0;
		this.#last = -1;
		this.#run = 0;
	}

	#push(symbol: number, start: number): void {
		if (this.#gapLength > longestGap) this.#put(breakSymbol, start, 0);
		this.#put(symbol, start, this.#isEdge ? 1 : 0);
		this.#isEdge = false;
		this.#gapLength = 0;
	}

	#put(symbol: number, start: number, edge: 0 | 1): void {
		this.symbols[this.length] = symbol;
		this.starts[this.length] = start;
		this.edges[this.length++] = edge;
	}

	/** Something that is no letter. */
	#pass(): void {
		this.#isEdge = true;
		this.#gapLength++;
		this.#last = -1;
		this.#run = 0;
	}

	/** The third letter in a row, or a later one. @returns whether it counts for nothing. */
	#squeeze({ elongatedAs }: Reading): boolean {
		this.hasElongated = true;
		if (elongatedAs === 1 && this.#run === 3) this.length--;
		return elongatedAs !== 0;
	}

	/** @returns where the unit ends. */
	#readOther(text: string, at: number, reading: Reading): number {
		const unit = this.#unit;
		readUnit(text, at, unit);
		const { letters } = unit;
		if (letters === unseen) return unit.end;
		const isGap = letters === gap || (unit.isSign && !reading.signsAreLetters);
		if (unit.isSign && this.#last !== -1) this.hasSigns = true;
		if (isGap) {
			this.#pass();
			return unit.end;
		}
		if (unit.isSign) this.#isEdge = true;
		if (letters.length === 1) this.#pushLetter(letters, at, reading);
		else for (const letter of letters) this.#pushLetter(letter, at, reading);
		if (unit.isSign) this.#isEdge = true;
		return unit.end;
	}

	#pushLetter(letter: string, at: number, reading: Reading): void {
		const code = letter.codePointAt(0) ?? 0;
		this.#run = code === this.#last ? this.#run + 1 : 1;
		this.#last = code;
		const kind = code < 128 ? (kindOfAscii[code] ?? others) : others;
		if (kind < breaks) {
			if (this.#run < 3 || !this.#squeeze(reading)) this.#push(kind, at);
			return;
		}
		const isTogether = writtenTogether.test(letter);
		if (isTogether) this.#isEdge = true;
		this.#push(firstOfOther + ((code >> 15) % 6), at);
		for (const shift of [10, 5, 0]) this.#put((code >> shift) & 31, at, 0);
		if (isTogether) this.#isEdge = true;
	}
}
