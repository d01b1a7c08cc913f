import { totalTokens } from '../../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfMessages } from '../../usage/told-usage.ts';

/**
 * Usage of a messages answer as chat completions tell it: input includes what a cache gave or took.
 * @returns undefined when the provider told of none.
 */
export function chatUsage(told: unknown): JsonObject | undefined {
	const usage = usageOfMessages(told);
	if (usage === undefined) return undefined;
	const details = isJsonObject(told) && isJsonObject(told.output_tokens_details) ? told.output_tokens_details : {};
	return {
		prompt_tokens: usage.inputTokens + usage.cacheWriteTokens + usage.cacheReadTokens,
		completion_tokens: usage.outputTokens,
		total_tokens: totalTokens(usage),
		prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
		...(typeof details.thinking_tokens === 'number' && { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
	};
}
