/** Finds an operator's words and phrases in any disguise, in time linear in the text. */
import type { SpanDetector } from '../guardrail.ts';
import { Automaton } from './automaton.ts';
import { readEntry } from './entry.ts';
import { sortInSteps } from './sort-cooperatively.ts';
import { type Reading, symbolsOf } from './symbols.ts';
import type { Listed, WordMatch } from './walk.ts';
import { WordSearch } from './word-search.ts';

/** Entries that are read between two pauses. */
const entriesPerStep = 200;
const plain: Reading = { signsAreLetters: true, elongatedAs: 0 };
/** Second reading for a text with signs or drawn-out letters. */
const unsigned: Reading = { signsAreLetters: false, elongatedAs: 0 };
const drawnOut: readonly Reading[] = [
	{ signsAreLetters: true, elongatedAs: 1 },
	{ signsAreLetters: true, elongatedAs: 2 },
];

export class WordList {
	readonly #search: WordSearch;

	private constructor(search: WordSearch) {
		this.#search = search;
	}

	/** Builds in steps: a hundred thousand entries take a fraction of a second. Entries without a letter or digit match nothing. */
	static *build(entries: readonly string[]): Generator<void, WordList> {
		const read: Listed[] = [];
		for (const [index, text] of entries.entries()) {
			if (index % entriesPerStep === entriesPerStep - 1) yield;
			const entry = readEntry(text);
			if (entry !== undefined) read.push({ symbols: symbolsOf(entry.letters), entry });
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
		return new WordList(new WordSearch(yield* Automaton.build(lists), listed));
	}

	/**
	 * Adds to `matches`, in no order and possibly with duplicates.
	 * @param isOpen more text can follow.
	 * @returns the offset from which more text can create or change matches; the text's length if none.
	 */
	find(text: string, isOpen: boolean, matches: WordMatch[]): number {
		const search = this.#search;
		let live = search.search(text, isOpen, plain, matches);
		const { hasSigns, hasElongated } = search;
		if (hasSigns) live = Math.min(live, search.search(text, isOpen, unsigned, matches));
		if (hasElongated) for (const reading of drawnOut) live = Math.min(live, search.search(text, isOpen, reading, matches));
		return live;
	}
}

function bySymbols({ symbols: one }: Listed, { symbols: other }: Listed): number {
	if (one === other) return 0;
	return one < other ? -1 : 1;
}

export function* buildWordDetector(entries: readonly string[]): Generator<void, SpanDetector> {
	const list = yield* WordList.build(entries);
	return {
		find(text, isOpen, spans) {
			const matches: WordMatch[] = [];
			const live = list.find(text, isOpen, matches);
			for (const { start, end } of matches) spans.push({ policy: 'words', category: 'listed', start, end });
			return live;
		},
	};
}
