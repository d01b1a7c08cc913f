import type { InputContent } from '../../../core/cost-factors.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { attachedTo, contentsOf, countTools, type PartRules } from '../../usage/request-facts.ts';

const rules: PartRules = {
	// Thinking and tool calls in parts are extensions of compatible servers.
	texts: new Set(['text', 'refusal', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use']),
	holders: ['image_url', 'input_audio', 'file'],
};

export function chatInputContent(members: JsonObject): InputContent {
	const { messages, functions, response_format, web_search_options } = members;
	const { attachments, attachedBytes } = attachedTo(contentsOf(messages), rules);
	const { hasTools, definedTools, serverTools } = countTools(members);
	return {
		attachments: attachments + audioTurns(messages) + (hasCachedContent(members) ? 1 : 0),
		attachedBytes,
		hasTools: hasTools || (Array.isArray(functions) && functions.length > 0),
		hasSchema: isJsonObject(response_format) && response_format.type !== 'text',
		definedTools,
		serverTools: serverTools + (isJsonObject(web_search_options) ? 1 : 0),
	};
}

/** Counts earlier audio responses, which the provider stores. */
function audioTurns(messages: unknown): number {
	return Array.isArray(messages) ? messages.filter((turn) => isJsonObject(turn) && isJsonObject(turn.audio)).length : 0;
}

/** Content cached at the provider, by Gemini's extension: input in addition to the request. */
function hasCachedContent({ extra_body, google }: JsonObject): boolean {
	return [google, isJsonObject(extra_body) ? extra_body.google : undefined].some(
		(own) => isJsonObject(own) && own.cached_content !== undefined,
	);
}
