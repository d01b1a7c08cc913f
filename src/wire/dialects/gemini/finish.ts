import type { FinishReason } from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type CandidateReader, responseInvalid } from './candidate-reader.ts';

/** The provider's filters, and what it will not repeat or speak. */
const filtered: ReadonlySet<unknown> = new Set([
	'SAFETY',
	'RECITATION',
	'LANGUAGE',
	'BLOCKLIST',
	'PROHIBITED_CONTENT',
	'SPII',
	'MODEL_ARMOR',
	'IMAGE_SAFETY',
	'IMAGE_PROHIBITED_CONTENT',
	'IMAGE_RECITATION',
]);

/** The model failed: what it said before stands, and nothing is no answer. */
const failed: ReadonlySet<unknown> = new Set([
	'MALFORMED_FUNCTION_CALL',
	'UNEXPECTED_TOOL_CALL',
	'TOO_MANY_TOOL_CALLS',
	'MISSING_THOUGHT_SIGNATURE',
	'MALFORMED_RESPONSE',
	'NO_IMAGE',
	'IMAGE_OTHER',
	'OTHER',
]);

/** @throws Fault `provider_answer_invalid` for an answer that is none. */
export function finishOf({ finishReason, hasParts, hasCalls }: CandidateReader): FinishReason {
	if (finishReason === 'MAX_TOKENS') return 'length';
	if (filtered.has(finishReason)) return 'filtered';
	if (typeof finishReason === 'string' && failed.has(finishReason) && !hasParts) {
		throw responseInvalid(`with nothing but \`${finishReason}\``);
	}
	return hasCalls ? 'calls' : 'stop';
}

export function finishWarnings(body: JsonObject): readonly string[] {
	const reasons = candidatesOf(body).map(({ finishReason }) => finishReason);
	return [...new Set(reasons.filter((reason) => failed.has(reason)))].map((reason) => `the model broke off with ${String(reason)}`);
}

/** Why the prompt got no answer; undefined: nothing was said of it. */
export function blockReasonOf({ promptFeedback }: JsonObject): string | undefined {
	const reason = isJsonObject(promptFeedback) ? promptFeedback.blockReason : undefined;
	return typeof reason === 'string' ? reason : undefined;
}

export function candidatesOf({ candidates }: JsonObject): readonly JsonObject[] {
	return Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];
}
