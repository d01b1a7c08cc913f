/** Responses as OpenAI and compatible servers really send them, for clients of chat completions and messages. */

import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import { translateResponses } from '../../conversation/translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { chatWriting } from '../chat/response-writer.ts';
import { messagesWriting } from '../messages/response-writer.ts';
import { responsesReading } from './response-reader.ts';

const callOf = (request: JsonObject = {}): ResponseContext => ({ request, model: 'alias', requestId: 'req_1', nowSeconds: 1 });
const toChat = translateResponses(responsesReading, chatWriting);
const toMessages = translateResponses(responsesReading, messagesWriting);

const event = (type: string, members: JsonObject = {}): string => `data: ${JSON.stringify({ type: `response.${type}`, ...members })}\n\n`;
const created = event('created', { response: { id: 'resp_1', model: 'gpt-x' } });
const at = (output_index: number, item_id = `item_${output_index}`): JsonObject => ({ output_index, item_id });
const added = (index: number, item: JsonObject): string => event('output_item.added', { output_index: index, item });
const done = (index: number, item: JsonObject): string => event('output_item.done', { output_index: index, item });
const textDelta = (index: number, delta: string, id?: string): string =>
	event('output_text.delta', { ...at(index, id), content_index: 0, delta });
const completed = (response: JsonObject = {}): string => event('completed', { response: { id: 'resp_1', output: [], ...response } });
const message = (text: string, more: JsonObject = {}): JsonObject => ({
	type: 'message',
	content: [{ type: 'output_text', text }],
	...more,
});
const call = (name: string, args: string, more: JsonObject = {}): JsonObject => ({
	type: 'function_call',
	call_id: `call_${name}`,
	name,
	arguments: args,
	...more,
});

interface Chat {
	text: string;
	reasoning: string;
	refusal: string;
	finish: unknown;
	readonly calls: [name: string, args: string][];
}

function streamed(events: string): Chat {
	const stream = translateBytes(toChat, callOf());
	const output = stream.push(Buffer.from(events)).toString() + stream.end().toString();
	const chat: Chat = { text: '', reasoning: '', refusal: '', finish: undefined, calls: [] };
	for (const [, data] of output.matchAll(/^data: (\{.*)$/gm)) {
		const [choice] = (JSON.parse(data ?? '') as { choices: { delta: JsonObject; finish_reason: unknown }[] }).choices;
		const { content, reasoning_content, refusal, tool_calls } = choice?.delta ?? {};
		chat.text += typeof content === 'string' ? content : '';
		chat.reasoning += typeof reasoning_content === 'string' ? reasoning_content : '';
		chat.refusal += typeof refusal === 'string' ? refusal : '';
		chat.finish = choice?.finish_reason;
		for (const { index, function: called } of (tool_calls ?? []) as { index: number; function: { name?: string; arguments: string } }[]) {
			const [name, earlier] = chat.calls[index] ?? [called.name ?? '', ''];
			chat.calls[index] = [name, earlier + called.arguments];
		}
	}
	return chat;
}

const plain: Chat = { text: 'Hi', reasoning: '', refusal: '', finish: 'stop', calls: [] };

describe('a stream', () => {
	test.each([
		['without created', textDelta(0, 'Hi') + completed()],
		['without items', created + textDelta(0, 'Hi') + completed()],
		['without done', created + added(0, { type: 'message', content: [] }) + textDelta(0, 'Hi') + completed()],
		['without fragments', created + event('output_text.done', { ...at(0), content_index: 0, text: 'Hi' }) + completed()],
		['with items in done only', created + done(0, message('Hi')) + completed()],
		['with items in the last event only', created + completed({ output: [message('Hi')] })],
		['with content in both', created + textDelta(0, 'Hi') + completed({ output: [message('Hi')] })],
		['whose fragments are incomplete', created + textDelta(0, 'H') + done(0, message('Hi')) + completed()],
		['whose ids change', created + textDelta(0, 'H', 'a') + textDelta(0, 'i', 'b') + done(0, message('Hi', { id: 'c' })) + completed()],
		['with one index for all items', done(0, message('H', { id: 'a' })) + done(0, message('i', { id: 'b' })) + completed()],
		['with an item reported twice', done(0, message('Hi', { id: 'a' })) + done(0, message('Hi', { id: 'a' })) + completed()],
		['with the marker of other servers', `${created}${textDelta(0, 'Hi')}${completed()}data: [DONE]\n\n`],
		['with that marker before', `${created}${textDelta(0, 'Hi')}data: [DONE]\n\n${completed()}`],
		[
			'with unknown events and items',
			`${created}data: {"type":"vendor:thing"}\n\n${added(1, { type: 'vendor:item' })}${textDelta(0, 'Hi')}${completed()}`,
		],
		['without types in the data', `event: response.output_text.delta\ndata: {"output_index":0,"delta":"Hi"}\n\n${completed()}`],
		['without a list of output', created + textDelta(0, 'Hi') + event('completed', { response: { output: null } })],
		['without a response at the end', created + textDelta(0, 'Hi') + event('completed')],
	])('%s is complete', (_what, events) => {
		expect(streamed(events)).toEqual(plain);
	});

	test('the last event adds items that were not streamed, by id and otherwise by type', () => {
		const first = message('Hi', { id: 'a' });
		const output = [{ type: 'reasoning', summary: [] }, first, call('f', '{"x":1}'), message('!', { id: 'b' })];
		expect(streamed(created + done(1, first) + completed({ output }))).toEqual({
			...plain,
			text: 'Hi!',
			finish: 'tool_calls',
			calls: [['f', '{"x":1}']],
		});
	});

	test('calls that overlap are written one after the other', () => {
		const start = (index: number, name: string): string => added(index, call(name, ''));
		const piece = (index: number, delta: string): string => event('function_call_arguments.delta', { ...at(index), delta });
		const events = [
			...[start(0, 'a'), start(1, 'b'), piece(1, '{"b"'), piece(0, '{"a"'), piece(0, ':1}'), done(1, call('b', '{"b":2}'))],
			...[textDelta(2, 'So'), done(0, call('a', '{"a":1}')), completed()],
		];
		const { calls, text, finish } = streamed(created + events.join(''));
		expect([calls, text, finish]).toEqual([
			[
				['a', '{"a":1}'],
				['b', '{"b":2}'],
			],
			'So',
			'tool_calls',
		]);
	});

	test.each([
		['by its id', 'fc_a', 'fc_b'],
		['without its id, in turn', undefined, undefined],
	])('content without an index belongs to its item: %s', (_what, a, b) => {
		const piece = (item_id: string | undefined, delta: string): string => event('function_call_arguments.delta', { item_id, delta });
		const [first, second] = [call('a', '', { id: 'fc_a' }), call('b', '', { id: 'fc_b' })];
		const events = [
			...[added(0, first), piece(a, '{"a"'), piece(a, ':1}'), done(0, { ...first, arguments: '{"a":1}' })],
			...[added(1, second), piece(b, '{"b":2}'), done(1, { ...second, arguments: '{"b":2}' }), completed()],
		];
		expect(streamed(created + events.join('')).calls).toEqual([
			['a', '{"a":1}'],
			['b', '{"b":2}'],
		]);
	});

	test('a call of a custom tool is one again, with its whole input', async () => {
		const request = { tools: [{ type: 'custom', custom: { name: 'execute' } }] };
		const custom = { type: 'custom_tool_call', call_id: 'call_1', name: 'execute' };
		const events = [
			added(0, { ...custom, input: '' }),
			event('custom_tool_call_input.delta', { ...at(0), delta: 'l' }),
			event('custom_tool_call_input.delta', { ...at(0), delta: 's' }),
			done(0, { ...custom, input: 'ls' }),
			done(1, call('plain', '{}')),
		];
		const stream = translateBytes(toChat, callOf(request));
		const written = stream.push(Buffer.from(created + events.join('') + completed()));
		const client = new OpenAI({ apiKey: 'key', baseURL: 'http://gateway.test', fetch: async () => new Response(Buffer.from(written)) });
		const assembled = await client.chat.completions.stream({ model: 'alias', messages: [] }).finalMessage();
		const expected = [
			{ id: 'call_1', type: 'custom', custom: { name: 'execute', input: 'ls' } },
			{ id: 'call_plain', type: 'function', function: { name: 'plain', arguments: '{}' } },
		];
		expect(assembled.tool_calls).toMatchObject(expected);
		const body = toChat.translateResponse({ output: [{ ...custom, input: 'ls' }, call('plain', '{}')] }, callOf(request));
		expect(body).toMatchObject({ choices: [{ message: { tool_calls: expected } }] });
	});

	test.each([
		['in done only', added(0, call('f', '')) + event('function_call_arguments.done', { ...at(0), arguments: '{"x":1}' }), '{"x":1}'],
		['in the item only', done(0, call('f', '{"x":1}')), '{"x":1}'],
		['as an object', done(0, { ...call('f', ''), arguments: { x: 1 } }), '{"x":1}'],
		['nowhere', done(0, call('f', '')), '{}'],
	])('arguments are accepted %s', (_where, events, expected) => {
		expect(streamed(created + events + completed()).calls).toEqual([['f', expected]]);
	});

	test('reasoning of compatible servers is no text, and parts are separated', () => {
		const place = { ...at(0), content_index: 0 };
		const open = [
			added(0, { type: 'reasoning', summary: [], content: [] }),
			event('content_part.added', { ...place, part: { type: 'reasoning_text', text: '' } }),
			event('reasoning_text.delta', { ...place, delta: 'Hm' }),
			event('content_part.done', { ...place, part: { type: 'reasoning_text', text: 'Hm' } }),
			event('reasoning_text.delta', { ...place, content_index: 1, delta: 'Well' }),
		];
		expect(streamed(created + open.join('') + textDelta(1, 'Hi') + completed())).toEqual({ ...plain, reasoning: 'Hm\n\nWell' });
	});

	test.each([
		['nested', { error: { type: 'server_error', code: 'server_error', message: 'Oops' } }, 'error'],
		['flat', { code: 'server_error', message: 'Oops' }, 'error'],
		['failed', { response: { status: 'failed', error: { code: 'server_error', message: 'Oops' } } }, 'response.failed'],
	])('an error is reported: %s', (_shape, members, type) => {
		const stream = translateBytes(toChat, callOf());
		const written = stream.push(Buffer.from(`${created}data: ${JSON.stringify({ type, ...members })}\n\n${textDelta(0, 'Hi')}`)).toString();
		expect(written).toContain('{"error":{"message":"Oops","type":"api_error","param":null,"code":"server_error"}');
		expect([stream.hasFailed, written.includes('Hi')]).toEqual([true, false]);
	});

	test.each([
		['cut', created + textDelta(0, 'Hi'), 'provider_disconnected'],
		['without any event', '', 'provider_disconnected'],
		['with an event that is no object', `${created}data: {"type"\n\n`, 'provider_response_invalid'],
		[
			'with a call without a name',
			created + done(0, { type: 'function_call', arguments: '{}' }) + completed(),
			'provider_response_invalid',
		],
		['with broken arguments', created + done(0, call('f', '{"x"')) + completed(), 'provider_response_invalid'],
	])('%s is an upstream error', (_what, events, code) => {
		expect(() => streamed(events)).toThrow(expect.objectContaining({ code }) as UpstreamError);
	});
});

describe('a body', () => {
	interface ChatBody {
		readonly choices: readonly [{ readonly message: JsonObject; readonly finish_reason: string }];
	}
	const bodyOf = (body: JsonObject): ChatBody['choices'][0] =>
		(toChat.translateResponse({ id: 'resp_1', ...body }, callOf()) as unknown as ChatBody).choices[0];

	test.each([
		[{ status: 'completed' }, 'stop'],
		[{}, 'stop'],
		[{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
		[{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
		[{ status: 'incomplete', incomplete_details: null }, 'length'],
		[{ status: 'incomplete', incomplete_details: { reason: 'a_reason_of_next_year' } }, 'length'],
	])('%j has the finish reason %s', (members, expected) => {
		expect(bodyOf({ ...members, output: [message('Hi')] }).finish_reason).toBe(expected);
	});

	test('incomplete arguments are an error, unless the output cap cut them', () => {
		const output = [call('f', '{"x"')];
		expect(() => bodyOf({ status: 'completed', output })).toThrow(UpstreamError);
		expect(bodyOf({ status: 'incomplete', output }).finish_reason).toBe('length');
	});

	test('a `refusal` is one, and an empty id of a call is replaced', () => {
		const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No' }] };
		expect(bodyOf({ output: [refusal, call('f', '{}', { call_id: '' })] })).toMatchObject({
			finish_reason: 'content_filter',
			message: { refusal: 'No', content: null, tool_calls: [{ id: 'call_1_0' }] },
		});
	});

	test.each([
		[{ status: 'failed', error: { code: 'x', message: 'Oops' } }, 'Oops'],
		[{ status: 'queued', output: [] }, 'queued'],
		[{}, 'without output'],
	])('%j is an upstream error', (body, text) => {
		expect(() => bodyOf(body)).toThrow(
			expect.objectContaining({ name: 'UpstreamError', message: expect.stringContaining(text) as string }) as Error,
		);
	});
});

describe('errors by code', () => {
	test.each([
		['rate_limit_exceeded', 'rate_limit_error'],
		['insufficient_quota', 'api_error'],
		['context_length_exceeded', 'invalid_request_error'],
		['invalid_prompt', 'invalid_request_error'],
		['image_too_large', 'invalid_request_error'],
		['bio_policy', 'invalid_request_error'],
		['server_is_overloaded', 'overloaded_error'],
		['server_error', 'api_error'],
		[null, 'api_error'],
		[503, 'overloaded_error'],
		[404, 'api_error'],
	])('%s of a failed response is %s', (code, type) => {
		const { body } = toMessages.translateError(200, { status: 'failed', error: { code, message: 'Oops' } }, callOf());
		expect(body).toMatchObject({ error: { type, message: expect.stringContaining('Oops') as unknown } });
	});

	test.each([
		[400, 'model_not_found', 'invalid_request_error', 'model_not_found'],
		[401, 'invalid_api_key', 'api_error', 'provider_key_rejected'],
		[404, 'response_not_found', 'api_error', 'response_not_found'],
		[429, 'insufficient_quota', 'rate_limit_error', 'insufficient_quota'],
		[500, null, 'api_error', 'api_error'],
	])('%i %s is %s', (status, code, type, expected) => {
		expect(toChat.translateError(status, { error: { code, message: 'Oops' } }, callOf()).body).toMatchObject({
			error: { type, code: expected },
		});
	});

	test('a conversation that is too long is described in the words that clients look for', () => {
		const error = { error: { code: 'context_length_exceeded', message: 'Too long' } };
		expect(toMessages.translateError(400, error, callOf()).body).toMatchObject({ error: { message: 'prompt is too long: Too long' } });
		expect(toMessages.translateError(502, undefined, callOf()).body).toMatchObject({
			error: { message: 'The provider returned 502 without a message' },
		});
	});
});

describe('encrypted reasoning', () => {
	const reasoning = (id: string, ...texts: string[]): JsonObject => ({
		type: 'reasoning',
		id,
		summary: texts.map((text) => ({ type: 'summary_text', text })),
		encrypted_content: `gAAA${id}`,
	});
	const output = [reasoning('rs_1', 'Hm'), reasoning('rs_2'), reasoning('rs_3', 'So', 'it is'), message('Hi')];
	const signature = (id: string): string =>
		`oai1.${Buffer.from(JSON.stringify({ id, encrypted_content: `gAAA${id}` })).toString('base64url')}`;
	const blocks = (thinking: JsonObject | undefined): unknown =>
		toMessages.translateResponse({ output }, callOf(thinking === undefined ? {} : { thinking })).content;

	test('is in thinking_blocks of a chat completion, whole', () => {
		const { choices } = toChat.translateResponse({ output }, callOf()) as { choices: readonly { message: JsonObject }[] };
		expect(choices[0]?.message.thinking_blocks).toEqual(output.slice(0, 3).map((item) => ({ ...item, type: 'encrypted_reasoning' })));
	});

	test('signs the thinking of a message, or is a block without text', () => {
		expect(blocks({ type: 'adaptive' })).toEqual([
			{ type: 'thinking', thinking: 'Hm', signature: signature('rs_1') },
			{ type: 'redacted_thinking', data: signature('rs_2') },
			{ type: 'thinking', thinking: 'So\n\nit is', signature: signature('rs_3') },
			{ type: 'text', text: 'Hi' },
		]);
	});

	test('has no text if the client omits thinking, and is absent without thinking', () => {
		const redacted = ['rs_1', 'rs_2', 'rs_3'].map((id) => ({ type: 'redacted_thinking', data: signature(id) }));
		expect(blocks({ type: 'enabled', display: 'omitted' })).toEqual([...redacted, { type: 'text', text: 'Hi' }]);
		expect(blocks(undefined)).toEqual([{ type: 'text', text: 'Hi' }]);
		expect(blocks({ type: 'disabled' })).toEqual([{ type: 'text', text: 'Hi' }]);
	});
});
