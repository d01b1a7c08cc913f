/**
 * Judges text by the words that it uses, offline. It reads words, not meaning: see `docs/reference/content-filter-figures.md`
 * for what that catches and what it cannot.
 */
import { type ContentHead, type ContentScores, contentHeads } from './content-category.ts';
import { bucketCount, type ContentWeights, headStride, pairBucket, parseWeights, wordBucket } from './content-weights.ts';
import { Lexicon } from './lexicon.ts';
import { WordReader, type WordSink } from './word-reader.ts';

export interface ContentScorer {
	/** The highest scores of any window of the text. Some 60 MB/s; cut what is longer than 64 KB into pieces for `begin`. */
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
	/** Two numbers for each bucket, of four weights each, a byte each, plus `bias`. */
	readonly buckets: Int32Array;
}

/** Makes weights positive, so that several that lie in one number can be added up at once. */
const bias = 128;
/** Of the bytes of a number, the first and the third: sums of 16 bits, which the weights of a block do not fill. */
const everyOther = 0x00ff00ff;
const numbersPerBucket = headStride / 4;

function prepare({ buckets, ...weights }: ContentWeights): Model {
	const padded = new Uint8Array(bucketCount * headStride);
	for (let bucket = 0, at = 0; bucket < bucketCount; bucket++) {
		for (let head = 0; head < heads; head++) padded[bucket * headStride + head] = (buckets[at++] ?? 0) + bias;
	}
	return { ...weights, buckets: new Int32Array(padded.buffer), lexicon: new Lexicon(weights.lexiconHashes, weights.lexiconClasses) };
}

class Reading implements ContentReading, WordSink {
	readonly #model: Model;
	readonly #reader = new WordReader(this);
	/** Sums of weights: of the block before, of the block that is being read. */
	#earlier = new Int32Array(headStride);
	#current = new Int32Array(headStride);
	#earlierWords = 0;
	#currentWords = 0;
	/** The highest logit of any whole window, by head. */
	readonly #highest = new Float64Array(heads).fill(Number.NEGATIVE_INFINITY);
	/** Of words that are not in the sums of their block yet: two sums in each, of every other head, plus `bias` for each weight. */
	readonly #packed = new Int32Array(headStride / 2);
	#packedWords = 0;
	#previousWord = 0;
	/** Classes of the last words, in a ring. */
	readonly #near = new Int32Array(nearWords);
	#nearAt = 0;

	constructor(model: Model) {
		this.#model = model;
	}

	add(piece: string): void {
		this.#reader.read(piece);
	}

	word(hash: number): void {
		const { buckets, lexicon } = this.#model;
		const single = wordBucket(hash) * numbersPerBucket;
		const pair = pairBucket(this.#previousWord, hash) * numbersPerBucket;
		const packed = this.#packed;
		for (let number = 0; number < numbersPerBucket; number++) {
			const one = buckets[single + number] as number;
			const two = buckets[pair + number] as number;
			const at = number * 2;
			packed[at] = (packed[at] as number) + (one & everyOther) + (two & everyOther);
			packed[at + 1] = (packed[at + 1] as number) + ((one >>> 8) & everyOther) + ((two >>> 8) & everyOther);
		}
		this.#packedWords++;
		this.#previousWord = hash;
		const classes = lexicon.classesOf(hash);
		if (classes !== 0) this.#addClasses(classes);
		this.#near[this.#nearAt] = classes;
		this.#nearAt = (this.#nearAt + 1) % nearWords;
		if (++this.#currentWords === blockWords) this.#closeBlock();
	}

	#unpack(): void {
		const packed = this.#packed;
		for (let head = 0; head < heads; head++) {
			const number = packed[(head & 4) / 2 + (head & 1)] ?? 0;
			const sum = (number >>> ((head & 2) * 8)) & 0xffff;
			this.#current[head] = (this.#current[head] ?? 0) + sum - 2 * bias * this.#packedWords;
		}
		packed.fill(0);
		this.#packedWords = 0;
	}

	#addClasses(classes: number): void {
		const { classCount, classWeights, pairWeights } = this.#model;
		let nearby = 0;
		for (let at = 0; at < nearWords; at++) nearby |= this.#near[at] ?? 0;
		for (let left = classes; left !== 0; left &= left - 1) {
			const later = 31 - Math.clz32(left & -left);
			this.#addRow(classWeights, later * heads);
			for (let before = nearby & ~(1 << later); before !== 0; before &= before - 1) {
				this.#addRow(pairWeights, ((31 - Math.clz32(before & -before)) * classCount + later) * heads);
			}
		}
	}

	#addRow(rows: Int32Array, at: number): void {
		for (let head = 0; head < heads; head++) this.#current[head] = (this.#current[head] ?? 0) + (rows[at + head] ?? 0);
	}

	#closeBlock(): void {
		this.#unpack();
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
		this.#unpack();
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
		this.#unpack();
		const [hate = 0, harassment = 0, violence = 0, sexual = 0, self_harm = 0, misconduct = 0, prompt_attack = 0] = contentHeads.map(
			(_, head) => this.#score(head),
		);
		return { hate, harassment, violence, sexual, self_harm, misconduct, prompt_attack };
	}
}
