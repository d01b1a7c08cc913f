/** Kinds of limits on rates. `rpm` and `tpm` count in a UTC minute, `daily_tokens` in a UTC day, `concurrent_requests` at this moment. */
export type RateKind = 'rpm' | 'daily_tokens' | 'tpm' | 'concurrent_requests';

/** Limit on the requests or tokens of a team. */
export interface RateLimit {
	readonly kind: RateKind;
	/** Pattern of the models whose requests count, for `rpm` and `tpm`; undefined: all models. */
	readonly models?: string;
	/** Null: the request is counted and not limited. */
	readonly limit: number | null;
}

export interface RateCount {
	/** Requests, or tokens of requests that have ended. */
	readonly used: number;
	/** Tokens that in-flight requests reserve. */
	readonly reserved: number;
}

export interface RateReading extends RateCount {
	readonly kind: RateKind;
	readonly models?: string;
}

/** Returns true for the two counters that every request of a team counts in, whatever its limits are. */
export function isCountedAlways({ kind, models }: Pick<RateLimit, 'kind' | 'models'>): boolean {
	return kind === 'daily_tokens' || (kind === 'rpm' && models === undefined);
}

/** Returns the counter of a limit. @throws TypeError if the reading was taken without it. */
export function countOf(reading: CounterReading, { kind, models }: Pick<RateLimit, 'kind' | 'models'>): RateCount {
	if (kind === 'daily_tokens') return { used: reading.tokensToday, reserved: reading.reservedTokens };
	if (kind === 'rpm' && models === undefined) return { used: reading.requestsThisMinute, reserved: 0 };
	const count = reading.rates.find((one) => one.kind === kind && one.models === models);
	if (count === undefined) throw new TypeError(`the counters were read without ${kind}`);
	return count;
}

/** Counters of a team: for its current UTC minute, its current UTC day, its further limits and its budgets. */
export interface CounterReading {
	/** Time of the counters' own clock, Unix milliseconds. */
	readonly nowMs: number;
	/** Admitted requests of the current UTC minute. */
	readonly requestsThisMinute: number;
	/** Settled tokens of requests that were admitted in the current UTC day. */
	readonly tokensToday: number;
	/** Tokens of the current UTC day that in-flight requests reserve. */
	readonly reservedTokens: number;
	/** Readings of the requested limits that are not counted always, in their order. */
	readonly rates: readonly RateReading[];
	/** Readings of the requested budgets, in their order. */
	readonly budgets: readonly BudgetReading[];
	/** Changes when the team's counters are lost and summed up again from the ledger. Undefined for counters in memory. */
	readonly generation?: string;
}

export interface BudgetPeriod {
	/** Name of the budget within its team: the same name in two teams is two budgets. */
	readonly budget: string;
	/** Span of time whose cost counts: a UTC month such as `2026-11`, or its first UTC hour and its hours, such as `2026-11-21T05+24`. */
	readonly period: string;
}

export interface BudgetReading extends BudgetPeriod {
	readonly settledNanoUsd: bigint;
	readonly reservedNanoUsd: bigint;
}

export type Admission = Admitted | Rejected;

export interface Admitted {
	readonly isAdmitted: true;
	readonly reading: CounterReading;
	/** Amount reserved on each budget, if less than the requested amount may be reserved. */
	readonly reservedNanoUsd?: bigint;
	/** The counters were unreachable: no rate limit was checked, and the reading covers only this process. */
	readonly isUncounted?: true;
}

export interface Rejected {
	readonly isAdmitted: false;
	/** `store`: the counters were unreachable, and budgets cannot be enforced without them. */
	readonly binding: RateKind | 'budget' | 'store';
	/** Pattern of the exceeded rate limit, if it is limited to models. */
	readonly models?: string;
	/** Name and period of the exceeded budget. */
	readonly budget?: string;
	readonly period?: string;
	readonly reading: CounterReading;
}
