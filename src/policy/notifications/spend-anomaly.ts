/** Compares what a team spent in an hour with the same hour of the days before. */

/** Days before the hour whose same hours are compared. */
export const comparedDays = 28;

/** Days of spend that a team needs before its hours are judged. */
export const minKnownDays = 7;

const deviations = 3;
const minRatio = 2;

export interface SpendAnomaly {
	readonly spentNanoUsd: bigint;
	readonly meanNanoUsd: bigint;
	readonly deviationNanoUsd: bigint;
	/** Number of hours that the mean was taken of. */
	readonly comparedHours: number;
}

/**
 * Returns the anomaly if the hour cost more than the mean plus three standard deviations, more than twice the mean, and at least the minimum.
 * @param before cost of the same hour of each day before, oldest first. Days before the first cost do not count. Amounts are not negative.
 */
export function findSpendAnomaly(spentNanoUsd: bigint, before: readonly bigint[], minNanoUsd: bigint): SpendAnomaly | undefined {
	const first = before.findIndex((amount) => amount > 0n);
	const known = first === -1 ? [] : before.slice(first);
	if (known.length < minKnownDays || spentNanoUsd < minNanoUsd) return undefined;
	const amounts = known.map(Number);
	const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
	const variance = amounts.reduce((sum, amount) => sum + (amount - mean) ** 2, 0) / amounts.length;
	const deviation = Math.sqrt(variance);
	const spent = Number(spentNanoUsd);
	if (spent <= mean + deviations * deviation || spent <= minRatio * mean) return undefined;
	return {
		spentNanoUsd,
		meanNanoUsd: BigInt(Math.round(mean)),
		deviationNanoUsd: BigInt(Math.round(deviation)),
		comparedHours: known.length,
	};
}
