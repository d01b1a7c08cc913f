/** Limits that a team has unless it has its own. `null` is unlimited. */
export interface Tier {
	readonly requestsPerMinute: number | null;
	readonly dailyTokens: number | null;
	/** Decimal US dollars, such as `100.00`. */
	readonly monthlyBudgetUsd: string | null;
}
