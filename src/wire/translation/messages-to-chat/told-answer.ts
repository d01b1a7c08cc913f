/** How an answer is told in the messages format, whole and in streams alike. */
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfChat } from '../../usage/told-usage.ts';
import { fitName } from '../fit-name.ts';
import type { TranslatedCall } from '../translation.ts';

export function messageId(chatId: unknown, { requestId }: TranslatedCall): string {
	const id = typeof chatId === 'string' && chatId !== '' ? chatId : requestId;
	return `msg_${id.replace(/^(?:chatcmpl-|msg_)/, '')}`;
}

/** The provider's name of the model, as same-format answers have it. */
export function modelName(told: unknown, { model }: TranslatedCall): string {
	return typeof told === 'string' && told !== '' ? told : model;
}

/** The messages format allows 128 characters and more; what its vendor cannot take back is changed here. */
const longestToolUseId = 128;

/** @param position among the answer's calls, for a call without an id. */
export function toolUseId(callId: unknown, position: number, { requestId }: TranslatedCall): string {
	return fitName(typeof callId === 'string' && callId !== '' ? callId : `toolu_${requestId}_${position}`, longestToolUseId);
}

/** Buckets do not overlap, unlike OpenAI's. Zeros when the provider told nothing: clients fail without. */
export function renderUsage(told: unknown): JsonObject {
	const usage = usageOfChat(told);
	return {
		input_tokens: usage?.inputTokens ?? 0,
		cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
		cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
		output_tokens: usage?.outputTokens ?? 0,
		...(usage !== undefined && usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
	};
}

/** Why the answer ended. A refusal that OpenAI calls an ordinary stop is told as one: nobody should parse it. */
export function renderStop(finishReason: unknown, hasCalls: boolean, refusal: string): JsonObject {
	const reason = refusal === '' ? stopReason(finishReason, hasCalls) : 'refusal';
	const details = { type: 'refusal', category: null, explanation: refusal === '' ? null : refusal };
	return { stop_reason: reason, stop_sequence: null, stop_details: reason === 'refusal' ? details : null };
}

function stopReason(finishReason: unknown, hasCalls: boolean): string {
	if (finishReason === 'length') return 'max_tokens';
	if (finishReason === 'content_filter') return 'refusal';
	return hasCalls ? 'tool_use' : 'end_turn';
}

/** Unsigned reasoning is shown only to callers that asked to see thinking. */
export function wantsThinking({ request: { thinking } }: TranslatedCall): boolean {
	return isJsonObject(thinking) && thinking.type !== 'disabled' && thinking.display !== 'omitted';
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
