/** Counters of a team: for its current UTC minute, its current UTC day and its budgets. */
export interface CounterReading {
	/** Time of the counters' own clock, Unix milliseconds. */
	readonly nowMs: number;
	/** Admitted requests of the current UTC minute. */
	readonly requestsThisMinute: number;
	/** Settled tokens of requests that were admitted in the current UTC day. */
	readonly tokensToday: number;
	/** Tokens of the current UTC day that in-flight requests reserve. */
	readonly reservedTokens: number;
	/** Readings of the requested budgets, in their order. */
	readonly budgets: readonly BudgetReading[];
	/** Changes when the team's counters are lost and summed up again from the ledger. Undefined for counters in memory. */
	readonly generation?: string;
}

export interface BudgetPeriod {
	/** Name of the budget within its team: the same name in two teams is two budgets. */
	readonly budget: string;
	/** UTC month, such as `2026-11`. */
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
	readonly binding: 'rpm' | 'daily_tokens' | 'budget' | 'store';
	/** Name of the exceeded budget. */
	readonly budget?: string;
	readonly reading: CounterReading;
}
