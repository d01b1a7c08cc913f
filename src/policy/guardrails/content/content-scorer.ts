/**
 * Judges text by the words that it uses, offline. It reads words, not meaning: see `docs/reference/content-filter-measurements.md`
 * for what that catches and what it cannot.
 */

import { shownTexts } from '../folding/shown-text.ts';
import { type ContentCategory, type ContentHead, type ContentScores, contentCategories, contentHeads } from './content-category.ts';
import { bucketCount, type ContentWeights, headStride, pairBucket, parseWeights, wordBucket } from './content-weights.ts';
import { WordReader } from './word-reader.ts';

export interface ContentScorer {
	/** The highest scores of any window of the text. Some 150 MB/s; cut what is longer than 64 KB into pieces for `begin`. */
	score(text: string): ContentScores;
	/** The same for text that comes in pieces. */
	begin(): ContentReading;
}

/** One text on its way. However it is cut, the scores at its end are those of the whole. */
export interface ContentReading {
	add(piece: string): void;
	/** So far, without a word that may still go on. They may fall again, as far as the last 80 words are concerned. */
	scores(): ContentScores;
	/** The text is over. */
	end(): ContentScores;
	/** As `end`, by the scorer's own heads. */
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

/** A window is two blocks: the next one begins in the middle of the last. */
export const blockWords = 40;

/** How far back a word of another class counts as near. */
export const nearWords = 6;

/** Keeps the densities of very short texts small. */
export const shortTextWords = 20;

const heads = contentHeads.length;

interface Model extends Omit<ContentWeights, 'buckets'> {
	readonly lexicon: Lexicon;
	/** Two numbers for each bucket, of four bytes each: its weights plus `bias`, then whether a word of the lexicon falls into it. */
	readonly buckets: Int32Array;
}

/** Makes weights positive, so that several that lie in one number can be added up at once. */
const bias = 128;
/** Of the bytes of a number, the first and the third: sums of 16 bits, which the weights of a block do not fill. */
const everyOther = 0x00ff00ff;

function prepare({ buckets, ...weights }: ContentWeights): Model {
	const padded = new Uint8Array(bucketCount * headStride);
	for (let bucket = 0, at = 0; bucket < bucketCount; bucket++) {
		for (let head = 0; head < heads; head++) padded[bucket * headStride + head] = (buckets[at++] ?? 0) + bias;
	}
	for (const hash of weights.lexiconHashes) padded[wordBucket(hash) * headStride + heads] = 1;
	return { ...weights, buckets: new Int32Array(padded.buffer), lexicon: new Lexicon(weights.lexiconHashes, weights.lexiconClasses) };
}

/** What readings begin with. */
const zeros = contentHeads.map(() => 0);
const lowest = contentHeads.map(() => Number.NEGATIVE_INFINITY);
const noneNear = Array.from({ length: nearWords }, () => 0);

class Reading implements ContentReading {
	readonly #model: Model;
	readonly #reader = new WordReader(this);
	/** Sums of weights: of the block before, of the block that is being read. */
	#earlier = [...zeros];
	#current = [...zeros];
	#earlierWords = 0;
	#currentWords = 0;
	/** The highest logit of any whole window, by head. */
	readonly #highest = [...lowest];
	#previousWord = 0;
	/** Of the last words of the lexicon, in a ring: their classes, and which word of the text each is. */
	readonly #nearClasses = [...noneNear];
	readonly #nearPlaces = [...noneNear];
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

	/** The words from `start` up to `end`: all in one block, so that their sums fit. */
	#addToBlock(hashes: Int32Array, start: number, end: number): void {
		const { buckets } = this.#model;
		let previous = this.#previousWord;
		// Two sums in each: of the first and the third of four heads, of the second and the fourth.
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

	/** @param place which word of the text it is. */
	#addClasses(hash: number, place: number): void {
		const { classCount, classWeights, pairWeights, lexicon } = this.#model;
		const classes = lexicon.classesOf(hash);
		if (classes === 0) return;
		let nearby = 0;
		for (let at = 0; at < nearWords; at++) {
			if ((this.#nearPlaces[at] ?? 0) >= place - nearWords) nearby |= this.#nearClasses[at] ?? 0;
		}
		this.#nearClasses[this.#nearAt] = classes;
		this.#nearPlaces[this.#nearAt] = place;
		this.#nearAt = (this.#nearAt + 1) % nearWords;
		for (let left = classes; left !== 0; left &= left - 1) {
			const later = 31 - Math.clz32(left & -left);
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

	/** Of the last block and what has been read of the next. */
	#windowLogit(head: number): number {
		const { intercepts, scales } = this.#model;
		const sum = (this.#earlier[head] ?? 0) + (this.#current[head] ?? 0);
		return (intercepts[head] ?? 0) + ((scales[head] ?? 0) * sum) / Math.sqrt(this.#earlierWords + this.#currentWords + shortTextWords);
	}

	#score(head: number): number {
		return 1 / (1 + Math.exp(-Math.max(this.#highest[head] ?? 0, this.#windowLogit(head))));
	}

	/** The insult of a person belongs with the demeaning of a group; whoever is hurt, oneself included, it is violence. */
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

/** Which classes a word belongs to, by its hash: open addressing in one array, for most words miss. */
class Lexicon {
	/** Hash and classes in turn; no classes, no entry. */
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

	/** A bit for each class; 0 for a word of none. */
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

/** So much of what came before is read again: a disguise may be cut by the end of a piece. */
const contextLength = 1024;
/** Without one of these no text is shown otherwise than it is written. */
const mayDiffer = /<[a-z!?/]|[\u202d\u202e]|&(?:amp;|lt|#)|%|data:|\\[ux]/i;

type ShownReading = Pick<ContentReading, 'add' | 'scores' | 'end'>;

/** Scores a text as it is written and, where that differs, as it is shown: a tag inside a word hides the word from nobody who reads. */
export function beginShownReading(scorer: ContentScorer): ShownReading {
	const reading = scorer.begin();
	const highest: Record<ContentCategory, number> = { hate: 0, violence: 0, sexual: 0, misconduct: 0, prompt_attack: 0 };
	let recent = '';
	const withShown = (written: ContentScores): ContentScores => {
		const scores = { ...written };
		for (const category of contentCategories) scores[category] = Math.max(written[category], highest[category]);
		return scores;
	};
	return {
		add(piece) {
			reading.add(piece);
			const text = recent + piece;
			recent = text.slice(-contextLength);
			if (!mayDiffer.test(text)) return;
			for (const shown of shownTexts(text, false)) {
				const scores = scorer.score(shown.text);
				for (const category of contentCategories) highest[category] = Math.max(highest[category], scores[category]);
			}
		},
		scores: () => withShown(reading.scores()),
		end: () => withShown(reading.end()),
	};
}
