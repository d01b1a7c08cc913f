import { totalTokens, type Usage } from '../../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { TranslatedCall } from '../translation.ts';

/** Whether a stream is to end with it. */
export function wantsUsage({ request: { stream_options: options } }: TranslatedCall): boolean {
	return isJsonObject(options) && options.include_usage === true;
}

/** Input includes what a cache gave or took, output what was thought. */
export function renderUsage(usage: Usage): JsonObject {
	return {
		prompt_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
		completion_tokens: usage.outputTokens,
		total_tokens: totalTokens(usage),
		prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
		completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
	};
}
