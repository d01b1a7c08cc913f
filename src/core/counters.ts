/** What counters say of a team: of its current UTC minute, its current UTC day and its budgets. */
export interface CounterReading {
	/** The counters' own clock, unix milliseconds. */
	readonly nowMs: number;
	/** Admitted calls of the current UTC minute. */
	readonly requestsThisMinute: number;
	/** Tokens settled of calls that were admitted in the current UTC day. */
	readonly tokensToday: number;
	/** Tokens of the current UTC day that requests in flight reserve. */
	readonly reservedTokens: number;
	/** Of the budgets asked for, in their order. */
	readonly budgets: readonly BudgetReading[];
	/** Changes when the team's counters are lost and summed up again. Undefined for counters in memory. */
	readonly generation?: string;
}

export interface BudgetPeriod {
	/** The team's own name for it: the same name in two teams is two budgets. */
	readonly budget: string;
	/** UTC month such as `2026-11`. */
	readonly period: string;
}

export interface BudgetReading extends BudgetPeriod {
	readonly settledNanoUsd: bigint;
	readonly heldNanoUsd: bigint;
}

export type Admission = Admitted | Declined;

export interface Admitted {
	readonly isAdmitted: true;
	readonly reading: CounterReading;
	/** Amount reserved on each budget, where less than the amount asked for may be reserved. */
	readonly reservedNanoUsd?: bigint;
	/** The counters could not be reached: no rate limit was checked, and the reading is this process's own. */
	readonly isUncounted?: true;
}

export interface Declined {
	readonly isAdmitted: false;
	/** `store`: the counters could not be reached, and budgets are not to be trusted without them. */
	readonly binding: 'rpm' | 'daily_tokens' | 'budget' | 'store';
	/** The budget that binds. */
	readonly budget?: string;
	readonly reading: CounterReading;
}
