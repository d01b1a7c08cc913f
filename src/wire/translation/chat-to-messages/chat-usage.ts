import { totalTokens } from '../../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfMessages } from '../../usage/told-usage.ts';
import { type TranslatedCall, toldToCaller } from '../translation.ts';

/**
 * Usage of a messages answer as chat completions tell it: input includes what a cache gave or took.
 * @returns undefined when nothing is known of it.
 */
export function chatUsage(told: unknown, call: TranslatedCall): JsonObject | undefined {
	const usage = toldToCaller(usageOfMessages(told), call);
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
