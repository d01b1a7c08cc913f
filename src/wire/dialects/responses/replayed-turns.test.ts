/** Clients send a response back with their next request, and the provider receives what it generated unchanged. */
import { describe, expect, test } from 'vitest';
import { fromResponses, type Provider, toResponses } from '../../../../test/support/responses-requests.ts';
import { createReasoningEncryption } from '../../../io/reasoning-encryption.ts';
import type { ResponseReading, ResponseWriting } from '../../conversation/response.ts';
import { translateResponses } from '../../conversation/translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { chatReading } from '../chat/response-reader.ts';
import { chatWriting } from '../chat/response-writer.ts';
import { geminiReading } from '../gemini/response-reader.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { messagesWriting } from '../messages/response-writer.ts';
import { responsesReading } from './response-reader.ts';
import { responsesWriting } from './response-writer.ts';

const encryptions = createReasoningEncryption();
const encryption = encryptions('provider key', 'team');
const user = { role: 'user', content: 'Hi' };

function received(reading: ResponseReading, writing: ResponseWriting, body: JsonObject, request: JsonObject): JsonObject {
	const call = { request, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000, encryption };
	return translateResponses(reading, writing).translateResponse(body, call);
}

/** Tools of all kinds that a client executes. */
const tools = [
	{ type: 'custom', name: 'patch' },
	{ type: 'namespace', name: 'team', tools: [{ type: 'function', name: 'spawn' }] },
	{ type: 'tool_search', execution: 'client' },
];

/** The request after a response, with an output for each call. */
function nextTurn(response: JsonObject): JsonObject {
	const output = response.output as readonly JsonObject[];
	const outputs = output.flatMap(({ type, call_id, execution }): JsonObject[] => {
		if (type === 'function_call' || type === 'custom_tool_call') return [{ type: `${type}_output`, call_id, output: 'done' }];
		return type === 'tool_search_call' ? [{ type: 'tool_search_output', call_id, execution, tools: [] }] : [];
	});
	return { tools, input: [user, ...output, ...outputs] };
}

function sentTo(provider: Provider, response: JsonObject, team = 'team'): JsonObject {
	return fromResponses(provider, nextTurn(response), {}, encryptions('provider key', team)).body;
}

describe('a client of the Responses API', () => {
	test('returns the thinking of Claude with its calls', () => {
		const content = [
			{ type: 'thinking', thinking: 'Hm', signature: 'sig' },
			{ type: 'redacted_thinking', data: 'xyz' },
			{ type: 'text', text: 'Calling' },
			{ type: 'tool_use', id: 'toolu_1', name: 'team__spawn', input: { n: 1 } },
			{ type: 'tool_use', id: 'toolu_2', name: 'patch', input: { input: 'free' } },
			{ type: 'tool_use', id: 'toolu_3', name: 'tool_search', input: { goal: 'x' } },
		];
		const response = received(messagesReading, responsesWriting, { type: 'message', content, stop_reason: 'tool_use' }, { tools });
		expect((response.output as JsonObject[]).map(({ type }) => type)).toEqual([
			'reasoning',
			'message',
			'function_call',
			'custom_tool_call',
			'tool_search_call',
		]);
		expect((sentTo('messages', response).messages as JsonObject[])[1]).toEqual({ role: 'assistant', content });
		expect(JSON.stringify(sentTo('messages', response, 'another team'))).not.toMatch(/Hm|sig/);
	});

	test('returns the signatures of Gemini', () => {
		const parts = [
			{ text: 'Calling', thoughtSignature: 'of text' },
			{ functionCall: { id: 'a', name: 'team__spawn', args: { n: 1 } }, thoughtSignature: 'of call' },
			{ functionCall: { id: 'b', name: 'patch', args: { input: 'free' } } },
		];
		const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
		const response = received(geminiReading, responsesWriting, body, { tools });
		expect((sentTo('gemini', response).contents as JsonObject[])[1]).toEqual({ role: 'model', parts });
	});

	test('returns calls of a chat provider', () => {
		const tool_calls = [{ id: 'a', type: 'function', function: { name: 'team__spawn', arguments: '{ "n": 1 }' } }];
		const message = { content: 'Calling', reasoning_content: 'Hm', tool_calls };
		const response = received(chatReading, responsesWriting, { choices: [{ message, finish_reason: 'tool_calls' }] }, { tools });
		expect((sentTo('chat', response).messages as JsonObject[])[1]).toEqual({ role: 'assistant', content: 'Calling', tool_calls });
	});
});

describe('the reasoning of a model that only the Responses API serves', () => {
	const summary = [{ type: 'summary_text', text: 'Hm' }];
	const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA' };
	const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes', annotations: [] }] };
	const bodyOf = (parts: readonly JsonObject[]): JsonObject => ({
		id: 'resp_1',
		object: 'response',
		status: 'completed',
		output: [{ ...reasoning, summary: parts }, message],
	});

	test.each([[[]], [summary]])('returns from clients of chat completions, with the summary %j', (parts) => {
		const [choice] = received(responsesReading, chatWriting, bodyOf(parts), {}).choices as [{ message: JsonObject }];
		const { input } = toResponses('chat', { messages: [user, choice.message, user] }).body;
		expect((input as JsonObject[])[1]).toEqual({ ...reasoning, summary: parts });
	});

	test.each([[[]], [summary]])('returns from clients of the messages dialect, with the summary %j', (parts) => {
		const request = { max_tokens: 50, thinking: { type: 'enabled', budget_tokens: 2000 } };
		const { content } = received(responsesReading, messagesWriting, bodyOf(parts), request);
		const { input } = toResponses('messages', { ...request, messages: [user, { role: 'assistant', content }, user] }).body;
		expect((input as JsonObject[])[1]).toEqual({ ...reasoning, summary: parts });
	});
});
