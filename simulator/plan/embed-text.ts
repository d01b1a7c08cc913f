/** Makes deterministic vectors in which texts with common words and letters are near each other. */
import { hashText } from '../seeded-random.ts';

/** Inputs of an embeddings request, without their texts. */
export interface EmbeddingInput {
	readonly tokens: number;
	/** Features of each input, from which vectors of any size are made. */
	readonly features: readonly Float32Array[];
	/** Size of the vectors, if the request sets it. */
	readonly size: number | undefined;
}

/** Size of the feature space; larger vectors repeat it with changing signs. */
const featureCount = 512;
const wordWeight = 3;

/** Hashes the words of a text and the groups of three letters in them into features. */
export function textFeatures(text: string): Float32Array {
	const features = new Float32Array(featureCount);
	for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
		addFeature(features, word, wordWeight);
		const framed = `^${word}$`;
		for (let start = 0; start + 3 <= framed.length; start++) addFeature(features, framed.slice(start, start + 3), 1);
	}
	return features;
}

/** Hashes tokens and their neighbors into features. The vocabulary is unknown, so a text and its tokens get different vectors. */
export function tokenFeatures(tokens: readonly number[]): Float32Array {
	const features = new Float32Array(featureCount);
	for (const [index, token] of tokens.entries()) {
		addFeature(features, `#${token}`, wordWeight);
		addFeature(features, `#${token} ${tokens[index + 1] ?? ''}`, 1);
	}
	return features;
}

function addFeature(features: Float32Array, name: string, weight: number): void {
	const hash = hashText(name);
	const index = (hash >>> 1) % featureCount;
	features[index] = (features[index] ?? 0) + ((hash & 1) === 0 ? weight : -weight);
}

/** Returns a vector of unit length. */
export function embed(features: Float32Array, size: number): Float32Array {
	const vector = new Float32Array(size);
	for (let index = 0; index < size; index++) {
		// A little of the position keeps vectors of texts without features from being zero.
		vector[index] = (features[index % featureCount] ?? 0) * signAt(index) + 0.01 * signAt(index + 7);
	}
	return scaled(vector, 1 / lengthOf(vector));
}

/** Returns the first numbers of a vector of full size, which is shorter than unit length. */
export function embedTruncated(features: Float32Array, size: number, fullSize: number): Float32Array {
	return embed(features, fullSize).slice(0, size);
}

function signAt(index: number): number {
	return (Math.imul(index + 1, 0x9e3779b1) >>> 13) % 2 === 0 ? 1 : -1;
}

function lengthOf(vector: Float32Array): number {
	let sum = 0;
	for (const value of vector) sum += value * value;
	return Math.sqrt(sum);
}

function scaled(vector: Float32Array, factor: number): Float32Array {
	return vector.map((value) => value * factor);
}
