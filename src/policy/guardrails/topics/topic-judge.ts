/**
 * Topics, known by their words: a keyword or the topic's name trips at once, an example when most of its words come close
 * together. It reads no meaning: another wording with other words is not seen, and a text against the topic is.
 */
import type { JudgedText, Judgement, TextJudge } from '../judge.ts';
import { isStopWord, stemOf, wordsOf } from './stem.ts';

export interface TopicSettings {
	readonly name: string;
	readonly description: string;
	readonly examples: readonly string[];
	readonly keywords: readonly string[];
}

/** Words of one set that come within so many words of each other count together. */
const nearWords = 40;
/** Of an example's words. */
const leastShare = 0.6;
/** An example of one word says too little. */
const leastWords = 2;
/** Of all the words that describe a topic, however they are spread over its examples. */
const leastOfVocabulary = 5;
const longestWord = 64;
const space = 0x20;
/** Of the first three characters of words, folded into a small number. */
const beginningCount = 32 ** 3;
const asciiWord = Uint8Array.from({ length: 128 }, (_, code) => (/[a-z\d]/i.test(String.fromCharCode(code)) ? 1 : 0));

/** A stem begins as its word does: it has three characters, or is the word. */
function beginningOf(word: string): number {
	let beginning = 0;
	for (let at = 0; at < 3; at++) beginning = (beginning << 5) | (at < word.length ? word.charCodeAt(at) & 31 : 0);
	return beginning;
}

/** Where the word begins that the text ends in; its end when it does not. */
function lastWordStart(text: string): number {
	let at = text.length;
	while (at > 0 && isInWord(text.charCodeAt(at - 1)) && text.length - at < longestWord) at--;
	return at;
}

function isInWord(code: number): boolean {
	return code < 128 ? asciiWord[code] === 1 : wordCharacter.test(String.fromCharCode(code));
}
const wordCharacter = /[\p{L}\p{N}\ud800-\udfff]/u;

interface WordSet {
	readonly topic: string;
	readonly size: number;
	/** How many of them must come together. */
	readonly needed: number;
}

export function createTopicJudge(topics: readonly TopicSettings[]): TextJudge {
	const sets: WordSet[] = [];
	/** By word: the sets that have it. */
	const setsOf = new Map<string, number[]>();
	const addSet = (topic: string, words: ReadonlySet<string>, needed: number): void => {
		if (words.size === 0) return;
		for (const word of words) setsOf.set(word, [...(setsOf.get(word) ?? []), sets.length]);
		sets.push({ topic, size: words.size, needed: Math.min(needed, words.size) });
	};
	for (const { name, description, examples, keywords } of topics) {
		for (const keyword of [name, ...keywords]) {
			const words = tellingWords(keyword, true);
			addSet(name, words, words.size);
		}
		const vocabulary = new Set(tellingWords(description));
		for (const example of examples) {
			const words = tellingWords(example);
			for (const word of words) vocabulary.add(word);
			if (words.size >= leastWords) addSet(name, words, Math.max(leastWords, Math.ceil(words.size * leastShare)));
		}
		if (vocabulary.size > leastOfVocabulary) addSet(name, vocabulary, leastOfVocabulary);
	}
	const beginnings = new Uint8Array(beginningCount);
	for (const word of setsOf.keys()) beginnings[beginningOf(word)] = 1;
	return { begin: () => new TopicReading(sets, setsOf, beginnings) };
}

/** @param keepsAll also words that are in every text, when there are no others. */
function tellingWords(text: string, keepsAll = false): ReadonlySet<string> {
	const all = wordsOf(text).map(stemOf);
	const telling = all.filter((word) => !isStopWord(word));
	return new Set(telling.length === 0 && keepsAll ? all : telling);
}

class TopicReading implements JudgedText {
	readonly #sets: readonly WordSet[];
	readonly #setsOf: ReadonlyMap<string, readonly number[]>;
	readonly #beginnings: Uint8Array;
	/** By set: its words that came lately, and when. */
	readonly #seen: (Map<string, number> | undefined)[] = [];
	readonly #tripped = new Set<string>();
	#count = 0;
	/** A word that may go on. */
	#rest = '';

	constructor(sets: readonly WordSet[], setsOf: ReadonlyMap<string, readonly number[]>, beginnings: Uint8Array) {
		this.#beginnings = beginnings;
		this.#sets = sets;
		this.#setsOf = setsOf;
	}

	add(piece: string): void {
		const text = this.#rest + piece;
		const end = lastWordStart(text);
		this.#rest = text.slice(end, end + longestWord);
		const asciiEnd = this.#readAscii(text, end);
		if (asciiEnd < end) for (const word of wordsOf(text.slice(asciiEnd, end))) this.#take(stemOf(word));
	}

	judge(isOver: boolean): readonly Judgement[] {
		if (isOver && this.#rest !== '') {
			for (const word of wordsOf(this.#rest)) this.#take(stemOf(word));
			this.#rest = '';
		}
		return [...this.#tripped].map((category) => ({ policy: 'topics', category, isSure: true }));
	}

	/** Looks closer only at words that begin as one of the topics' does. @returns where the first word begins that is not all ASCII. */
	#readAscii(text: string, end: number): number {
		let start = 0;
		let beginning = 0;
		for (let at = 0; at <= end; at++) {
			const code = at < end ? text.charCodeAt(at) : space;
			if (code > 127) return start;
			if (asciiWord[code] === 1) {
				if (at - start < 3) beginning = (beginning << 5) | (code & 31);
				continue;
			}
			const length = at - start;
			if (length > 0) {
				if (length < 3) beginning <<= 5 * (3 - length);
				if (this.#beginnings[beginning] === 1) this.#take(stemOf(text.slice(start, at).toLowerCase()));
				else this.#count++;
			}
			start = at + 1;
			beginning = 0;
		}
		return end;
	}

	#take(word: string): void {
		this.#count++;
		for (const index of this.#setsOf.get(word) ?? []) {
			const set = this.#sets[index];
			if (set === undefined) continue;
			const seen = this.#seen[index] ?? new Map<string, number>();
			this.#seen[index] = seen;
			seen.set(word, this.#count);
			if (seen.size < set.needed) continue;
			let near = 0;
			for (const at of seen.values()) if (this.#count - at < nearWords) near++;
			if (near >= set.needed) this.#tripped.add(set.topic);
		}
	}
}
