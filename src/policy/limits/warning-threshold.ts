/**
 * Whether this booking took a budget to its warning threshold. Bookings are atomic, each begins where another ended: so of all the
 * bookings of a period exactly one crosses, whoever makes it.
 */
export function crossed(beforeNanoUsd: bigint, afterNanoUsd: bigint, limitNanoUsd: bigint, percent: number): boolean {
	const thresholdNanoUsd = limitNanoUsd * BigInt(percent);
	return beforeNanoUsd * 100n < thresholdNanoUsd && afterNanoUsd * 100n >= thresholdNanoUsd;
}
