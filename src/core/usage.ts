/** Tokens of one call in buckets that do not overlap, whatever the provider's own convention is. */
export interface Usage {
	/** Input that was neither read from nor written to a prompt cache. */
	readonly inputTokens: number;
	readonly cacheReadTokens: number;
	/** Written to a prompt cache, all lifetimes. */
	readonly cacheWriteTokens: number;
	/** Part of `cacheWriteTokens` that was written for an hour, where that has a price of its own. */
	readonly cacheWriteHourTokens: number;
	/** Output, reasoning included. */
	readonly outputTokens: number;
	/** Part of `outputTokens`. */
	readonly reasoningTokens: number;
}

export const noUsage: Usage = {
	inputTokens: 0,
	cacheReadTokens: 0,
	cacheWriteTokens: 0,
	cacheWriteHourTokens: 0,
	outputTokens: 0,
	reasoningTokens: 0,
};

/** What counts toward a team's daily tokens: input, cache reads, cache writes and output. */
export function totalTokens(usage: Usage): number {
	return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
}
