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
