import { Fault } from '../../../core/fault.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfChat } from '../../usage/told-usage.ts';
import { messageId, modelName, renderUsage, toolUseId, wantsThinking } from '../messages/message-answer.ts';
import { parseArguments } from '../read-json.ts';
import { signatureOf, withSignature } from '../thought-signature.ts';
import { type TranslatedCall, toldToCaller } from '../translation.ts';
import { contentText, reasoningText, renderStop } from './told-answer.ts';
import { toolNamesOf } from './translate-tools.ts';

/** The first choice is the answer. @throws Fault `provider_answer_invalid`. */
export function translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject {
	const choice: unknown = Array.isArray(body.choices) ? body.choices[0] : undefined;
	if (!isJsonObject(choice)) throw answerInvalid('without a choice');
	// Azure's filter leaves the message out.
	const message = isJsonObject(choice.message) ? choice.message : {};
	const refusal = contentText(message.refusal);
	const reasoning = wantsThinking(call) ? reasoningText(message) : '';
	const text = contentText(message.content) + refusal;
	const toolUses = translateCalls(message, choice.finish_reason, call);
	return {
		id: messageId(body.id, call),
		type: 'message',
		role: 'assistant',
		model: modelName(body.model, call),
		content: [
			...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: '' }]),
			...(text === '' ? [] : [{ type: 'text', text }]),
			...toolUses,
		],
		...renderStop(choice.finish_reason, toolUses.length > 0, refusal),
		usage: renderUsage(toldToCaller(usageOfChat(body.usage), call), call),
	};
}

function translateCalls({ tool_calls, function_call }: JsonObject, finishReason: unknown, call: TranslatedCall): JsonObject[] {
	const calls: readonly unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
	const list = calls.length === 0 && isJsonObject(function_call) ? [{ function: function_call }] : calls;
	if (list.length === 0) return [];
	const nameOf = toolNamesOf(call.request);
	return list.map((one, position) => {
		const told: JsonObject = isJsonObject(one) ? one : {};
		const { id, function: called } = told;
		if (!isJsonObject(called) || typeof called.name !== 'string') throw answerInvalid('with a tool call without a name');
		return {
			type: 'tool_use',
			id: toolUseId(id, position, call),
			name: nameOf(called.name),
			input: inputOf(called.arguments, finishReason),
			...withSignature(signatureOf(told)),
		};
	});
}

/** Arguments that the token limit cut are the model's fact; other broken ones are no answer. */
function inputOf(told: unknown, finishReason: unknown): JsonObject {
	if (isJsonObject(told)) return told;
	const input = parseArguments(typeof told === 'string' ? told : '');
	if (input !== undefined) return input;
	if (finishReason === 'length') return {};
	throw answerInvalid('with tool call arguments that are not a JSON object');
}

export function answerInvalid(what: string): Fault {
	return new Fault('provider_answer_invalid', { message: `The provider answered ${what}: retry` });
}
