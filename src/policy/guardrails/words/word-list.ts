/** The words and phrases that an operator listed, found however they are disguised, in time linear in the text. */
import { Automaton } from './automaton.ts';
import { type Entry, EntryMatcher, noMatch, readEntry, undecided } from './entry.ts';
import { sortInSteps } from './sort-in-steps.ts';
import { breakSymbol, plainReading, type Reading, SymbolStream } from './symbol-stream.ts';

export interface WordMatch {
	readonly start: number;
	readonly end: number;
}

interface Listed {
	/** A character for each symbol. */
	readonly symbols: string;
	readonly entry: Entry;
}

/** Entries that are read between two pauses. */
const entriesPerStep = 200;
/** What a text is searched for again when it has signs or drawn-out letters. */
const unsigned: Reading = { signsAreLetters: false, elongatedAs: 0 };
const drawnOut: readonly Reading[] = [
	{ signsAreLetters: true, elongatedAs: 1 },
	{ signsAreLetters: true, elongatedAs: 2 },
];

export class WordList {
	readonly #automaton: Automaton;
	readonly #listed: readonly Listed[];
	readonly #stream = new SymbolStream();
	readonly #matcher = new EntryMatcher();

	private constructor(automaton: Automaton, listed: readonly Listed[]) {
		this.#automaton = automaton;
		this.#listed = listed;
	}

	/** Pauses now and then: a hundred thousand entries take a fraction of a second. Entries without a letter or digit match nothing. */
	static *build(entries: readonly string[]): Generator<void, WordList> {
		const stream = new SymbolStream();
		const read: Listed[] = [];
		for (const [index, text] of entries.entries()) {
			if (index % entriesPerStep === entriesPerStep - 1) yield;
			stream.read(text, false, plainReading);
			const symbols = stream.symbols.subarray(0, stream.length);
			if (symbols.length === 0 || symbols.includes(breakSymbol)) continue;
			read.push({ symbols: String.fromCharCode(...symbols), entry: readEntry(text) });
		}
		const sorted = yield* sortInSteps(read, bySymbols);
		const listed: Listed[] = [];
		const lists: string[] = [];
		const known = new Set<string>();
		for (const [index, one] of sorted.entries()) {
			if (index % entriesPerStep === entriesPerStep - 1) yield;
			if (one.symbols !== lists.at(-1)) known.clear();
			const written = one.entry.letters.join('');
			if (known.has(written)) continue;
			known.add(written);
			listed.push(one);
			lists.push(one.symbols);
		}
		return new WordList(yield* Automaton.build(lists), listed);
	}

	/**
	 * Adds to `matches`, in no order and perhaps more than once.
	 * @param isOpen more text may follow.
	 * @returns from where on more text may make or change matches; the text's length when nowhere.
	 */
	find(text: string, isOpen: boolean, matches: WordMatch[]): number {
		let live = this.#search(text, isOpen, plainReading, matches);
		const { hasSigns, hasElongated } = this.#stream;
		if (hasSigns) live = Math.min(live, this.#search(text, isOpen, unsigned, matches));
		if (hasElongated) for (const reading of drawnOut) live = Math.min(live, this.#search(text, isOpen, reading, matches));
		return live;
	}

	#search(text: string, isOpen: boolean, reading: Reading, matches: WordMatch[]): number {
		const stream = this.#stream;
		const automaton = this.#automaton;
		stream.read(text, isOpen, reading);
		const { symbols, length, readEnd } = stream;
		let live = readEnd;
		let node = 0;
		for (let index = 0; index < length; index++) {
			node = automaton.step(node, symbols[index] as number);
			const output = automaton.outputOf(node);
			if (output !== 0 && this.#mayEnd(index)) live = Math.min(live, this.#judge(text, isOpen, reading, output, index, matches));
		}
		return isOpen ? Math.min(live, this.#partialStart(node)) : text.length;
	}

	/** Not where another letter follows at once, unless it is the same: then the word may be drawn out. */
	#mayEnd(index: number): boolean {
		const { edges, symbols, length } = this.#stream;
		return index + 1 === length || edges[index + 1] === 1 || symbols[index + 1] === symbols[index];
	}

	/** @returns the start of what cannot be decided yet. */
	#judge(text: string, isOpen: boolean, reading: Reading, output: number, index: number, matches: WordMatch[]): number {
		const { starts, edges, readEnd } = this.#stream;
		const automaton = this.#automaton;
		let live = readEnd;
		for (let node = output; node !== 0; node = automaton.outputOf(automaton.failOf(node))) {
			const depth = automaton.depthOf(node);
			const first = index - depth + 1;
			if (edges[first] !== 1) continue;
			const start = starts[first] ?? 0;
			const { symbols } = this.#listed[automaton.entryOf(node)] as Listed;
			for (let at = automaton.entryOf(node); ; at++) {
				const listed = this.#listed[at];
				if (listed?.symbols !== symbols) break;
				const end = this.#matcher.match(text, start, readEnd, isOpen, listed.entry, reading);
				if (end === undecided) live = Math.min(live, start);
				else if (end !== noMatch) {
					matches.push({ start, end });
					break;
				}
			}
		}
		return live;
	}

	/** Where the longest word that the text ends in the middle of begins. */
	#partialStart(last: number): number {
		const { starts, edges, length, readEnd } = this.#stream;
		for (let node = last; node !== 0; node = this.#automaton.failOf(node)) {
			const first = length - this.#automaton.depthOf(node);
			if (edges[first] === 1) return starts[first] ?? 0;
		}
		return readEnd;
	}
}

function bySymbols({ symbols: one }: Listed, { symbols: other }: Listed): number {
	if (one === other) return 0;
	return one < other ? -1 : 1;
}
