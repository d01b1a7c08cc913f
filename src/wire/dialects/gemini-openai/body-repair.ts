import type { TranslatedCall } from '../../conversation/translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfChat } from '../../usage/told-usage.ts';
import { writeUsage } from '../chat/response-writer.ts';
import { responseInvalid } from '../chat/sequential-calls.ts';

/** @throws Fault `provider_answer_invalid`. */
export function repairBody(body: JsonObject, call: TranslatedCall): JsonObject {
	const { choices } = body;
	if (!Array.isArray(choices) || choices.length === 0) throw responseInvalid('without a choice');
	const id = answerId(body.id, call);
	return {
		...body,
		id,
		object: 'chat.completion',
		created: body.created ?? call.nowSeconds,
		model: body.model ?? call.model,
		choices: choices.map((choice: unknown, at) => repairChoice(isJsonObject(choice) ? choice : {}, at, id)),
		...repairedUsage(body.usage, call),
	};
}

export function answerId(id: unknown, { requestId }: TranslatedCall): string {
	return typeof id === 'string' && id !== '' ? id : `chatcmpl-${requestId}`;
}

/** A result could not name a call without an id. */
export function callId(id: unknown, answer: string, index: number): string {
	return typeof id === 'string' && id !== '' ? id : `call_${answer.replace(/^chatcmpl-/, '')}_${index}`;
}

/** Thoughts stand in the total alone. @param call undefined in the middle of a stream, where what is charged is not yet known. */
export function repairedUsage(told: unknown, call?: TranslatedCall): JsonObject {
	const charged = call?.charged?.();
	if (charged?.isEstimated === true) return { usage: writeUsage(charged.usage) };
	const usage = usageOfChat(told);
	if (usage === undefined || !isJsonObject(told)) return {};
	const details = usage.reasoningTokens > 0 ? { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } } : {};
	return { usage: { ...told, completion_tokens: usage.outputTokens, ...details } };
}

function repairChoice(choice: JsonObject, at: number, answer: string): JsonObject {
	const message = isJsonObject(choice.message) ? choice.message : {};
	const calls: readonly unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
	const repaired = calls.map((call, index) =>
		isJsonObject(call) ? { ...call, id: callId(call.id, answer, index), type: 'function' } : call,
	);
	return {
		...choice,
		index: choice.index ?? at,
		message: {
			role: 'assistant',
			content: null,
			refusal: null,
			...message,
			...(repaired.length > 0 && { tool_calls: repaired }),
		},
		logprobs: choice.logprobs ?? null,
		finish_reason: repairedReason(choice.finish_reason ?? 'stop', repaired.length > 0),
	};
}

export function repairedReason(reason: unknown, hasCalls: boolean): unknown {
	return hasCalls && reason === 'stop' ? 'tool_calls' : reason;
}
