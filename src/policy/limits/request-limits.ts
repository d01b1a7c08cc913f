import type { BudgetScope, BudgetWindow } from '../../core/budget.ts';
import { type BudgetPeriod, type CounterReading, countOf, type RateLimit, type Rejected } from '../../core/counters.ts';

/** Budget as requests are checked against it. */
export interface BudgetLimit extends BudgetScope, BudgetPeriod {
	/** Id that operators see. */
	readonly id: string;
	readonly window: BudgetWindow;
	/** Maximum spend: the budget's hard limit, or what it was raised to. */
	readonly limitNanoUsd: bigint;
	/** False: the limit is decided and reported, and rejects nothing. */
	readonly isEnforced: boolean;
	/** Effect if a request exceeds a budget that is not enforced: a record, a warning to the client, or nothing. */
	readonly report: 'monitor' | 'warn' | 'nothing';
	/** Model that serves what the budget rejects; null: none. */
	readonly fallbackModel: string | null;
}

/** Limit of a budget that is counted and not enforced. */
export const noLimitNanoUsd = 10n ** 20n;

/** Reservation of a request on a budget, by the request's price. */
export type ReservedPart = Pick<RequestedReservation, 'amountNanoUsd' | 'check' | 'minNanoUsd'>;

/** Returns what a request reserves: one entry for each counter, with the strictest limit that is enforced there. */
export function reservationsOn(budgets: readonly BudgetLimit[], part: ReservedPart): readonly RequestedReservation[] {
	const [first] = budgets;
	if (budgets.length === 1 && first !== undefined) {
		const limitNanoUsd = first.isEnforced ? first.limitNanoUsd : noLimitNanoUsd;
		return [{ budget: first.budget, period: first.period, limitNanoUsd, ...part }];
	}
	const reservations: RequestedReservation[] = [];
	for (const { budget, period, isEnforced, limitNanoUsd: own } of budgets) {
		const limitNanoUsd = isEnforced ? own : noLimitNanoUsd;
		const index = reservations.findIndex((one) => one.budget === budget && one.period === period);
		const known = reservations[index];
		if (known === undefined) reservations.push({ budget, period, limitNanoUsd, ...part });
		else if (limitNanoUsd < known.limitNanoUsd) reservations[index] = { ...known, limitNanoUsd };
	}
	return reservations;
}

/**
 * Returns the budgets that are not enforced and would have rejected an admitted request.
 * @param reading after the admission. @param reservedNanoUsd what the request reserved on each budget.
 */
export function exceededWithoutEffect(
	budgets: readonly BudgetLimit[],
	reading: CounterReading,
	part: ReservedPart,
	reservedNanoUsd: bigint,
): readonly BudgetLimit[] {
	return budgets.filter((limit) => {
		if (limit.report === 'nothing') return false;
		const counter = reading.budgets.find((one) => one.budget === limit.budget && one.period === limit.period);
		const takenNanoUsd = (counter?.settledNanoUsd ?? 0n) + (counter?.reservedNanoUsd ?? 0n) - reservedNanoUsd;
		return isExceeded(takenNanoUsd, limit.limitNanoUsd, part);
	});
}

function isExceeded(takenNanoUsd: bigint, limitNanoUsd: bigint, { check, amountNanoUsd, minNanoUsd = 0n }: ReservedPart): boolean {
	const shouldFit = check === 'fit' ? minNanoUsd : check === 'after' ? amountNanoUsd : 0n;
	return takenNanoUsd >= limitNanoUsd || takenNanoUsd + shouldFit > limitNanoUsd;
}

export interface RequestedReservation extends BudgetPeriod {
	readonly limitNanoUsd: bigint;
	readonly amountNanoUsd: bigint;
	/** Check of the reservation, see `BudgetReservation`. */
	readonly check: 'before' | 'after' | 'fit';
	readonly minNanoUsd?: bigint;
}

/**
 * Decides what counters with this reading would return for a request, without an update. Every store of counters uses it.
 * @param reading with these limits, and the budgets of the reservations. @returns undefined when the request would be admitted.
 */
export function checkReading(
	reading: CounterReading,
	limits: readonly RateLimit[],
	reservations: readonly RequestedReservation[],
): Rejected | undefined {
	for (const limit of limits) {
		const { used, reserved } = countOf(reading, limit);
		if (limit.limit === null || used + reserved < limit.limit) continue;
		return { isAdmitted: false, binding: limit.kind, ...(limit.models !== undefined && { models: limit.models }), reading };
	}
	const bound = reservations.find((reservation) => {
		const counter = reading.budgets.find((one) => one.budget === reservation.budget && one.period === reservation.period);
		return isExceeded((counter?.settledNanoUsd ?? 0n) + (counter?.reservedNanoUsd ?? 0n), reservation.limitNanoUsd, reservation);
	});
	return bound && { isAdmitted: false, binding: 'budget', budget: bound.budget, period: bound.period, reading };
}

/**
 * Tells whether this booking reached a budget's warning threshold. Bookings are atomic, and each begins where another ended, so exactly one
 * booking of a period crosses it, in any process.
 */
export function crossed(beforeNanoUsd: bigint, afterNanoUsd: bigint, limitNanoUsd: bigint, percent: number): boolean {
	const thresholdNanoUsd = limitNanoUsd * BigInt(percent);
	return beforeNanoUsd * 100n < thresholdNanoUsd && afterNanoUsd * 100n >= thresholdNanoUsd;
}
