import { Fault } from '../../../core/fault.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { speaksOfFunctions } from '../chat/chat-tools.ts';
import type { TranslatedCall } from '../translation.ts';
import { callId, completionId } from './answer-id.ts';
import { chatUsage } from './chat-usage.ts';
import { finishReason, refusalText } from './finish-reason.ts';
import { isReplayable } from './thinking-blocks.ts';

/** @throws Fault `provider_answer_invalid`. */
export function translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject {
	const { content } = body;
	if (body.type !== 'message' || !Array.isArray(content)) {
		throw new Fault('provider_answer_invalid', { message: 'The provider answered with JSON that is no message: retry later' });
	}
	const blocks: readonly JsonObject[] = content.filter(isJsonObject);
	const id = completionId(body.id, call.requestId);
	const isLegacy = speaksOfFunctions(call.request);
	const uses = blocks.filter((block) => block.type === 'tool_use');
	const usage = chatUsage(body.usage, call);
	const choice = {
		index: 0,
		message: {
			role: 'assistant',
			content: textOf(blocks, uses.length > 0),
			refusal: body.stop_reason === 'refusal' ? refusalText(body.stop_details) : null,
			...calls(uses, id, isLegacy),
			...thinking(blocks),
		},
		logprobs: null,
		finish_reason: finishReason(body.stop_reason, uses.length > 0, isLegacy),
	};
	return {
		id,
		object: 'chat.completion',
		created: call.nowSeconds,
		model: typeof body.model === 'string' ? body.model : call.model,
		choices: [choice],
		...(usage !== undefined && { usage }),
	};
}

function textOf(blocks: readonly JsonObject[], hasCalls: boolean): string | null {
	const texts = blocks.map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''));
	const hasText = blocks.some((block) => block.type === 'text');
	return hasCalls && !hasText ? null : texts.join('');
}

function calls(uses: readonly JsonObject[], completion: string, isLegacy: boolean): JsonObject {
	const [first] = uses;
	if (first === undefined) return {};
	if (isLegacy) return { function_call: functionOf(first) };
	const toolCalls = uses.map((use, index) => ({ id: callId(use.id, completion, index), type: 'function', function: functionOf(use) }));
	return { tool_calls: toolCalls };
}

function functionOf({ name, input }: JsonObject): JsonObject {
	if (typeof name !== 'string') {
		throw new Fault('provider_answer_invalid', { message: 'The provider called a tool without a name: retry later' });
	}
	return { name, arguments: JSON.stringify(isJsonObject(input) ? input : {}) };
}

function thinking(blocks: readonly JsonObject[]): JsonObject {
	const text = blocks.map((block) => (block.type === 'thinking' && typeof block.thinking === 'string' ? block.thinking : '')).join('');
	const replayable = blocks.filter(isReplayable);
	return { ...(text !== '' && { reasoning_content: text }), ...(replayable.length > 0 && { thinking_blocks: replayable }) };
}
