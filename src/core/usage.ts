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
	/** Calls of hosted tools that are charged in addition to tokens; absent without such calls. */
	readonly toolCalls?: ToolCalls;
}

/** Tools that a provider runs and charges by the call. */
export const hostedTools = ['web_search', 'file_search', 'code_interpreter', 'image_generation'] as const;
export type HostedTool = (typeof hostedTools)[number];

/** Number of charged calls; for the code interpreter, of its containers. */
export type ToolCalls = Readonly<Partial<Record<HostedTool, number>>>;

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
