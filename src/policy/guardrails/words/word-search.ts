/** Reads a text as symbols for the word search, and skips words that no entry begins with. */
import { maxUnits, unitsOf } from '../folding/code-units.ts';
import { gap, unseen } from '../folding/fold-character.ts';
import { readUnit, settledEnd, Unit } from '../folding/read-unit.ts';
import { type Automaton, anyOpening, lastOpening, noOpening } from './automaton.ts';
import {
	breaks,
	isWrittenTogether,
	kindsOfAscii,
	maxGapLength,
	others,
	type Reading,
	signed,
	symbolOf,
	symbolOfOther,
	symbolsOfOther,
	unsigned,
} from './symbols.ts';
import { type Listed, Walk, type WordMatch } from './walk.ts';

/** Values of the hot loops must be constants of this module, because imports and arguments would be checked at each character. */
const units = unitsOf('', 0, 0);
const kinds = kindsOfAscii;
const isBreak = breaks;
const isOther = others;
const [none, any, enough] = [noOpening, anyOpening, lastOpening];

export class WordSearch {
	/** Tells whether another reading can find other words. */
	hasSigns = false;
	hasElongated = false;

	readonly #openings: Uint16Array;
	readonly #walk: Walk;
	readonly #unit = new Unit();
	#text = '';
	#reading: Reading = { signsAreLetters: true, elongatedAs: 0 };

	#isEdge = true;
	#gapLength = 0;
	/** Last letter, and its repetitions in a row. */
	#last = -1;
	#run = 0;
	/** Symbol of the second of two equal letters, which is ignored when a third follows; or -1. */
	#second = -1;
	#secondStart = 0;
	#isSecondEdge = false;
	/** Start of the word in whose middle the hot loop ended, or the position at which it ended. */
	#wordStart = 0;

	constructor(automaton: Automaton, listed: readonly Listed[]) {
		this.#openings = automaton.openings;
		this.#walk = new Walk(automaton, listed);
	}

	/**
	 * Adds to `matches`, in no order and possibly with duplicates.
	 * @param isOpen more text can follow.
	 * @returns the offset from which more text can create or change matches; the text's length if none.
	 */
	search(text: string, isOpen: boolean, reading: Reading, matches: WordMatch[]): number {
		const end = isOpen ? settledEnd(text) : text.length;
		this.#begin(text, reading);
		this.#walk.begin({ text, end, isOpen, reading, matches });
		for (let at = 0; at < end; ) at = this.#readChunk(at, Math.min(end, at + maxUnits));
		const live = this.#finish(isOpen);
		this.#text = '';
		return isOpen ? live : text.length;
	}

	#begin(text: string, reading: Reading): void {
		this.#text = text;
		this.#reading = reading;
		this.hasSigns = false;
		this.hasElongated = false;
		this.#isEdge = true;
		this.#gapLength = 0;
		this.#last = -1;
		this.#run = 0;
		this.#second = -1;
	}

	#finish(isOpen: boolean): number {
		const canBeDrawnOut = isOpen && this.#run === 2;
		if (canBeDrawnOut) this.hasElongated = true;
		const isLost = canBeDrawnOut && this.#reading.elongatedAs === 1;
		const isSecondLost = isLost && this.#second !== -1;
		if (!isSecondLost) this.#takeSecond();
		return this.#walk.end(isLost && !isSecondLost);
	}

	/** @returns the position at which reading continues: `end`, or the end of a unit that begins before it. */
	#readChunk(start: number, end: number): number {
		const text = this.#text;
		const walk = this.#walk;
		const kindsFrom = this.#reading.signsAreLetters ? signed : unsigned;
		unitsOf(text, start, end);
		let at = start;
		while (at < end) {
			while (at < end && (this.#second !== -1 || isOtherCode(units[at - start] as number, kindsFrom))) at = this.#readOther(at);
			if (at >= end) break;
			if (walk.isIdle) {
				at = start + this.#skip(at - start, end - start, kindsFrom);
				if (start + this.#wordStart < at) walk.takeLetters(kindsFrom, this.#wordStart, at - start, start, true);
			}
			if (at < end && !isOtherCode(units[at - start] as number, kindsFrom)) {
				at = start + this.#read(at - start, end - start, kindsFrom, start);
			}
		}
		return at;
	}

	/**
	 * Hot loop while no entry has begun: skips words by their first letters.
	 * @returns the position of another kind of character, or of a word that can begin an entry.
	 */
	#skip(from: number, to: number, kindsFrom: number): number {
		const openings = this.#openings;
		const isPlain = this.#reading.elongatedAs === 0;
		const end = to | 0;
		const table = kindsFrom | 0;
		let opening = this.#isEdge ? any : none;
		let wordStart = from | 0;
		let last = this.#last | 0;
		let run = this.#run | 0;
		let maxRunLength = 0;
		let at = from | 0;
		for (; at < end; at++) {
			const code = units[at] as number;
			const kind = code < 128 ? (kinds[table + code] as number) : isOther;
			if (kind >= isBreak) {
				if (kind === isOther || opening > any) break;
				opening = any;
				wordStart = at + 1;
				last = -1;
				continue;
			}
			const lower = code | 0x20;
			if (lower === last) {
				if (!isPlain && opening !== none) break;
				run++;
				if (run > maxRunLength) maxRunLength = run;
			} else {
				run = 1;
				last = lower;
			}
			opening = openings[(opening << 5) | kind] as number;
			if (opening === enough) {
				at++;
				break;
			}
		}
		if (maxRunLength > 2) this.hasElongated = true;
		this.#last = last;
		this.#run = last === -1 ? 0 : run;
		this.#isEdge = opening === any;
		this.#gapLength = 0;
		this.#wordStart = opening > any ? wordStart : at;
		return at;
	}

	/** Hot loop while an entry can have begun. @returns the position of another kind of character, or at which no entry continues. */
	#read(from: number, to: number, kindsFrom: number, start: number): number {
		const { elongatedAs } = this.#reading;
		const walk = this.#walk;
		const end = to | 0;
		const table = kindsFrom | 0;
		let isEdge = this.#isEdge;
		let gapLength = this.#gapLength | 0;
		let last = this.#last | 0;
		let run = this.#run | 0;
		let at = from | 0;
		/** Start of the letters that the walk has not taken. */
		let untaken = at;
		for (; at < end; at++) {
			const code = units[at] as number;
			const kind = code < 128 ? (kinds[table + code] as number) : isOther;
			if (kind >= isBreak) {
				if (kind === isOther) break;
				if (untaken < at) {
					this.#takeLetters(table, untaken, at, start, isEdge, gapLength);
					gapLength = 0;
				}
				isEdge = true;
				gapLength++;
				last = -1;
				run = 0;
				untaken = at + 1;
				if (!walk.isIdle) continue;
				at++;
				break;
			}
			const lower = code | 0x20;
			run = lower === last ? run + 1 : 1;
			last = lower;
			if (run < 2 || elongatedAs === 0) {
				if (run > 2) this.hasElongated = true;
				continue;
			}
			if (run === 2 && elongatedAs === 2) continue;
			// This letter waits for the next, or is ignored.
			if (untaken < at) {
				this.#takeLetters(table, untaken, at, start, isEdge, gapLength);
				isEdge = false;
				gapLength = 0;
			}
			untaken = at + 1;
			if (run > 2) {
				this.hasElongated = true;
				continue;
			}
			this.#second = kind;
			this.#secondStart = start + at++;
			this.#isSecondEdge = isEdge;
			isEdge = false;
			break;
		}
		if (untaken < at) {
			this.#takeLetters(table, untaken, at, start, isEdge, gapLength);
			isEdge = false;
			gapLength = 0;
		}
		this.#isEdge = isEdge;
		this.#gapLength = gapLength;
		this.#last = last;
		this.#run = run;
		return at;
	}

	/** @param gapLength number of non-letters before them. */
	#takeLetters(kindsFrom: number, from: number, to: number, start: number, isEdge: boolean, gapLength: number): void {
		if (gapLength > maxGapLength) this.#walk.leave();
		this.#walk.takeLetters(kindsFrom, from, to, start, isEdge);
	}

	/** Reads any unit on the slow path. @returns its end. */
	#readOther(at: number): number {
		const unit = this.#unit;
		readUnit(this.#text, at, unit);
		const { letters, isSign, end } = unit;
		if (letters === unseen) return end;
		if (isSign && this.#last !== -1) this.hasSigns = true;
		if (letters === gap || (isSign && !this.#reading.signsAreLetters)) {
			this.#takeSecond();
			this.#isEdge = true;
			this.#gapLength++;
			this.#last = -1;
			this.#run = 0;
			return end;
		}
		if (isSign) this.#isEdge = true;
		if (letters.length === 1) this.#readLetter(letters, at);
		else for (const letter of letters) this.#readLetter(letter, at);
		if (isSign) this.#isEdge = true;
		return end;
	}

	#readLetter(letter: string, at: number): void {
		const code = letter.codePointAt(0) ?? 0;
		const symbol = symbolOf(code);
		const { elongatedAs } = this.#reading;
		this.#run = code === this.#last ? this.#run + 1 : 1;
		this.#last = code;
		if (this.#run > 2 && symbol !== others) {
			this.hasElongated = true;
			this.#second = -1;
			if (elongatedAs !== 0) return;
		}
		this.#takeSecond();
		if (this.#gapLength > maxGapLength) this.#walk.leave();
		this.#gapLength = 0;
		const isEdge = this.#isEdge;
		this.#isEdge = false;
		if (symbol === others) {
			this.#takeOther(letter, code, at, isEdge);
		} else if (this.#run === 2 && elongatedAs === 1) {
			this.#second = symbol;
			this.#secondStart = at;
			this.#isSecondEdge = isEdge;
		} else {
			this.#walk.take(symbol, at, isEdge);
		}
	}

	/** Takes a letter without a symbol of its own. */
	#takeOther(letter: string, code: number, at: number, isEdge: boolean): void {
		const isTogether = isWrittenTogether(letter, code);
		if (isTogether) this.#isEdge = true;
		if (this.#walk.isIdle && !isEdge && !isTogether) return;
		this.#walk.take(symbolOfOther(code, 0), at, isEdge || isTogether);
		for (let index = 1; index < symbolsOfOther; index++) this.#walk.take(symbolOfOther(code, index), at, false);
	}

	#takeSecond(): void {
		if (this.#second === -1) return;
		this.#walk.take(this.#second, this.#secondStart, this.#isSecondEdge);
		this.#second = -1;
	}
}

function isOtherCode(code: number, kindsFrom: number): boolean {
	return code >= 128 || kinds[kindsFrom + code] === isOther;
}
