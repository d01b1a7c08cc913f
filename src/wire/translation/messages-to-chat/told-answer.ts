/** What chat completions tell, whole and in streams alike. */
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { renderStop as renderStopOf } from '../messages/message-answer.ts';

/** Why the answer ended. A refusal that OpenAI calls an ordinary stop is told as one: nobody should parse it. */
export function renderStop(finishReason: unknown, hasCalls: boolean, refusal: string): JsonObject {
	const reason = refusal === '' ? stopReason(finishReason, hasCalls) : 'refusal';
	return renderStopOf(reason, refusal === '' ? null : refusal);
}

function stopReason(finishReason: unknown, hasCalls: boolean): string {
	if (finishReason === 'length') return 'max_tokens';
	if (finishReason === 'content_filter') return 'refusal';
	return hasCalls ? 'tool_use' : 'end_turn';
}

/** What reasoning models of other vendors show of their reasoning; empty for nothing. */
export function reasoningText({ reasoning_content, reasoning }: JsonObject): string {
	if (typeof reasoning_content === 'string') return reasoning_content;
	return typeof reasoning === 'string' ? reasoning : '';
}

/** A string, or some vendors' list of parts. */
export function contentText(content: unknown): string {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	return content.map((part: unknown) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}
