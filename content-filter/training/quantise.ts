/** Converts learned numbers to the format of the weights file. */
import { contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import { bucketCount, packWeights } from '../../src/policy/guardrails/content/content-weights.ts';
import type { Fitted } from './fit.ts';
import type { LexiconClasses } from './labelled-rows.ts';

/** Maps a head's learned logit to the one whose sigmoid is the score: `slope * logit + shift`. */
export interface Calibration {
	readonly slope: number;
	readonly shift: number;
}

export const uncalibrated: readonly Calibration[] = contentHeads.map(() => ({ slope: 1, shift: 0 }));

const heads = contentHeads.length;

/** One in this many weights of a head may exceed a byte and is clipped. */
const oneCutIn = 5000;

export function quantise(
	{ weights, intercepts }: Fitted,
	{ names, classes }: LexiconClasses,
	calibrations: readonly Calibration[],
): Uint8Array {
	const units = contentHeads.map((_, head) => {
		const sizes = Float64Array.from({ length: bucketCount }, (_none, bucket) => Math.abs(weights[bucket * heads + head] ?? 0));
		const used = sizes.filter((size) => size > 0).toSorted();
		return (used[Math.floor(used.length * (1 - 1 / oneCutIn))] ?? 1) / 127;
	});
	const inUnits = (value: number, index: number): number => Math.round(value / (units[index % heads] ?? 1));
	const classRows = names.length * heads;
	const entries = [...classes].toSorted(([a], [b]) => a - b);
	return packWeights({
		intercepts: Float32Array.from(calibrations, ({ slope, shift }, head) => slope * (intercepts[head] ?? 0) + shift),
		scales: Float32Array.from(calibrations, ({ slope }, head) => slope * (units[head] ?? 0)),
		classCount: names.length,
		lexiconHashes: Int32Array.from(entries, ([hash]) => hash),
		lexiconClasses: Uint32Array.from(entries, ([, bits]) => bits),
		classWeights: Int32Array.from(weights.subarray(bucketCount * heads, bucketCount * heads + classRows), inUnits),
		pairWeights: Int32Array.from(weights.subarray(bucketCount * heads + classRows), inUnits),
		buckets: Int8Array.from(weights.subarray(0, bucketCount * heads), (value, index) =>
			Math.max(-127, Math.min(127, inUnits(value, index))),
		),
	});
}
