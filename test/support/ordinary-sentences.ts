/**
 * 20,000 ordinary sentences: 12,000 of `test/suites/ordinary-sentences` and 8,000 generated from their words, with words that neighbours
 * easily spell.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { WordMatch } from '../../src/policy/guardrails/words/walk.ts';
import { WordList } from '../../src/policy/guardrails/words/word-list.ts';
import { blockWords } from './block-words.ts';

const madeCount = 8000;
let seed = 20_261_125;

function random(below: number): number {
	seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
	return Math.floor((seed / 0x80000000) * below);
}

const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;

function readSentences(): readonly string[] {
	const file = gunzipSync(readFileSync(new URL('../suites/ordinary-sentences/sentences.txt.gz', import.meta.url)));
	return file.toString('utf8').trimEnd().split('\n');
}

/** Minimum frequency of a word, which excludes misspellings. */
const minFrequency = 2;

function wordsOf(sentences: readonly string[]): readonly string[] {
	const counts = new Map<string, number>();
	for (const sentence of sentences) {
		for (const [word] of sentence.toLowerCase().matchAll(/(?<![\w'’-])[a-z]+(?![\w'’-])/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
	}
	return [...counts].filter(([, count]) => count >= minFrequency).map(([word]) => word);
}

const real = readSentences();
const words = wordsOf(real);

/** Neighbours that together spell a listed word: `the rapist`, `as sass in`. */
function splitWords(): readonly string[] {
	const known = new Set([...words, 'i', 'a', 'an', 'o']);
	return blockWords.flatMap((word) =>
		Array.from({ length: word.length - 1 }, (_, at) => [word.slice(0, at + 1), word.slice(at + 1)] as const)
			.filter(([left, right]) => known.has(left) && known.has(right) && right.length > 1)
			.map(([left, right]) => `${left} ${right}`),
	);
}

const splits = splitWords();
const contractions =
	"he'll she'll we'll I'll they'll it'll you'll who'll he'd she'd we'd I'd they'd you'd who'd it'd I'm we're they're you're who're can't won't don't isn't wasn't couldn't wouldn't it's let's that's there's".split(
		' ',
	);
const apostrophes = ["'", "'", "'", '’', '`', '´'];
const word = (): string => pick(words);
const contraction = (): string => pick(contractions).replace("'", pick(apostrophes));
const digit = (): string => String(random(10));
const two = (below: number): string => String(random(below)).padStart(2, '0');

const forms: readonly (() => string)[] = [
	() => `I think ${contraction()} ${word()} the ${word()} before ${word()}.`,
	() => `${capital(contraction())} a ${word()}, and ${contraction()} ${word()} too.`,
	() => `If ${contraction()} ${word()}, ${contraction()} take the ${word()}.`,
	() => `Why did the ${word()} say "${contraction()} ${word()}"?`,
	() => `We read ${pick(splits)} ${word()} in the ${word()} report.`,
	() => `The ${word()}, ${pick(splits)}, was ${word()}.`,
	() => `It is ${word()} ${pick(splits)}; the ${word()} is ${word()}.`,
	() => `The train leaves at ${random(12) + 1}:${two(60)} and arrives at ${random(12) + 1}.${two(60)}.`,
	() => `Sort the list [${Array.from({ length: 4 + random(4) }, digit).join(', ')}] by ${word()}.`,
	() => `The ${word()} costs $${random(900)}.${two(100)}, or ${random(9)},${two(100)}${digit()} yen a ${word()}.`,
	() => `Version ${digit()}.${digit()}.${digit()} of the ${word()} came on ${random(12) + 1}/${random(28) + 1}/${two(27)}.`,
	() => `Pages ${random(90)}-${random(99)} and ${digit()}-${digit()}${digit()} tell of the ${word()}.`,
	() => `The ${word()}-${word()} ${word()} and the ${word()}/${word()} are ${word()}.`,
	() => `${capital(word())}'s ${word()} met the ${word()}'s ${word()} at ${digit()} p.m. in the U.S.`,
	() => `Take vitamin ${pick(['A', 'B', 'C', 'D', 'E', 'K'])} ${word()}, e.g. with ${word()} or ${word()}!`,
	() => `Is a ${word()} ${word()} ${word()}? The ${word()} is; the ${word()} isn't.`,
];

function capital(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}

const plainly = new RegExp(`(?<![\\p{L}\\p{N}])(?:${blockWords.join('|')})(?![\\p{L}\\p{N}])`, 'iu');

function make(): readonly string[] {
	return Array.from({ length: madeCount }, (_, index) => (forms[index % forms.length] as () => string)());
}

const sentences: readonly string[] = [...real, ...make()];

interface WordPrecision {
	readonly sentences: number;
	/** Sentences that contain a listed word as a separate word: blocking them is correct. */
	readonly withListedWord: number;
	/** Other sentences with a match. */
	readonly blocked: readonly string[];
}

export function measureOrdinarySentences(): WordPrecision {
	const list = buildWordList(blockWords);
	const others = sentences.filter((sentence) => !plainly.test(sentence));
	const blocked = others.filter((sentence) => hasMatch(list, sentence));
	return { sentences: sentences.length, withListedWord: sentences.length - others.length, blocked };
}

export function buildWordList(entries: readonly string[]): WordList {
	const steps = WordList.build(entries);
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

export function hasMatch(list: WordList, text: string): boolean {
	const matches: WordMatch[] = [];
	list.find(text, false, matches);
	return matches.length > 0;
}
