/** Tokens of one request in buckets that do not overlap, whatever the provider's own convention is. */
export interface Usage {
	/** Input that was neither read from nor written to a prompt cache. */
	readonly inputTokens: number;
	readonly cacheReadTokens: number;
	/** Tokens written to a prompt cache, all lifetimes. */
	readonly cacheWriteTokens: number;
	/** Part of `cacheWriteTokens` with a lifetime of one hour, if that has a separate price. */
	readonly cacheWriteHourTokens: number;
	/** Output, including reasoning. */
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

/** Returns the tokens that count toward a team's daily limit: input, cache reads, cache writes and output. */
export function totalTokens(usage: Usage): number {
	return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
}
