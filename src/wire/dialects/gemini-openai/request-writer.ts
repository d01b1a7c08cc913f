import { noSignature, signatureOf, withSignature } from '../../conversation/extensions.ts';
import { requireSchemaTaken, takenSampling, takenStops } from '../../conversation/model-limits.ts';
import type { RequestWarnings, RequestWriter, TranslationTarget } from '../../conversation/request-translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { chatModelOf } from '../chat/model.ts';
import { chatRequest } from '../chat/request-writer.ts';
import { geminiModelOf } from '../gemini/model.ts';
import { unsignedCalls } from '../gemini/request-contents.ts';

/** Writes requests for Gemini's variant of chat completions. */
export const geminiOpenaiRequestWriter: RequestWriter = {
	takes: new Set(),
	write(conversation, target, warnings) {
		const body = chatRequest(conversation, target, { ...chatModelOf(target), takesSignatures: true }, warnings);
		return { body: { ...body, ...signedMessages(body, target, warnings) } };
	},
};

/**
 * Adapts a chat completions request to Gemini: unchanged except for fields that the model is known to reject. Other fields are left for the
 * server to judge.
 * @throws `Rejection` `field_invalid`.
 */
export function adaptChatRequest(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject {
	const fitted = fitSettings(request, target, warnings);
	return { ...fitted, model: target.model, ...signedMessages(request, target, warnings) };
}

function signedMessages({ messages }: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject {
	const isToBeSigned = geminiModelOf(target).needsSignatures && Array.isArray(messages);
	return isToBeSigned ? { messages: markUnsigned(messages, warnings) } : {};
}

const sampling = [['temperature', 'temperature'] as const, ['topP', 'top_p'] as const];

function fitSettings(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject {
	const model = chatModelOf(target);
	const body: Record<string, unknown> = { ...request };
	for (const [name, field] of sampling) {
		const value = body[field];
		if (typeof value !== 'number') continue;
		delete body[field];
		const given = takenSampling(name, { field, value }, model, warnings);
		if (given !== undefined) body[field] = given;
	}
	const { stop, response_format } = request;
	const stops: readonly unknown[] = Array.isArray(stop) ? stop : isGiven(stop) ? [stop] : [];
	if (takenStops({ field: 'stop', value: stops }, model, warnings).length < stops.length) delete body.stop;
	if (isJsonObject(response_format) && response_format.type === 'json_schema') requireSchemaTaken('response_format', model);
	const { maxOutputTokens: max = Number.POSITIVE_INFINITY, defaultMaxTokens: usual } = target;
	const caps = ['max_completion_tokens', 'max_tokens'].filter((name) => isGiven(body[name]));
	for (const name of caps) {
		const requested = body[name];
		if (typeof requested !== 'number' || requested <= max) continue;
		warnings.add(name, `lowered to ${max}`);
		body[name] = max;
	}
	if (caps.length === 0 && usual !== undefined) body[model.tokenParam] = Math.min(usual, max);
	return body;
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** Marks the first call of each turn without a signature as unsigned. */
export function markUnsigned(messages: readonly unknown[], warnings: RequestWarnings): readonly unknown[] {
	return messages.map((message) => {
		if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return message;
		const [first, ...others] = message.tool_calls as readonly unknown[];
		if (!isJsonObject(first) || signatureOf(first) !== undefined || signatureOf(message) !== undefined) return message;
		warnings.add('messages', unsignedCalls);
		const marked: JsonObject = { ...first, ...withSignature(noSignature) };
		return { ...message, tool_calls: [marked, ...others] };
	});
}
