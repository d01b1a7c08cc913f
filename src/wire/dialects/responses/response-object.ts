import { totalTokens, type Usage } from '../../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

/** Both details are always written, because clients require them. */
export function writeUsage(usage: Usage | undefined): JsonObject {
	return {
		input_tokens: usage === undefined ? 0 : usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
		input_tokens_details: { cached_tokens: usage?.cacheReadTokens ?? 0, cache_write_tokens: usage?.cacheWriteTokens ?? 0 },
		output_tokens: usage?.outputTokens ?? 0,
		output_tokens_details: { reasoning_tokens: usage?.reasoningTokens ?? 0 },
		total_tokens: usage === undefined ? 0 : totalTokens(usage),
	};
}

/** Returns the settings of a request as OpenAI repeats them in a response, with its defaults. */
export function echoOf(request: JsonObject): JsonObject {
	const { reasoning, text } = request;
	return {
		access_programs: null,
		background: false,
		instructions: request.instructions ?? null,
		max_output_tokens: request.max_output_tokens ?? null,
		max_tool_calls: request.max_tool_calls ?? null,
		metadata: request.metadata ?? {},
		parallel_tool_calls: request.parallel_tool_calls ?? true,
		previous_response_id: null,
		prompt_cache_key: request.prompt_cache_key ?? null,
		reasoning: { effort: null, summary: null, ...(isJsonObject(reasoning) && reasoning) },
		safety_identifier: request.safety_identifier ?? null,
		service_tier: 'default',
		store: false,
		temperature: request.temperature ?? 1,
		text: { format: { type: 'text' }, verbosity: 'medium', ...(isJsonObject(text) && text) },
		tool_choice: request.tool_choice ?? 'auto',
		tools: request.tools ?? [],
		top_logprobs: request.top_logprobs ?? 0,
		top_p: request.top_p ?? 1,
		truncation: request.truncation ?? 'disabled',
		user: request.user ?? null,
	};
}
