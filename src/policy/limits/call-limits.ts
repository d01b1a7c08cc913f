import type { CounterReading, Declined } from '../../core/counters.ts';

/** What bounds the calls of a team. `null` is unlimited. */
export interface RateLimits {
	readonly requestsPerMinute: number | null;
	readonly dailyTokens: number | null;
}

/** A budget as calls meet it. */
export interface BudgetLimit {
	/** As people know it. */
	readonly id: string;
	/** As the counters name it: by what it bounds, so that a budget which is made anew goes on from what was spent. */
	readonly budget: string;
	/** Bounds calls of this model alone; null: all calls of the team. */
	readonly model: string | null;
	/** What may be spent at most: the budget's hard limit. */
	readonly limitNanoUsd: bigint;
}

export interface WantedHold {
	readonly budget: string;
	readonly limitNanoUsd: bigint;
	readonly amountNanoUsd: bigint;
	/** See `BudgetHold`. */
	readonly check: 'before' | 'after' | 'fit';
	readonly leastNanoUsd?: bigint;
}

/**
 * What counters that say this would answer a call, without asking them to take anything. Every store of counters decides so.
 * @param reading with the budgets of the holds. @returns undefined when the call would be admitted.
 */
export function judgeReading(
	reading: CounterReading,
	{ requestsPerMinute, dailyTokens }: RateLimits,
	holds: readonly WantedHold[],
): Declined | undefined {
	if (requestsPerMinute !== null && reading.requestsThisMinute >= requestsPerMinute) return { isAdmitted: false, binding: 'rpm', reading };
	if (dailyTokens !== null && reading.tokensToday + reading.reservedTokens >= dailyTokens) {
		return { isAdmitted: false, binding: 'daily_tokens', reading };
	}
	const bound = holds.find(({ budget, limitNanoUsd, amountNanoUsd, check, leastNanoUsd = 0n }) => {
		const counter = reading.budgets.find((one) => one.budget === budget);
		const takenNanoUsd = (counter?.settledNanoUsd ?? 0n) + (counter?.heldNanoUsd ?? 0n);
		const mustFit = check === 'fit' ? leastNanoUsd : check === 'after' ? amountNanoUsd : 0n;
		return takenNanoUsd >= limitNanoUsd || takenNanoUsd + mustFit > limitNanoUsd;
	});
	return bound && { isAdmitted: false, binding: 'budget', budget: bound.budget, reading };
}

/**
 * Whether this booking took a budget to its warning threshold. Bookings are atomic, each begins where another ended: so of all the
 * bookings of a period exactly one crosses, whoever makes it.
 */
export function crossed(beforeNanoUsd: bigint, afterNanoUsd: bigint, limitNanoUsd: bigint, percent: number): boolean {
	const thresholdNanoUsd = limitNanoUsd * BigInt(percent);
	return beforeNanoUsd * 100n < thresholdNanoUsd && afterNanoUsd * 100n >= thresholdNanoUsd;
}
