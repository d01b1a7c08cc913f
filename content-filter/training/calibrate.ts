/** Chooses the logits of each head that map to the scores 0.5 and 0.8, on rows that the model was not trained on. */
import { type ContentHead, contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import type { LabelledRow } from './labelled-rows.ts';
import type { Calibration } from './quantise.ts';
import { isHarmlessLookAlike, isOrdinary, isVendorSpecific } from './row-groups.ts';

export interface ScoredRow {
	readonly row: LabelledRow;
	readonly logits: readonly number[];
}

interface Target {
	/** Maximum share of ordinary rows with a score of 0.5 or more. */
	readonly ordinary: number;
	/** Maximum share of harmless look-alikes, and of sentences that only name a group, with a score of 0.8 or more. */
	readonly lookAlikes: number;
	/**
	 * Weight of recall relative to precision when the threshold balances the two. 0 selects the lowest threshold that ordinary rows allow,
	 * whatever the precision elsewhere.
	 */
	readonly recallWeight: number;
}

const usual: Target = { ordinary: 0.0002, lookAlikes: 0.01, recallWeight: 1 };

const targets: Readonly<Record<ContentHead, Target>> = {
	hate: usual,
	harassment: usual,
	violence: { ...usual, recallWeight: 1.4 },
	sexual: { ...usual, lookAlikes: 0.025, recallWeight: 1.4 },
	self_harm: usual,
	misconduct: { ordinary: 0.0008, lookAlikes: 0.04, recallWeight: 0 },
	prompt_attack: { ordinary: 0.0006, lookAlikes: 0.01, recallWeight: 0 },
};

/** Minimum distance between the logits of the scores 0.5 and 0.8. */
const minGap = 0.7;
const logitOfBlock = Math.log(0.8 / 0.2);

export function calibrate(rows: readonly ScoredRow[]): Calibration[] {
	return contentHeads.map((head, index) => {
		const { ordinary, lookAlikes, recallWeight } = targets[head];
		const logitsOf = (belongs: (row: LabelledRow) => boolean): number[] =>
			rows.filter(({ row }) => belongs(row)).map(({ logits }) => logits[index] ?? 0);
		const allowed = exceededBy(
			logitsOf((row) => isOrdinary(row) || isVendorSpecific(row)),
			ordinary,
		);
		const balanced = balancedThreshold(
			logitsOf((row) => row.labels[head] === 1),
			logitsOf((row) => row.labels[head] === 0),
			recallWeight,
		);
		const log = recallWeight > 0 ? Math.max(allowed, balanced) : allowed;
		const block = Math.max(log + minGap, exceededBy(logitsOf(isHarmlessLookAlike), lookAlikes));
		const slope = logitOfBlock / (block - log);
		return { slope, shift: -slope * log };
	});
}

/** Returns the lowest threshold that at most this share of the values exceeds. */
function exceededBy(values: readonly number[], share: number): number {
	const sorted = values.toSorted((a, b) => b - a);
	return (sorted[Math.floor(sorted.length * share)] ?? 0) + 1e-6;
}

/** Returns the threshold with the highest weighted harmonic mean of precision and recall; with equal weights, F1. */
function balancedThreshold(present: readonly number[], absent: readonly number[], recallWeight: number): number {
	const all = [...present.map((logit) => ({ logit, hit: 1 })), ...absent.map((logit) => ({ logit, hit: 0 }))];
	let [hits, best, threshold] = [0, 0, 0];
	for (const [index, { logit, hit }] of all.toSorted((a, b) => b.logit - a.logit).entries()) {
		hits += hit;
		const mean = ((1 + recallWeight) * hits) / (index + 1 + recallWeight * present.length);
		if (mean > best) [best, threshold] = [mean, logit];
	}
	return threshold;
}
