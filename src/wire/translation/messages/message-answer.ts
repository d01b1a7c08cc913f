/** How an answer is told in the messages format, whichever provider gave it. */
import type { Usage } from '../../../core/usage.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { fitName } from '../fit-name.ts';
import type { TranslatedCall } from '../translation.ts';

export function messageId(id: unknown, { requestId }: TranslatedCall): string {
	const own = typeof id === 'string' && id !== '' ? id : requestId;
	return `msg_${own.replace(/^(?:chatcmpl-|msg_)/, '')}`;
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

/**
 * Buckets do not overlap, unlike other vendors'.
 * @param usage undefined where the provider has told nothing, yet or at all: then the input is what the gateway takes it for.
 */
export function renderUsage(usage: Usage | undefined, { estimatedInputTokens }: TranslatedCall): JsonObject {
	return {
		input_tokens: usage?.inputTokens ?? estimatedInputTokens ?? 0,
		cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
		cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
		output_tokens: usage?.outputTokens ?? 0,
		...(usage !== undefined && usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
	};
}

export function renderStop(reason: string, explanation: string | null): JsonObject {
	const details = { type: 'refusal', category: null, explanation };
	return { stop_reason: reason, stop_sequence: null, stop_details: reason === 'refusal' ? details : null };
}

/** Unsigned reasoning is shown only to callers that asked to see thinking. */
export function wantsThinking({ request: { thinking } }: TranslatedCall): boolean {
	return isJsonObject(thinking) && thinking.type !== 'disabled' && thinking.display !== 'omitted';
}
