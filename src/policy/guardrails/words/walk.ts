/** Steps through the automaton symbol by symbol, maps each symbol to its position in the text, and compares candidates. */
import { unitsOf } from '../folding/code-units.ts';
import type { Automaton } from './automaton.ts';
import { type Entry, EntryMatcher, noMatch, undecided } from './entry.ts';
import { kindsOfAscii, type Reading } from './symbols.ts';

/** Constants of this module, as the hot loop needs them. */
const units = unitsOf('', 0, 0);
const kinds = kindsOfAscii;

export interface WordMatch {
	readonly start: number;
	readonly end: number;
}

export interface Listed {
	/** One character for each symbol. */
	readonly symbols: string;
	readonly entry: Entry;
}

/** Text to search, and its matches. */
export interface Subject {
	readonly text: string;
	/** End of the readable text: before an incomplete escape, when the text continues. */
	readonly end: number;
	/** More text can follow. */
	readonly isOpen: boolean;
	readonly reading: Reading;
	readonly matches: WordMatch[];
}

const nothing: Subject = { text: '', end: 0, isOpen: false, reading: { signsAreLetters: true, elongatedAs: 0 }, matches: [] };

export class Walk {
	readonly #automaton: Automaton;
	readonly #listed: readonly Listed[];
	readonly #matcher = new EntryMatcher();
	/** Number of symbols of the longest entry, which are kept when the window is full. */
	readonly #retained: number;

	/** Window of the last symbols, from the start of a word that an entry can begin with. */
	readonly #symbols: Uint8Array;
	/** Position of each symbol's letter in the text. */
	readonly #starts: Int32Array;
	/** 1 for symbols that can begin a word. */
	readonly #edges: Uint8Array;
	#length = 0;
	/** Number of symbols since the last start of a word. */
	#sinceEdge = 0;
	/** Node after all symbols of the window except the last, which waits for its successor. */
	#node = 0;

	#subject = nothing;
	/** Offset from which more text can create or change matches. */
	#live = 0;

	constructor(automaton: Automaton, listed: readonly Listed[]) {
		this.#automaton = automaton;
		this.#listed = listed;
		this.#retained = automaton.deepest;
		const size = 4 * this.#retained + 256;
		this.#symbols = new Uint8Array(size);
		this.#starts = new Int32Array(size);
		this.#edges = new Uint8Array(size);
	}

	begin(subject: Subject): void {
		this.#subject = subject;
		this.#live = subject.end;
		this.#forget();
	}

	/** Tells whether no entry has begun, so that symbols have no effect until the next word. */
	get isIdle(): boolean {
		return this.#length === 0;
	}

	/** Ends all entries at a gap that is longer than a word can have. */
	leave(): void {
		if (this.#length > 0) this.#stepOverLast(true);
		this.#forget();
	}

	#forget(): void {
		this.#length = 0;
		this.#node = 0;
	}

	/** @param isEdge true if a word can begin with the symbol, so that another can end before it. */
	take(symbol: number, start: number, isEdge: boolean): void {
		// No entry ends before another letter of the same word, unless it repeats the last one, because the word can be drawn out.
		if (this.#length > 0) this.#stepOverLast(isEdge || this.#symbols[this.#length - 1] === symbol);
		if (this.#length === 0 && !isEdge) return;
		if (this.#length === this.#symbols.length) this.#length = this.#dropEarliest();
		const index = this.#length;
		this.#symbols[index] = symbol;
		this.#starts[index] = start;
		this.#edges[index] = isEdge ? 1 : 0;
		this.#length = index + 1;
		this.#sinceEdge = isEdge ? 1 : this.#sinceEdge + 1;
	}

	/**
	 * Hot loop: takes letters of one word, of which only the first can be an edge, as `take` would.
	 * @param kindsFrom start of the applicable kinds in `kindsOfAscii`.
	 * @param from and `to`: range of letters in the shared code units. `start`: offset of the code units in the text.
	 */
	takeLetters(kindsFrom: number, from: number, to: number, start: number, isFirstEdge: boolean): void {
		const automaton = this.#automaton;
		const symbols = this.#symbols;
		const starts = this.#starts;
		const edges = this.#edges;
		const table = kindsFrom | 0;
		const end = to | 0;
		let length = this.#length | 0;
		let node = this.#node | 0;
		let sinceEdge = this.#sinceEdge | 0;
		let last = length > 0 ? (symbols[length - 1] as number) : 0;
		let isEdge = isFirstEdge;
		for (let at = from | 0; at < end; at++) {
			const symbol = kinds[table + (units[at] as number)] as number;
			if (length > 0) {
				node = automaton.step(node, last, sinceEdge);
				if (node === 0) length = 0;
				else if ((isEdge || symbol === last) && automaton.outputOf(node) !== 0) {
					this.#length = length;
					this.#classify(automaton.outputOf(node));
				}
			}
			if (length === 0 && !isEdge) break;
			if (length === symbols.length) length = this.#dropEarliest();
			symbols[length] = symbol;
			starts[length] = start + at;
			edges[length] = isEdge ? 1 : 0;
			length++;
			last = symbol;
			sinceEdge = isEdge ? 1 : sinceEdge + 1;
			isEdge = false;
		}
		this.#length = length;
		this.#node = node;
		this.#sinceEdge = sinceEdge;
	}

	/** @param isLastLost ignores the last symbol. @returns the offset from which more text can create or change matches. */
	end(isLastLost: boolean): number {
		if (this.#length > 0) {
			if (isLastLost) this.#length--;
			else this.#stepOverLast(true);
		}
		const live = Math.min(this.#live, this.#partialStart());
		this.#subject = nothing;
		return live;
	}

	/**
	 * Steps over the last symbol. An entry begins with a word, so a candidate shorter than the part of the word read so far is none.
	 * @param canEnd true if an entry can end with the symbol.
	 */
	#stepOverLast(canEnd: boolean): void {
		const automaton = this.#automaton;
		const node = automaton.step(this.#node, this.#symbols[this.#length - 1] as number, this.#sinceEdge);
		this.#node = node;
		if (node === 0) {
			this.#length = 0;
		} else if (canEnd) {
			const output = automaton.outputOf(node);
			if (output !== 0) this.#classify(output);
		}
	}

	/** Shrinks a full window. @returns the remaining length. */
	#dropEarliest(): number {
		const from = this.#symbols.length - this.#retained;
		this.#symbols.copyWithin(0, from);
		this.#starts.copyWithin(0, from);
		this.#edges.copyWithin(0, from);
		return this.#retained;
	}

	/** Compares the entries whose symbols end with the last of the window. */
	#classify(output: number): void {
		const { text, end, isOpen, reading, matches } = this.#subject;
		const automaton = this.#automaton;
		for (let node = output; node !== 0; node = automaton.outputOf(automaton.failOf(node))) {
			const first = this.#length - automaton.depthOf(node);
			if (this.#edges[first] !== 1) continue;
			const start = this.#starts[first] as number;
			const { symbols } = this.#listed[automaton.entryOf(node)] as Listed;
			for (let at = automaton.entryOf(node); ; at++) {
				const listed = this.#listed[at];
				if (listed?.symbols !== symbols) break;
				const wordEnd = this.#matcher.match(text, start, end, isOpen, listed.entry, reading);
				if (wordEnd === undecided) this.#live = Math.min(this.#live, start);
				else if (wordEnd !== noMatch) {
					matches.push({ start, end: wordEnd });
					break;
				}
			}
		}
	}

	/** Returns the start of the longest incomplete candidate at the end of the text. */
	#partialStart(): number {
		const automaton = this.#automaton;
		for (let node = this.#node; node !== 0; node = automaton.failOf(node)) {
			const first = this.#length - automaton.depthOf(node);
			if (this.#edges[first] === 1) return this.#starts[first] as number;
		}
		return this.#subject.end;
	}
}
