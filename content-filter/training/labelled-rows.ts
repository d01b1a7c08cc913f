/** Reads the rows of the training set, and decides which of them are held out of training. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ContentHead } from '../../src/policy/guardrails/content/content-category.ts';
import { finishHash, WordReader, type WordSink } from '../../src/policy/guardrails/content/word-reader.ts';
import { contextClasses } from './context-words.ts';

export interface LabelledRow {
	readonly text: string;
	/** Labels by head. A head without a label is unknown, not absent. */
	readonly labels: Partial<Record<ContentHead, 0 | 1>>;
	readonly weak?: readonly ContentHead[];
	readonly source: string;
	/** Position from 0 to 1 that assigns the row to one side of a split. Texts that share much of their wording have the same one. */
	readonly place: number;
}

/** Placeholders for text removed from social media posts. Live text has none. */
const placeholders = /\[(?:URL|USER|EMAIL|PHONE)\]/g;

export function readRows(folder: string): LabelledRow[] {
	const lines = gunzipSync(readFileSync(join(folder, 'train.jsonl.gz')))
		.toString('utf8')
		.trimEnd()
		.split('\n');
	return lines.map((line) => {
		const row = JSON.parse(line) as Omit<LabelledRow, 'place'>;
		const text = row.text.replaceAll(placeholders, ' ');
		return { ...row, text, place: positionOf(text) };
	});
}

const splitSalt = 0x51ed270b;

/** Number of words in each compared run. */
const runWords = 4;

/** Returns the minimum hash of all runs of words. Two texts have the same one as often as they share runs. */
export function positionOf(text: string): number {
	const recent: number[] = [];
	let min = 0xffffffff;
	const reader = new WordReader(
		eachWord((hash) => {
			recent.push(hash);
			if (recent.length > runWords) recent.shift();
			if (recent.length === runWords) min = Math.min(min, hashOf(recent));
		}),
	);
	reader.read(text);
	reader.end();
	if (min === 0xffffffff) min = hashOf(recent);
	// A minimum hash is small, so it is hashed again to spread evenly. Another salt gives another split.
	return (finishHash(finishHash(Math.imul(min, 0x2545f491) ^ 0x5bd1e995) ^ splitSalt) >>> 0) / 2 ** 32;
}

export function eachWord(take: (hash: number) => void): WordSink {
	return {
		words(hashes, count) {
			for (const hash of hashes.subarray(0, count)) take(hash);
		},
	};
}

function hashOf(words: readonly number[]): number {
	return finishHash(words.reduce((hash, word) => Math.imul(hash ^ word, 0x01000193), 0x9747b28c)) >>> 0;
}

export interface LexiconClasses {
	readonly names: readonly string[];
	/** Bit mask of classes by the word's hash. */
	readonly classes: ReadonlyMap<number, number>;
}

/** Reads the lexicon's single words and the context words. Phrases and spellings with punctuation are left out. */
export function readLexicon(folder: string): LexiconClasses {
	const lexicon = JSON.parse(readFileSync(join(folder, 'lexicon.json'), 'utf8')) as Record<string, { words: string[] }>;
	const all = [...Object.entries(lexicon).map(([name, { words }]) => [name, words] as const), ...contextClasses];
	const classes = new Map<number, number>();
	for (const [index, [, words]] of all.entries()) {
		for (const word of words) {
			if (!/^[a-z]+$/.test(word)) continue;
			const reader = new WordReader(eachWord((hash) => classes.set(hash, (classes.get(hash) ?? 0) | (1 << index))));
			reader.read(word);
			reader.end();
		}
	}
	return { names: all.map(([name]) => name), classes };
}
