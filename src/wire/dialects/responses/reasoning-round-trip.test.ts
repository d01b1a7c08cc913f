/** Reasoning of one provider, as it returns to the same provider with the next request of a client of another dialect. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRecordings } from '../../../../test/support/recordings.ts';
import { viewOf } from '../../conversation/json-view.ts';
import type { ReasoningEncryption } from '../../conversation/reasoning-encryption.ts';
import { type RequestReader, RequestWarnings, type RequestWriter } from '../../conversation/request-translation.ts';
import type { ResponseContext, ResponseReading, ResponseWriting } from '../../conversation/response.ts';
import { translateResponses } from '../../conversation/translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { readChatRequest } from '../chat/request-reader.ts';
import { chatRequestWriter } from '../chat/request-writer.ts';
import { chatReading } from '../chat/response-reader.ts';
import { chatWriting } from '../chat/response-writer.ts';
import { geminiRequestWriter } from '../gemini/request-writer.ts';
import { geminiReading } from '../gemini/response-reader.ts';
import { readMessagesRequest } from '../messages/request-reader.ts';
import { messagesRequestWriter } from '../messages/request-writer.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { messagesWriting } from '../messages/response-writer.ts';
import { readResponsesRequest } from './request-reader.ts';
import { responsesRequestWriter } from './request-writer.ts';
import { responsesReading } from './response-reader.ts';
import { responsesWriting } from './response-writer.ts';

/** Reverses a text, so that a test would notice reasoning that was not encrypted. */
const reversed = (text: string): string => text.split('').toReversed().join('');
const encryption: ReasoningEncryption = { encrypt: reversed, decrypt: reversed };

interface Provider {
	readonly model: string;
	readonly reading: ResponseReading;
	readonly writer: RequestWriter;
}

const claude: Provider = { model: 'claude-opus-4-5', reading: messagesReading, writer: messagesRequestWriter };
const gemini: Provider = { model: 'gemini-3-pro-preview', reading: geminiReading, writer: geminiRequestWriter };
const openai: Provider = { model: 'gpt-5-pro', reading: responsesReading, writer: responsesRequestWriter };

const deepseek: Provider = { model: 'deepseek-v4-pro', reading: chatReading, writer: chatRequestWriter };

interface Client {
	readonly writing: ResponseWriting;
	readonly reader: RequestReader;
	readonly request: JsonObject;
	/** Appends a response, and a result for each of its calls. */
	continue(response: JsonObject): JsonObject;
}

const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }];

const responsesClient: Client = {
	writing: responsesWriting,
	reader: readResponsesRequest,
	request: { model: 'alias', input: [{ role: 'user', content: 'Hello' }], tools },
	continue({ output }) {
		const items = output as readonly JsonObject[];
		const results = items.flatMap(({ type, call_id }) =>
			type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'ok' }] : [],
		);
		return { ...this.request, input: [{ role: 'user', content: 'Hello' }, ...items, ...results, { role: 'user', content: 'Go on' }] };
	},
};

const chatClient: Client = {
	writing: chatWriting,
	reader: readChatRequest,
	request: { model: 'alias', messages: [{ role: 'user', content: 'Hello' }], tools: [{ type: 'function', function: { name: 'f' } }] },
	continue({ choices }) {
		const { message } = (choices as readonly [{ message: JsonObject }])[0];
		const calls = (message.tool_calls ?? []) as readonly JsonObject[];
		const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
		return { ...this.request, messages: [{ role: 'user', content: 'Hello' }, message, ...results, { role: 'user', content: 'Go on' }] };
	},
};

const messagesClient: Client = {
	writing: messagesWriting,
	reader: readMessagesRequest,
	request: {
		model: 'alias',
		max_tokens: 9000,
		thinking: { type: 'enabled', budget_tokens: 2000 },
		messages: [{ role: 'user', content: 'Hello' }],
		tools: [{ name: 'f', input_schema: { type: 'object' } }],
	},
	continue({ content }) {
		const blocks = content as readonly JsonObject[];
		const results = blocks.flatMap(({ type, id }) =>
			type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] : [],
		);
		const next = { role: 'user', content: [...results, { type: 'text', text: 'Go on' }] };
		return { ...this.request, messages: [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: blocks }, next] };
	},
};

/** Returns the request that the provider receives after its response, and its warnings. */
function nextRequest(
	client: Client,
	provider: Provider,
	response: JsonObject,
): { readonly body: JsonObject; readonly warnings: readonly string[] } {
	const call: ResponseContext = { request: client.request, model: 'alias', requestId: 'req_1', nowSeconds: 1, encryption };
	const translated = translateResponses(provider.reading, client.writing).translateResponse(response, call);
	// A client sends what it received as JSON.
	const request = JSON.parse(JSON.stringify(client.continue(translated))) as JsonObject;
	const warnings = new RequestWarnings();
	const target = { model: provider.model, maxOutputTokens: 32_000, encryption };
	const { body } = provider.writer.write(client.reader(viewOf(request), provider.writer.takes, warnings, encryption), target, warnings);
	return { body: JSON.parse(JSON.stringify(body)) as JsonObject, warnings: warnings.list() };
}

const thinking = { type: 'thinking', thinking: 'Hm', signature: 's1' };
const redacted = { type: 'redacted_thinking', data: 'AAAA' };
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } };

test.each([
	['before a call', [thinking, redacted, { type: 'text', text: 'Let me see' }, use]],
	['without text', [redacted, use]],
	['before each of two calls', [thinking, use, { ...thinking, signature: 's2' }, { ...use, id: 'toolu_2' }]],
	['before a text', [thinking, { type: 'text', text: 'Hi' }]],
])('Claude receives its blocks unchanged and in place: %s', (_where, content) => {
	const { body, warnings } = nextRequest(responsesClient, claude, { type: 'message', content, stop_reason: 'end_turn' });
	const turn = (body.messages as readonly { role: string; content: readonly JsonObject[] }[]).find(({ role }) => role === 'assistant');
	expect([turn?.content, warnings]).toEqual([content, []]);
});

test.each([
	['of a call', [{ functionCall: { name: 'f', args: { a: 1 }, id: 'c1' }, thoughtSignature: 'sig1' }]],
	[
		'of the first of two calls',
		[{ functionCall: { name: 'f', args: {}, id: 'c1' }, thoughtSignature: 'sig1' }, { functionCall: { name: 'f', args: {}, id: 'c2' } }],
	],
	[
		'of each of two calls',
		[
			{ functionCall: { name: 'f', args: {}, id: 'c1' }, thoughtSignature: 'sig1' },
			{ functionCall: { name: 'f', args: {}, id: 'c2' }, thoughtSignature: 'sig2' },
		],
	],
	['of a text', [{ text: 'Hi', thoughtSignature: 'sig3' }]],
])('Gemini receives its signature %s', (_what, parts) => {
	const response = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
	const { body, warnings } = nextRequest(responsesClient, gemini, response);
	const turn = (body.contents as readonly { role: string; parts: readonly JsonObject[] }[]).find(({ role }) => role === 'model');
	const signatures = (list: readonly JsonObject[]): unknown[] => list.map(({ thoughtSignature }) => thoughtSignature);
	expect([signatures(turn?.parts ?? []), warnings]).toEqual([signatures(parts), []]);
});

const recorded = readRecordings('responses').find(({ name }) => name.endsWith('v-reasoning-encrypted.json'));

test.each([
	['chat completions', chatClient],
	['messages', messagesClient],
])('OpenAI receives its encrypted reasoning from a client of %s', (_client, client) => {
	const response = recorded?.response.json as JsonObject;
	const reasoning = (response.output as readonly JsonObject[]).filter(({ type }) => type === 'reasoning');
	expect(reasoning.length).toBeGreaterThan(0);
	const { body } = nextRequest(client, openai, response);
	const returned = (body.input as readonly JsonObject[]).filter(({ type }) => type === 'reasoning');
	expect(returned.map(({ id, encrypted_content }) => [id, encrypted_content])).toEqual(
		reasoning.map(({ id, encrypted_content }) => [id, encrypted_content]),
	);
});

const called = (reasoning_content: string | undefined): JsonObject => ({
	choices: [
		{
			finish_reason: 'tool_calls',
			message: {
				role: 'assistant',
				content: 'Let me see',
				...(reasoning_content !== undefined && { reasoning_content }),
				tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
			},
		},
	],
});

describe.each([
	['the Responses API', responsesClient],
	['messages', messagesClient],
])('a server of the kind of DeepSeek, for a client of %s', (_name, client) => {
	const turnOf = (provider: Provider, response: JsonObject): JsonObject | undefined => {
		const { body, warnings } = nextRequest(client, provider, response);
		expect(warnings).toEqual([]);
		return (body.messages as readonly JsonObject[]).find(({ role }) => role === 'assistant');
	};

	test('receives any readable reasoning with the calls of its turn, unchanged', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', minLength: 1 }), (reasoning) => {
				expect(turnOf(deepseek, called(reasoning))).toEqual({
					role: 'assistant',
					content: 'Let me see',
					reasoning_content: reasoning,
					tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
				});
			}),
		);
	});

	test('receives an empty field with a call without reasoning, because it rejects a call without the field', () => {
		expect(turnOf(deepseek, called(undefined))).toMatchObject({ reasoning_content: '' });
	});

	test('receives none with a text, for which the server has no use', () => {
		const response = { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' } }] };
		expect(turnOf(deepseek, response)).toEqual({ role: 'assistant', content: 'Hi' });
	});

	test.each(['deepseek-r1-distill-llama-70b', 'llama-4', 'gpt-5'])('does not change what other servers receive: %s', (model) => {
		expect(turnOf({ ...deepseek, model }, called('Hm'))).not.toHaveProperty('reasoning_content');
	});
});
