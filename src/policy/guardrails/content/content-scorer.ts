/**
 * Scores text by its words, offline. It does not understand meaning: `docs/reference/content-filter-measurements.md` shows its detection
 * rates.
 */

import { visibleTexts } from '../folding/visible-text.ts';
import { type ContentCategory, type ContentHead, type ContentScores, contentCategories, contentHeads } from './content-category.ts';
import { bucketCount, type ContentWeights, headStride, pairBucket, parseWeights, wordBucket } from './content-weights.ts';
import { WordReader } from './word-reader.ts';

export interface ContentScorer {
	/** Returns the highest scores of any window of the text. Some 150 MB/s; cut text longer than 64 KB into pieces for `begin`. */
	score(text: string): ContentScores;
	/** Begins a score of text that arrives in pieces. */
	begin(): ContentReading;
}

/** Incremental reading of one text. Its final scores are those of the whole text, for any chunking. */
export interface ContentReading {
	add(piece: string): void;
	/** Returns the scores so far, without a word that may be incomplete. They can decrease again because of the last 80 words. */
	scores(): ContentScores;
	end(): ContentScores;
	/** Ends the text as `end` does, and returns the scores by the scorer's own heads. */
	endByHead(): Readonly<Record<ContentHead, number>>;
}

/** @throws Error for bytes that are not this version's weights. */
export function createContentScorer(weights: Uint8Array): ContentScorer {
	const model = prepare(parseWeights(weights));
	const begin = (): ContentReading => new Reading(model);
	return {
		begin,
		score(text) {
			const reading = begin();
			reading.add(text);
			return reading.end();
		},
	};
}

/** Words of a block. A window is two blocks and begins in the middle of the previous one. */
export const blockWords = 40;

/** Maximum distance at which a word of another class is near. */
export const nearWords = 6;

/** Keeps the densities of very short texts small. */
export const shortTextWords = 20;

const heads = contentHeads.length;

interface Model extends Omit<ContentWeights, 'buckets'> {
	readonly lexicon: Lexicon;
	/** Two numbers of four bytes for each bucket: its weights plus `bias`, and whether it has a word of the lexicon. */
	readonly buckets: Int32Array;
}

/** Makes weights positive, so that one addition sums several weights packed into one number. */
const bias = 128;
/** Masks the first and the third byte of a number, as sums of 16 bits, which the weights of a block do not overflow. */
const everyOther = 0x00ff00ff;

function prepare({ buckets, ...weights }: ContentWeights): Model {
	const padded = new Uint8Array(bucketCount * headStride);
	for (let bucket = 0, at = 0; bucket < bucketCount; bucket++) {
		for (let head = 0; head < heads; head++) padded[bucket * headStride + head] = (buckets[at++] ?? 0) + bias;
	}
	for (const hash of weights.lexiconHashes) padded[wordBucket(hash) * headStride + heads] = 1;
	return { ...weights, buckets: new Int32Array(padded.buffer), lexicon: new Lexicon(weights.lexiconHashes, weights.lexiconClasses) };
}

/** Initial sums of a reading. */
const zeros = contentHeads.map(() => 0);
const lowest = contentHeads.map(() => Number.NEGATIVE_INFINITY);
const noneNear = Array.from({ length: nearWords }, () => 0);

class Reading implements ContentReading {
	readonly #model: Model;
	readonly #reader = new WordReader(this);
	/** Sums of weights of the previous block and of the current one. */
	#earlier = [...zeros];
	#current = [...zeros];
	#earlierWords = 0;
	#currentWords = 0;
	/** Highest logit of any complete window, by head. */
	readonly #highest = [...lowest];
	#previousWord = 0;
	/** Ring buffer of the latest words of the lexicon: their classes, and their positions in the text. */
	readonly #nearClasses = [...noneNear];
	readonly #nearPositions = [...noneNear];
	#nearAt = 0;
	#wordCount = 0;

	constructor(model: Model) {
		this.#model = model;
	}

	add(piece: string): void {
		this.#reader.read(piece);
	}

	words(hashes: Int32Array, count: number): void {
		for (let start = 0; start < count; ) {
			const end = Math.min(count, start + blockWords - this.#currentWords);
			this.#addToBlock(hashes, start, end);
			start = end;
			if (this.#currentWords === blockWords) this.#closeBlock();
		}
	}

	/** Adds the words from `start` up to `end`, which are all in one block, so that their sums fit. */
	#addToBlock(hashes: Int32Array, start: number, end: number): void {
		const { buckets } = this.#model;
		let previous = this.#previousWord;
		// Two sums in each number: one of the first and the third of four heads, one of the second and the fourth.
		let odd = 0;
		let even = 0;
		let laterOdd = 0;
		let laterEven = 0;
		for (let at = start; at < end; at++) {
			const hash = hashes[at] as number;
			const single = wordBucket(hash) * 2;
			const pair = pairBucket(previous, hash) * 2;
			const weights = buckets[single] as number;
			const laterWeights = buckets[single + 1] as number;
			const pairWeights = buckets[pair] as number;
			const laterPairWeights = buckets[pair + 1] as number;
			odd += (weights & everyOther) + (pairWeights & everyOther);
			even += ((weights >>> 8) & everyOther) + ((pairWeights >>> 8) & everyOther);
			laterOdd += (laterWeights & everyOther) + (laterPairWeights & everyOther);
			laterEven += ((laterWeights >>> 8) & 0xff) + ((laterPairWeights >>> 8) & 0xff);
			if (laterWeights >>> 24 !== 0) this.#addClasses(hash, this.#wordCount + at - start);
			previous = hash;
		}
		this.#previousWord = previous;
		this.#wordCount += end - start;
		this.#currentWords += end - start;
		const biases = 2 * bias * (end - start);
		this.#addTo(0, (odd & 0xffff) - biases);
		this.#addTo(1, (even & 0xffff) - biases);
		this.#addTo(2, (odd >>> 16) - biases);
		this.#addTo(3, (even >>> 16) - biases);
		this.#addTo(4, (laterOdd & 0xffff) - biases);
		this.#addTo(5, laterEven - biases);
		this.#addTo(6, (laterOdd >>> 16) - biases);
	}

	#addTo(head: number, sum: number): void {
		this.#current[head] = (this.#current[head] ?? 0) + sum;
	}

	/** @param position position of the word in the text. */
	#addClasses(hash: number, position: number): void {
		const { classCount, classWeights, pairWeights, lexicon } = this.#model;
		const classes = lexicon.classesOf(hash);
		if (classes === 0) return;
		let nearby = 0;
		for (let at = 0; at < nearWords; at++) {
			if ((this.#nearPositions[at] ?? 0) >= position - nearWords) nearby |= this.#nearClasses[at] ?? 0;
		}
		this.#nearClasses[this.#nearAt] = classes;
		this.#nearPositions[this.#nearAt] = position;
		this.#nearAt = (this.#nearAt + 1) % nearWords;
		for (let remaining = classes; remaining !== 0; remaining &= remaining - 1) {
			const later = 31 - Math.clz32(remaining & -remaining);
			this.#addRow(classWeights, later * heads);
			for (let before = nearby & ~(1 << later); before !== 0; before &= before - 1) {
				this.#addRow(pairWeights, ((31 - Math.clz32(before & -before)) * classCount + later) * heads);
			}
		}
	}

	#addRow(rows: Int32Array, at: number): void {
		for (let head = 0; head < heads; head++) this.#addTo(head, rows[at + head] ?? 0);
	}

	#closeBlock(): void {
		if (this.#earlierWords > 0) {
			for (let head = 0; head < heads; head++) this.#highest[head] = Math.max(this.#highest[head] ?? 0, this.#windowLogit(head));
		}
		const reused = this.#earlier;
		this.#earlier = this.#current;
		this.#earlierWords = this.#currentWords;
		this.#current = reused.fill(0);
		this.#currentWords = 0;
	}

	/** Returns the logit of the last block and the incomplete next one. */
	#windowLogit(head: number): number {
		const { intercepts, scales } = this.#model;
		const sum = (this.#earlier[head] ?? 0) + (this.#current[head] ?? 0);
		return (intercepts[head] ?? 0) + ((scales[head] ?? 0) * sum) / Math.sqrt(this.#earlierWords + this.#currentWords + shortTextWords);
	}

	#score(head: number): number {
		return 1 / (1 + Math.exp(-Math.max(this.#highest[head] ?? 0, this.#windowLogit(head))));
	}

	/** Merges heads: insulting a person counts with demeaning a group, and self-harm counts as violence. */
	scores(): ContentScores {
		return {
			hate: Math.max(this.#score(0), this.#score(1)),
			violence: Math.max(this.#score(2), this.#score(4)),
			sexual: this.#score(3),
			misconduct: this.#score(5),
			prompt_attack: this.#score(6),
		};
	}

	end(): ContentScores {
		this.#reader.end();
		return this.scores();
	}

	endByHead(): Record<ContentHead, number> {
		this.#reader.end();
		const [hate = 0, harassment = 0, violence = 0, sexual = 0, self_harm = 0, misconduct = 0, prompt_attack = 0] = contentHeads.map(
			(_, head) => this.#score(head),
		);
		return { hate, harassment, violence, sexual, self_harm, misconduct, prompt_attack };
	}
}

/** Maps a word's hash to its classes, with open addressing in one array, because most words are absent. */
class Lexicon {
	/** Pairs of hash and classes; no classes mark an empty slot. */
	readonly #slots: Int32Array;
	readonly #mask: number;

	constructor(hashes: Int32Array, classes: Uint32Array) {
		let size = 64;
		while (size < hashes.length * 4) size *= 2;
		this.#slots = new Int32Array(size * 2);
		this.#mask = size - 1;
		for (const [index, hash] of hashes.entries()) {
			let at = hash & this.#mask;
			while (this.#slots[at * 2 + 1] !== 0) at = (at + 1) & this.#mask;
			this.#slots[at * 2] = hash;
			this.#slots[at * 2 + 1] = classes[index] ?? 0;
		}
	}

	/** Returns a bit mask of classes; 0 for a word without any. */
	classesOf(hash: number): number {
		const slots = this.#slots;
		let at = hash & this.#mask;
		for (;;) {
			const classes = slots[at * 2 + 1] ?? 0;
			if (classes === 0 || slots[at * 2] === hash) return classes;
			at = (at + 1) & this.#mask;
		}
	}
}

/** Length of previous text that is read again, because the end of a piece can cut a disguise. */
const contextLength = 1024;
/** Text without a match is shown exactly as it is written. */
const canDiffer = /<[a-z!?/]|[\u202d\u202e]|&(?:amp;|lt|#)|%|data:|\\[ux]/i;

type VisibleReading = Pick<ContentReading, 'add' | 'scores' | 'end'>;

/** Scores a text as written and, if it differs, as shown: a tag inside a word does not hide the word from readers. */
export function beginVisibleReading(scorer: ContentScorer): VisibleReading {
	const reading = scorer.begin();
	const highest: Record<ContentCategory, number> = { hate: 0, violence: 0, sexual: 0, misconduct: 0, prompt_attack: 0 };
	let recent = '';
	const withVisible = (written: ContentScores): ContentScores => {
		const scores = { ...written };
		for (const category of contentCategories) scores[category] = Math.max(written[category], highest[category]);
		return scores;
	};
	return {
		add(piece) {
			reading.add(piece);
			const text = recent + piece;
			recent = text.slice(-contextLength);
			if (!canDiffer.test(text)) return;
			for (const visible of visibleTexts(text, false)) {
				const scores = scorer.score(visible.text);
				for (const category of contentCategories) highest[category] = Math.max(highest[category], scores[category]);
			}
		},
		scores: () => withVisible(reading.scores()),
		end: () => withVisible(reading.end()),
	};
}
