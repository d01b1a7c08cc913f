/** Where on a head's logits the scores 0.5 and 0.8 lie, chosen on rows that the model in question was not trained on. */
import { type ContentHead, contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import type { LabelledRow } from './labelled-rows.ts';
import type { Calibration } from './quantise.ts';
import { isForeign, isHarmlessLookAlike, isOrdinary } from './row-groups.ts';

export interface ScoredRow {
	readonly row: LabelledRow;
	/** By head. */
	readonly logits: readonly number[];
}

interface Target {
	/** The share of ordinary rows that may score 0.5. */
	readonly ordinary: number;
	/** The share of harmless look-alikes, and of sentences that only name a group, that may score 0.8. */
	readonly lookAlikes: number;
	/** False: the lowest threshold that ordinary rows allow is taken, whatever it costs in precision elsewhere. */
	readonly isBalanced: boolean;
}

const usual: Target = { ordinary: 0.0002, lookAlikes: 0.01, isBalanced: true };

const targets: Readonly<Record<ContentHead, Target>> = {
	hate: usual,
	harassment: usual,
	violence: usual,
	sexual: usual,
	self_harm: usual,
	misconduct: { ordinary: 0.0008, lookAlikes: 0.05, isBalanced: false },
	prompt_attack: { ordinary: 0.0012, lookAlikes: 0.01, isBalanced: false },
};

/** From a score of 0.5 to one of 0.8 is at least so far. */
const leastGap = 0.7;
const logitOfBlock = Math.log(0.8 / 0.2);

export function calibrate(rows: readonly ScoredRow[]): Calibration[] {
	return contentHeads.map((head, index) => {
		const { ordinary, lookAlikes, isBalanced } = targets[head];
		const logitsOf = (belongs: (row: LabelledRow) => boolean): number[] =>
			rows.filter(({ row }) => belongs(row)).map(({ logits }) => logits[index] ?? 0);
		const allowed = exceededBy(
			logitsOf((row) => isOrdinary(row) || isForeign(row)),
			ordinary,
		);
		const balanced = balancedThreshold(
			logitsOf((row) => row.labels[head] === 1),
			logitsOf((row) => row.labels[head] === 0),
		);
		const log = isBalanced ? Math.max(allowed, balanced) : allowed;
		const block = Math.max(log + leastGap, exceededBy(logitsOf(isHarmlessLookAlike), lookAlikes));
		const slope = logitOfBlock / (block - log);
		return { slope, shift: -slope * log };
	});
}

/** The least threshold that no more than the share of the values exceed. */
function exceededBy(values: readonly number[], share: number): number {
	const sorted = values.toSorted((a, b) => b - a);
	return (sorted[Math.floor(sorted.length * share)] ?? 0) + 1e-6;
}

/** Where F1 is highest. */
function balancedThreshold(present: readonly number[], absent: readonly number[]): number {
	const all = [...present.map((logit) => ({ logit, hit: 1 })), ...absent.map((logit) => ({ logit, hit: 0 }))];
	let [hits, best, threshold] = [0, 0, 0];
	for (const [index, { logit, hit }] of all.toSorted((a, b) => b.logit - a.logit).entries()) {
		hits += hit;
		const f1 = (2 * hits) / (index + 1 + present.length);
		if (f1 > best) [best, threshold] = [f1, logit];
	}
	return threshold;
}
