import type { CounterReading, Declined } from '../../core/counters.ts';
import type { RateLimits } from './call-limits.ts';

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
