/** Format of the weights file that training writes and the scorer reads: one small linear model over words, word pairs and a lexicon. */
import { contentHeads } from './content-category.ts';

/** Words and pairs of neighbouring words are hashed into 2^18 buckets. */
export const bucketBits = 18;
export const bucketCount = 1 << bucketBits;

/** Weights of a bucket are adjacent, padded to eight, so that one memory access loads them all. */
export const headStride = 8;

export interface ContentWeights {
	/** Logit of a text without words, by head. */
	readonly intercepts: Float32Array;
	/** Logit of one unit of a weight, by head. */
	readonly scales: Float32Array;
	/** Number of word classes in the lexicon, at most 32. */
	readonly classCount: number;
	/** Hashes of the lexicon's words. No package contains the words themselves. */
	readonly lexiconHashes: Int32Array;
	/** Bit mask of classes for each of these words. */
	readonly lexiconClasses: Uint32Array;
	/** Weights by class, then head. */
	readonly classWeights: Int32Array;
	/** Weights of a class that follows another within a few words: by the earlier, the later, the head. */
	readonly pairWeights: Int32Array;
	/** Weights by bucket, then head, without padding. */
	readonly buckets: Int8Array;
}

const magic = 'TGCF0001';
const headNames = contentHeads.join(',');
const heads = contentHeads.length;

export function packWeights(weights: ContentWeights): Uint8Array {
	const { classCount, lexiconHashes, lexiconClasses } = weights;
	const start = magic.length + 12 + headNames.length;
	const length = start + heads * 8 + lexiconHashes.length * 8 + (classCount + classCount ** 2) * heads * 4 + weights.buckets.length + 4;
	const bytes = Buffer.alloc(length);
	let at = bytes.write(magic, 'latin1');
	for (const value of [headNames.length, classCount, lexiconHashes.length]) at = bytes.writeUInt32LE(value, at);
	at += bytes.write(headNames, at, 'latin1');
	for (const value of [...weights.intercepts, ...weights.scales]) at = bytes.writeFloatLE(value, at);
	for (const value of lexiconHashes) at = bytes.writeInt32LE(value, at);
	for (const value of lexiconClasses) at = bytes.writeUInt32LE(value, at);
	for (const value of weights.classWeights) at = bytes.writeInt32LE(value, at);
	for (const value of weights.pairWeights) at = bytes.writeInt32LE(value, at);
	bytes.set(new Uint8Array(weights.buckets.buffer, weights.buckets.byteOffset, weights.buckets.length), at);
	bytes.writeUInt32LE(checksum(bytes), length - 4);
	return bytes;
}

/** @throws Error for bytes that `packWeights` of this version has not made, or that were changed since. */
export function parseWeights(bytes: Uint8Array): ContentWeights {
	const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
	if (source.length < 64 || source.toString('latin1', 0, magic.length) !== magic) throw broken('are not content-filter weights');
	let at = magic.length;
	const integer = (): number => source.readUInt32LE((at += 4) - 4);
	const [namesLength, classCount, lexiconCount] = [integer(), integer(), integer()];
	if (source.toString('latin1', at, at + namesLength) !== headNames) throw broken('are for other categories');
	at += namesLength;
	const length = at + heads * 8 + lexiconCount * 8 + (classCount + classCount ** 2) * heads * 4 + bucketCount * heads + 4;
	if (source.length !== length || source.readUInt32LE(length - 4) !== checksum(source)) throw broken('are damaged');
	const list = <List extends { [index: number]: number }>(into: List, count: number, read: (offset: number) => number): List => {
		for (let index = 0; index < count; index++, at += 4) into[index] = read(at);
		return into;
	};
	const float = (offset: number): number => source.readFloatLE(offset);
	const signed = (offset: number): number => source.readInt32LE(offset);
	return {
		classCount,
		intercepts: list(new Float32Array(heads), heads, float),
		scales: list(new Float32Array(heads), heads, float),
		lexiconHashes: list(new Int32Array(lexiconCount), lexiconCount, signed),
		lexiconClasses: list(new Uint32Array(lexiconCount), lexiconCount, (offset) => source.readUInt32LE(offset)),
		classWeights: list(new Int32Array(classCount * heads), classCount * heads, signed),
		pairWeights: list(new Int32Array(classCount ** 2 * heads), classCount ** 2 * heads, signed),
		buckets: new Int8Array(source.buffer, source.byteOffset + at, bucketCount * heads),
	};
}

function broken(what: string): Error {
	return new Error(`The weights of the content filter ${what}; use the file of this version`);
}

/** Computes the FNV-1a checksum of all but the last four bytes. */
function checksum(bytes: Uint8Array): number {
	let sum = 0x811c9dc5 | 0;
	for (let at = 0; at < bytes.length - 4; at++) sum = Math.imul(sum ^ (bytes[at] ?? 0), 0x01000193);
	return sum >>> 0;
}

export function wordBucket(hash: number): number {
	return hash >>> (32 - bucketBits);
}

export function pairBucket(earlier: number, later: number): number {
	return Math.imul(Math.imul(earlier, 0x9e3779b1) ^ later, 0x85ebca6b) >>> (32 - bucketBits);
}
