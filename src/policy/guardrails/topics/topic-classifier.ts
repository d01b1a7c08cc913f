/**
 * Detects topics by their words. A keyword or the topic's name matches alone, an example when most of its words are close together. Meaning
 * is not analysed: other wordings are missed, and a text against the topic matches.
 */
import { maxUnits, unitsOf } from '../folding/code-units.ts';
import type { Classification, ClassifiedText, TextClassifier } from '../guardrail.ts';

export interface TopicSettings {
	readonly name: string;
	readonly description: string;
	readonly examples: readonly string[];
	readonly keywords: readonly string[];
}

/** Maximum distance between words of one set. */
const nearWords = 40;
/** Minimum share of an example's words. */
const minShare = 0.6;
/** Minimum number of words of an example, because one word is too unspecific. */
const minWords = 2;
/** Minimum number of words out of all that describe a topic, across its examples. */
const minOfVocabulary = 5;
const maxWordLength = 64;
const wordCharacter = /[\p{L}\p{N}\ud800-\udfff]/u;
/** Combining marks, which join the preceding character, and sigma, whose form depends on the next one. */
const dependent = /[\p{M}\u03a3\u03c2\u03c3]/u;
const separators = /^[^\p{L}\p{N}\p{M}]+$/u;
/** Number of hashes of the first three characters of words. */
const beginningCount = 32 ** 3;
/** Character that only the general rules can interpret, alone or with its neighbours. */
const foreign = 0xff;
/** First code of the scripts with composed characters. */
const firstComposed = 0x0900;
/** Sign by code unit: 0 for separators, `foreign`, or five bits for a letter or digit, the same for both cases and never 0. */
const signs = new Uint8Array(0x10000).fill(foreign);
for (let code = 0; code < firstComposed; code++) signs[code] = signFor(String.fromCharCode(code));
// Dashes, quotation marks, dots.
for (let code = 0x2010; code < 0x2028; code++) signs[code] = signFor(String.fromCharCode(code));

function signFor(character: string): number {
	const read = character.normalize('NFKC').toLowerCase();
	if (separators.test(read)) return 0;
	const isOwn = read.length === 1 && read === character.toLowerCase() && !dependent.test(character);
	return isOwn ? signOf(read.charCodeAt(0)) : foreign;
}

/** Returns the sign of a letter or digit in lower case. */
function signOf(code: number): number {
	return code & 31 || 31;
}

/** Returns the beginning of a stem, which is that of its word: a stem has three characters, or is the word. */
function beginningOf(word: string): number {
	let beginning = 0;
	for (let at = 0; at < 3; at++) beginning = (beginning << 5) | (at < word.length ? signOf(word.charCodeAt(at)) : 0);
	return beginning;
}

/** Returns the start of an incomplete word at the end of the text, or the end of the text. */
function lastWordStart(text: string): number {
	let at = text.length;
	while (at > 0 && isInWord(text.charCodeAt(at - 1)) && text.length - at < maxWordLength) at--;
	return at;
}

function isInWord(code: number): boolean {
	const sign = signs[code];
	return sign === foreign ? wordCharacter.test(String.fromCharCode(code)) : sign !== 0;
}

/**
 * Returns the end of a run of words with foreign characters, up to white space, which ends any composition. Other words between them are
 * included.
 */
function foreignEnd(text: string, start: number, end: number): number {
	let last = start;
	for (let at = start; at < end; at++) {
		const code = text.charCodeAt(at);
		if (signs[code] === foreign) last = at;
		else if ((code === 0x20 || code === 0x0a) && at - last >= foreignGap) return at;
	}
	return end;
}
const foreignGap = 8;

interface WordSet {
	readonly topic: string;
	readonly size: number;
	/** Minimum number of the words that must be close together. */
	readonly needed: number;
}

export function createTopicClassifier(topics: readonly TopicSettings[]): TextClassifier {
	const sets: WordSet[] = [];
	const setsOf = new Map<string, number[]>();
	const addSet = (topic: string, words: ReadonlySet<string>, needed: number): void => {
		if (words.size === 0) return;
		for (const word of words) setsOf.set(word, [...(setsOf.get(word) ?? []), sets.length]);
		sets.push({ topic, size: words.size, needed: Math.min(needed, words.size) });
	};
	for (const { name, description, examples, keywords } of topics) {
		for (const keyword of [name, ...keywords]) {
			const words = distinguishingWords(keyword, true);
			addSet(name, words, words.size);
		}
		const vocabulary = new Set(distinguishingWords(description));
		for (const example of examples) {
			const words = distinguishingWords(example);
			for (const word of words) vocabulary.add(word);
			if (words.size >= minWords) addSet(name, words, Math.max(minWords, Math.ceil(words.size * minShare)));
		}
		if (vocabulary.size > minOfVocabulary) addSet(name, vocabulary, minOfVocabulary);
	}
	const beginnings = new Uint8Array(beginningCount);
	for (const word of setsOf.keys()) beginnings[beginningOf(word)] = 1;
	return { begin: () => new TopicReading(sets, setsOf, beginnings) };
}

/** @param keepsAll also words that are in every text, when there are no others. */
function distinguishingWords(text: string, keepsAll = false): ReadonlySet<string> {
	const all = wordsOf(text).map(stemOf);
	const distinguishing = all.filter((word) => !isStopWord(word));
	return new Set(distinguishing.length === 0 && keepsAll ? all : distinguishing);
}

class TopicReading implements ClassifiedText {
	readonly #sets: readonly WordSet[];
	readonly #setsOf: ReadonlyMap<string, readonly number[]>;
	readonly #beginnings: Uint8Array;
	/** Recent words of each set, with their positions. */
	readonly #seen: (Map<string, number> | undefined)[] = [];
	readonly #violated = new Set<string>();
	#count = 0;
	/** Incomplete word. */
	#rest = '';

	constructor(sets: readonly WordSet[], setsOf: ReadonlyMap<string, readonly number[]>, beginnings: Uint8Array) {
		this.#beginnings = beginnings;
		this.#sets = sets;
		this.#setsOf = setsOf;
	}

	add(piece: string): void {
		const text = this.#rest + piece;
		const end = lastWordStart(text);
		this.#rest = text.slice(end, end + maxWordLength);
		this.#read(text, end);
	}

	classify(isOver: boolean): readonly Classification[] {
		if (isOver && this.#rest !== '') {
			this.#read(this.#rest, this.#rest.length);
			this.#rest = '';
		}
		return [...this.#violated].map((category) => ({ policy: 'topics', category, isSure: true }));
	}

	/** Reads complete words only. */
	#read(text: string, end: number): void {
		for (let at = 0; at < end; ) {
			const from = at;
			at = this.#readPlain(text, from, end);
			if (at > from) continue;
			at = foreignEnd(text, from, end);
			for (const word of wordsOf(text.slice(from, at))) {
				if (this.#beginnings[beginningOf(word)] === 1) this.#take(stemOf(word));
				else this.#count++;
			}
		}
	}

	/**
	 * Analyses only words whose beginning occurs in a topic.
	 * @returns the start of the first word with a foreign character, or of one that continues after the chunk.
	 */
	#readPlain(text: string, from: number, end: number): number {
		const length = Math.min(maxUnits, end - from);
		const units = unitsOf(text, from, from + length);
		const beginnings = this.#beginnings;
		for (let at = 0; at < length; at++) {
			let sign = signs[units[at] as number] as number;
			if (sign === 0) continue;
			const start = at;
			let beginning = 0;
			for (let shift = 10; sign !== 0; shift -= 5) {
				if (sign === foreign) return from + start;
				if (shift >= 0) beginning |= sign << shift;
				if (++at === length) break;
				sign = signs[units[at] as number] as number;
			}
			if (at === length && from + length < end) return from + start;
			if (beginnings[beginning] === 1) this.#take(stemOf(text.slice(from + start, from + at).toLowerCase()));
			else this.#count++;
		}
		return from + length;
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
			if (near >= set.needed) this.#violated.add(set.topic);
		}
	}
}

/** Matches words, whose endings are removed by a few rules for English; words of other languages mostly stay the same. */
const word = /[\p{L}\p{N}]+/gu;
const endings = /(?:ations?|ings?|edly|ed|ies|es|s|ly)$/;
const minStemLength = 3;

const stopWords = new Set(
	(
		'a about all also am an and any are as at be because been but by can could did do does for from get had has have he her him his how i if ' +
		'in into is it its just like make may me might more most my no not now of on one only or other our out over please s shall she should so ' +
		'some such t tell than that the their them then there these they this those to too up us use very was we were what when where which who ' +
		'whom why will with would you your'
	)
		.split(' ')
		.map((one) => stemOf(one)),
);

export function wordsOf(text: string): readonly string[] {
	return text.normalize('NFKC').toLowerCase().match(word) ?? [];
}

function stemOf(written: string): string {
	const stem = written.replace(endings, '');
	return stem.length >= minStemLength ? stem : written;
}

function isStopWord(stem: string): boolean {
	return stopWords.has(stem);
}
