import { totalTokens } from '../../../core/usage.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { usageOfGemini } from '../../usage/told-usage.ts';

/** Usage of a Gemini answer as chat completions tell it. @returns undefined when the provider told of none. */
export function chatUsage(told: unknown): JsonObject | undefined {
	const usage = usageOfGemini(told);
	if (usage === undefined) return undefined;
	return {
		prompt_tokens: usage.inputTokens + usage.cacheReadTokens,
		completion_tokens: usage.outputTokens,
		total_tokens: totalTokens(usage),
		prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
		completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
	};
}
