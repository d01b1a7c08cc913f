/** A walk through the automaton, symbol by symbol, that knows where in the text each symbol comes from, and compares what it finds. */
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
	/** A character for each symbol. */
	readonly symbols: string;
	readonly entry: Entry;
}

/** What is walked through. */
export interface Subject {
	readonly text: string;
	/** Where reading ends: before half an escape, when the text goes on. */
	readonly end: number;
	/** More text may follow. */
	readonly isOpen: boolean;
	readonly reading: Reading;
	/** Is added to. */
	readonly matches: WordMatch[];
}

const nothing: Subject = { text: '', end: 0, isOpen: false, reading: { signsAreLetters: true, elongatedAs: 0 }, matches: [] };

export class Walk {
	readonly #automaton: Automaton;
	readonly #listed: readonly Listed[];
	readonly #matcher = new EntryMatcher();
	/** How much of the window is kept when it is full: as much as the longest entry has symbols. */
	readonly #kept: number;

	/** A window of the last symbols, from where a word began that an entry may begin with. */
	readonly #symbols: Uint8Array;
	/** Where in the text the letter of each symbol begins. */
	readonly #starts: Int32Array;
	/** 1 where a word may begin. */
	readonly #edges: Uint8Array;
	#length = 0;
	/** How many symbols there are since a word began last. */
	#sinceEdge = 0;
	/** After all symbols of the window but the last, which waits for what follows it. */
	#node = 0;

	#subject = nothing;
	/** From where on more text may make or change matches. */
	#live = 0;

	constructor(automaton: Automaton, listed: readonly Listed[]) {
		this.#automaton = automaton;
		this.#listed = listed;
		this.#kept = automaton.deepest;
		const size = 4 * this.#kept + 256;
		this.#symbols = new Uint8Array(size);
		this.#starts = new Int32Array(size);
		this.#edges = new Uint8Array(size);
	}

	begin(subject: Subject): void {
		this.#subject = subject;
		this.#live = subject.end;
		this.#forget();
	}

	/** Whether no entry has begun: symbols change nothing until a word begins. */
	get isIdle(): boolean {
		return this.#length === 0;
	}

	/** So much that is no letter follows that no entry goes on behind it. */
	leave(): void {
		if (this.#length > 0) this.#stepOverLast(true);
		this.#forget();
	}

	#forget(): void {
		this.#length = 0;
		this.#node = 0;
	}

	/** @param isEdge whether a word may begin with the symbol, so that one may end before it. */
	take(symbol: number, start: number, isEdge: boolean): void {
		// Where another letter follows at once no entry ends, unless it is the same: then the word may be drawn out.
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
	 * The hot loop: letters of one word, of which only the first may be an edge, as `take` would.
	 * @param kindsFrom where in `kindsOfAscii` those begin that hold.
	 * @param from and `to`: the letters among the shared code units. `start`: where in the text the code units begin.
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
					this.#judge(automaton.outputOf(node));
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

	/** @param isLastLost the last symbol counts for nothing. @returns from where on more text may make or change matches. */
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
	 * An entry begins where a word does: what is shorter than the part of a word that was read is none.
	 * @param mayEnd whether an entry may end with the symbol.
	 */
	#stepOverLast(mayEnd: boolean): void {
		const automaton = this.#automaton;
		const node = automaton.step(this.#node, this.#symbols[this.#length - 1] as number, this.#sinceEdge);
		this.#node = node;
		if (node === 0) {
			this.#length = 0;
		} else if (mayEnd) {
			const output = automaton.outputOf(node);
			if (output !== 0) this.#judge(output);
		}
	}

	/** Of a full window. @returns how much is left. */
	#dropEarliest(): number {
		const from = this.#symbols.length - this.#kept;
		this.#symbols.copyWithin(0, from);
		this.#starts.copyWithin(0, from);
		this.#edges.copyWithin(0, from);
		return this.#kept;
	}

	/** Compares the entries whose symbols end with the last of the window. */
	#judge(output: number): void {
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

	/** Where the longest word that the text ends in the middle of begins. */
	#partialStart(): number {
		const automaton = this.#automaton;
		for (let node = this.#node; node !== 0; node = automaton.failOf(node)) {
			const first = this.#length - automaton.depthOf(node);
			if (this.#edges[first] === 1) return this.#starts[first] as number;
		}
		return this.#subject.end;
	}
}
