import type { CounterReading, Rejected } from '../../core/counters.ts';

/** Limits of a team's requests. `null` is unlimited. */
export interface RateLimits {
	readonly requestsPerMinute: number | null;
	readonly dailyTokens: number | null;
}

/** Budget as requests are checked against it. */
export interface BudgetLimit {
	/** Id that operators see. */
	readonly id: string;
	/** Name in the counters, derived from its scope, so that a budget that is created again continues with the amount already spent. */
	readonly budget: string;
	/** Model whose requests count; null: all requests of the team. */
	readonly model: string | null;
	/** Maximum spend: the budget's hard limit. */
	readonly limitNanoUsd: bigint;
}

export interface RequestedReservation {
	readonly budget: string;
	readonly limitNanoUsd: bigint;
	readonly amountNanoUsd: bigint;
	/** Check of the reservation, see `BudgetReservation`. */
	readonly check: 'before' | 'after' | 'fit';
	readonly minNanoUsd?: bigint;
}

/**
 * Decides what counters with this reading would return for a request, without an update. Every store of counters uses it.
 * @param reading with the budgets of the reservations. @returns undefined when the request would be admitted.
 */
export function checkReading(
	reading: CounterReading,
	{ requestsPerMinute, dailyTokens }: RateLimits,
	reservations: readonly RequestedReservation[],
): Rejected | undefined {
	if (requestsPerMinute !== null && reading.requestsThisMinute >= requestsPerMinute) return { isAdmitted: false, binding: 'rpm', reading };
	if (dailyTokens !== null && reading.tokensToday + reading.reservedTokens >= dailyTokens) {
		return { isAdmitted: false, binding: 'daily_tokens', reading };
	}
	const bound = reservations.find(({ budget, limitNanoUsd, amountNanoUsd, check, minNanoUsd = 0n }) => {
		const counter = reading.budgets.find((one) => one.budget === budget);
		const takenNanoUsd = (counter?.settledNanoUsd ?? 0n) + (counter?.reservedNanoUsd ?? 0n);
		const shouldFit = check === 'fit' ? minNanoUsd : check === 'after' ? amountNanoUsd : 0n;
		return takenNanoUsd >= limitNanoUsd || takenNanoUsd + shouldFit > limitNanoUsd;
	});
	return bound && { isAdmitted: false, binding: 'budget', budget: bound.budget, reading };
}

/**
 * Tells whether this booking reached a budget's warning threshold. Bookings are atomic, and each begins where another ended, so exactly one
 * booking of a period crosses it, in any process.
 */
export function crossed(beforeNanoUsd: bigint, afterNanoUsd: bigint, limitNanoUsd: bigint, percent: number): boolean {
	const thresholdNanoUsd = limitNanoUsd * BigInt(percent);
	return beforeNanoUsd * 100n < thresholdNanoUsd && afterNanoUsd * 100n >= thresholdNanoUsd;
}
