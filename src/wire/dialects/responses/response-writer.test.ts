/** Responses for clients of the Responses API, from providers of the other dialects. */

import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { noUsage } from '../../../core/usage.ts';
import type { ResponseContext, ResponseReading } from '../../conversation/response.ts';
import { translateResponses } from '../../conversation/translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { chatReading } from '../chat/response-reader.ts';
import { geminiReading } from '../gemini/response-reader.ts';
import { messagesReading } from '../messages/response-reader.ts';
import { responsesWriting } from './response-writer.ts';

const encryption = { encrypt: (text: string): string => text, decrypt: (): undefined => undefined };
const callOf = (request: JsonObject = {}, more: Partial<ResponseContext> = { encryption }): ResponseContext => ({
	request,
	model: 'alias',
	requestId: 'req_1',
	nowSeconds: 1_790_000_000,
	...more,
});

function bodyOf(
	reading: ResponseReading,
	body: JsonObject,
	call: ResponseContext = callOf(),
): JsonObject & { output: readonly JsonObject[] } {
	return translateResponses(reading, responsesWriting).translateResponse(body, call) as JsonObject & { output: readonly JsonObject[] };
}

const fromChat = (message: JsonObject, finish_reason = 'stop', call?: ResponseContext): ReturnType<typeof bodyOf> =>
	bodyOf(chatReading, { choices: [{ message, finish_reason }] }, call);
const fromClaude = (
	content: readonly JsonObject[],
	stop_reason = 'end_turn',
	more: JsonObject = {},
	call?: ResponseContext,
): ReturnType<typeof bodyOf> => bodyOf(messagesReading, { type: 'message', content, stop_reason, ...more }, call);
const fromGemini = (parts: readonly JsonObject[], call?: ResponseContext): ReturnType<typeof bodyOf> =>
	bodyOf(geminiReading, { candidates: [{ content: { parts }, finishReason: 'STOP' }] }, call);

function streamed(reading: ResponseReading, events: readonly unknown[], call: ResponseContext = callOf()): JsonObject[] {
	const stream = translateBytes(translateResponses(reading, responsesWriting), call);
	const text = stream.push(Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))).toString();
	return [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name, data]) => {
		const event = JSON.parse(data ?? '') as JsonObject;
		expect(event.type).toBe(name);
		return event;
	});
}

/** Reads `encrypted_content`, which the tests do not encrypt. */
function sealed({ encrypted_content }: JsonObject): unknown {
	return JSON.parse(String(encrypted_content).replace(/^tg1\./, ''));
}

const typesOf = ({ output }: { output: readonly JsonObject[] }): unknown[] => output.map(({ type }) => type);
const toolCall = (name: string, args: string): JsonObject => ({ id: `call_${name}`, function: { name, arguments: args } });

describe('the response', () => {
	test('repeats the request, with the defaults of the vendor', () => {
		const request = {
			model: 'alias',
			instructions: 'Be brief.',
			tools: [{ type: 'function', name: 'f', parameters: {} }],
			tool_choice: 'required',
			text: { format: { type: 'json_object' } },
			reasoning: { effort: 'low' },
			metadata: { a: 'b' },
			temperature: 0,
			store: true,
			previous_response_id: 'resp_0',
		};
		expect(fromChat({ content: 'Hi' }, 'stop', callOf(request))).toMatchObject({
			...request,
			id: expect.stringMatching(/^resp_[0-9a-f]{32}$/) as unknown,
			created_at: 1_790_000_000,
			status: 'completed',
			text: { format: { type: 'json_object' }, verbosity: 'medium' },
			reasoning: { effort: 'low', summary: null },
			parallel_tool_calls: true,
			top_p: 1,
			truncation: 'disabled',
			store: false,
			previous_response_id: null,
		});
		expect(fromChat({ content: 'Hi' })).toMatchObject({
			...{ instructions: null, tools: [], tool_choice: 'auto', text: { format: { type: 'text' } }, metadata: {}, temperature: 1 },
			usage: {
				...{ input_tokens: 0, output_tokens: 0, total_tokens: 0 },
				input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
				output_tokens_details: { reasoning_tokens: 0 },
			},
		});
	});

	test('reports the charged usage, whose input includes the cache', () => {
		const usage = { ...noUsage, inputTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 4, outputTokens: 8, reasoningTokens: 3 };
		const charged = (): never => ({ usage }) as never;
		expect(fromChat({ content: 'Hi' }, 'stop', callOf({}, { charged })).usage).toEqual({
			...{ input_tokens: 7, output_tokens: 8, total_tokens: 15 },
			input_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
			output_tokens_details: { reasoning_tokens: 3 },
		});
	});

	test('has the same ids for the same request, and others for another', () => {
		const idsOf = (requestId: string): unknown[] => {
			const body = fromChat({ content: 'Hi', tool_calls: [toolCall('f', '{}')] }, 'stop', callOf({}, { requestId }));
			return [body.id, ...body.output.map(({ id }) => id)];
		};
		expect(idsOf('req_1')).toEqual(idsOf('req_1'));
		expect(new Set([...idsOf('req_1'), ...idsOf('req_2')]).size).toBe(6);
	});

	test.each([
		['length', 'incomplete', { reason: 'max_output_tokens' }],
		['content_filter', 'incomplete', { reason: 'content_filter' }],
		['stop', 'completed', null],
	])('%s is %s', (reason, status, incomplete_details) => {
		const body = fromChat({ content: 'Hi' }, reason);
		expect(body).toMatchObject({ status, incomplete_details, output: [{ type: 'message', status }] });
	});

	test('without content has one empty message, also after reasoning', () => {
		const empty = { type: 'message', status: 'completed', content: [{ type: 'output_text', text: '', annotations: [], logprobs: [] }] };
		expect(fromChat({ content: '' }).output).toMatchObject([empty]);
		expect(fromChat({ content: '', reasoning_content: 'Hm' }).output).toMatchObject([{ type: 'reasoning' }, empty]);
		expect(typesOf(fromChat({ content: '', reasoning_content: 'Hm' }, 'length'))).toEqual(['reasoning']);
	});

	test('a `refusal` of OpenAI is complete, one of Claude is not', () => {
		expect(fromChat({ content: null, refusal: 'No' })).toMatchObject({
			status: 'completed',
			output: [{ content: [{ type: 'refusal', refusal: 'No' }] }],
		});
		const stop_details = { type: 'refusal', explanation: 'Not this' };
		expect(fromClaude([{ type: 'text', text: 'Well' }], 'refusal', { stop_details })).toMatchObject({
			status: 'incomplete',
			incomplete_details: { reason: 'content_filter' },
			output: [{ status: 'incomplete', content: [{ text: 'Well' }, { type: 'refusal', refusal: 'Not this' }] }],
		});
	});
});

describe('calls', () => {
	const request = {
		tools: [
			{ type: 'function', name: 'plain' },
			{ type: 'custom', name: 'execute' },
			{
				type: 'namespace',
				name: 'crm',
				tools: [
					{ type: 'function', name: 'find' },
					{ type: 'custom', name: 'query' },
				],
			},
			{ type: 'tool_search', execution: 'client' },
		],
	};
	const callsOf = (...calls: JsonObject[]): readonly JsonObject[] => fromChat({ tool_calls: calls }, 'tool_calls', callOf(request)).output;

	test('have the name, the namespace and the type of the client’s tool', () => {
		expect(
			callsOf(
				toolCall('plain', '{"a":1}'),
				toolCall('crm__find', '{}'),
				toolCall('execute', '{"input":"ls"}'),
				toolCall('crm__query', '{"input":"q"}'),
				toolCall('tool_search', '{"query":"mail"}'),
				toolCall('unknown', '{}'),
			),
		).toMatchObject([
			{ type: 'function_call', call_id: 'call_plain', name: 'plain', arguments: '{"a":1}', status: 'completed' },
			{ type: 'function_call', name: 'find', namespace: 'crm', arguments: '{}' },
			{ type: 'custom_tool_call', name: 'execute', input: 'ls', status: 'completed' },
			{ type: 'custom_tool_call', name: 'query', namespace: 'crm', input: 'q' },
			{ type: 'tool_search_call', execution: 'client', arguments: { query: 'mail' } },
			{ type: 'function_call', name: 'unknown' },
		]);
	});

	test.each(['{"text":"ls"}', '{"input":1}'])('input of a custom tool is the arguments themselves if they have none: %s', (args) => {
		expect(callsOf(toolCall('execute', args))).toMatchObject([{ input: args }]);
	});

	test('a custom tool receives its input at once, and a call that the output cap cut is incomplete', () => {
		const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
			id: 'a',
			model: 'm',
			choices: [{ index: 0, delta, finish_reason }],
		});
		const piece = (index: number, text: string, name?: string): JsonObject =>
			chunk({ tool_calls: [{ index, ...(name !== undefined && { id: `call_${name}` }), function: { name, arguments: text } }] });
		const chunks = [piece(0, '{"inp', 'execute'), piece(0, 'ut":"ls"}'), piece(1, '{"a', 'plain'), chunk({}, 'length')];
		const stream = translateBytes(translateResponses(chatReading, responsesWriting), callOf(request));
		const text = `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`;
		const events = [
			...stream
				.push(Buffer.from(text))
				.toString()
				.matchAll(/^data: (.*)$/gm),
		].map(([, data]) => JSON.parse(data ?? '') as JsonObject);
		expect(
			events.map(({ type, delta, input, arguments: args }) => [String(type).replace('response.', ''), delta ?? input ?? args]),
		).toEqual(
			[
				...[
					['created'],
					['in_progress'],
					['output_item.added'],
					['custom_tool_call_input.delta', 'ls'],
					['custom_tool_call_input.done', 'ls'],
				],
				...[['output_item.done'], ['output_item.added'], ['function_call_arguments.delta', '{"a'], ['function_call_arguments.done', '{"a']],
				...[['output_item.done'], ['incomplete']],
			].map(([type, value]) => [type, value]),
		);
		expect((events.at(-1)?.response as JsonObject | undefined)?.output).toMatchObject([
			{ status: 'completed' },
			{ arguments: '{"a', status: 'incomplete' },
		]);
	});

	test('have ids that can be sent back, and others if the provider sends none', () => {
		const idsOf = (...ids: unknown[]): unknown[] =>
			callsOf(...ids.map((id) => ({ ...toolCall('plain', '{}'), id }))).map(({ call_id }) => call_id);
		const long = 'x'.repeat(70);
		expect(idsOf('toolu_1', 'a b', long, `${long}y`)).toEqual([
			'toolu_1',
			'a b',
			expect.stringMatching(/^x{55}_[0-9a-f]{8}$/),
			expect.any(String),
		]);
		expect(new Set(idsOf(long, `${long}y`, '', null)).size).toBe(4);
	});

	test('names of all offered tools are known', () => {
		expect(responsesWriting.toolNames(request)).toEqual(['plain', 'execute', 'crm__find', 'crm__query', 'tool_search']);
	});
});

describe('reasoning', () => {
	const thinking = { type: 'thinking', thinking: 'Hm', signature: 's1' };
	const redacted = { type: 'redacted_thinking', data: 'AAAA' };
	const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };

	test('of Claude is one item for each run of blocks, before what it led to', () => {
		const more = { ...thinking, thinking: 'So', signature: 's2' };
		const body = fromClaude([redacted, thinking, more, { type: 'text', text: 'Hi' }, redacted, use], 'tool_use');
		expect(typesOf(body)).toEqual(['reasoning', 'message', 'reasoning', 'function_call']);
		const [first = {}, , second = {}] = body.output;
		expect([first.summary, second.summary]).toEqual([['Hm', 'So'].map((text) => ({ type: 'summary_text', text })), []]);
		expect([sealed(first), sealed(second)]).toEqual([
			{ p: 'anthropic', b: [redacted, thinking, more] },
			{ p: 'anthropic', b: [redacted] },
		]);
	});

	test('of other vendors is text that can be sent back', () => {
		const [item = {}] = fromChat({ content: 'Hi', reasoning_content: 'Hm' }).output;
		expect([item.summary, sealed(item)]).toEqual([[{ type: 'summary_text', text: 'Hm' }], { p: 'chat', b: [], r: 'Hm' }]);
	});

	test('of Gemini carries the signatures of calls before them, and the signature of a text after it', () => {
		const call = { functionCall: { name: 'f', args: {}, id: 'c1' }, thoughtSignature: 'sig1' };
		const body = fromGemini([{ text: 'Hm', thought: true }, call, { functionCall: { name: 'g', args: {}, id: 'c2' } }]);
		expect(typesOf(body)).toEqual(['reasoning', 'function_call', 'function_call']);
		expect(sealed(body.output[0] ?? {})).toEqual({ p: 'gemini', b: [], s: { c1: 'sig1' } });
		const silent = fromGemini([call]);
		expect(silent.output).toMatchObject([
			{ type: 'reasoning', summary: [] },
			{ type: 'function_call', call_id: 'c1' },
		]);
		const text = fromGemini([{ text: 'Hi' }, { text: '', thoughtSignature: 'sig2' }]);
		expect([typesOf(text), sealed(text.output[1] ?? {})]).toEqual([['message', 'reasoning'], { p: 'gemini', b: [], t: 'sig2' }]);
		const both = fromGemini([{ text: 'Hi', thoughtSignature: 'sig2' }, call]);
		expect([typesOf(both), sealed(both.output[1] ?? {})]).toEqual([
			['message', 'reasoning', 'function_call'],
			{ p: 'gemini', b: [], s: { c1: 'sig1' }, t: 'sig2' },
		]);
	});

	test('is not returned without encryption, but its text is shown', () => {
		const call = callOf({}, {});
		expect(fromClaude([redacted, thinking, use], 'tool_use', {}, call).output).toMatchObject([
			{ type: 'reasoning', summary: [{ text: 'Hm' }], encrypted_content: null },
			{ type: 'function_call' },
		]);
		expect(typesOf(fromGemini([{ text: 'Hi', thoughtSignature: 'sig2' }], call))).toEqual(['message']);
	});

	test('is in the event that ends its item, not in the one that begins it', () => {
		const block = (content_block: JsonObject): JsonObject[] => [
			{ type: 'content_block_start', index: 0, content_block },
			{ type: 'content_block_stop', index: 0 },
		];
		const events = streamed(messagesReading, [
			{ type: 'message_start', message: {} },
			...block(thinking),
			...block(use),
			{ type: 'message_stop' },
		]);
		const reported = events.flatMap(({ item }) => (isJsonObject(item) && item.type === 'reasoning' ? [item.encrypted_content] : []));
		expect(reported).toEqual([null, `tg1.${JSON.stringify({ p: 'anthropic', b: [thinking] })}`]);
		expect(JSON.stringify(events.at(-1))).toContain('tg1.');
	});
});

describe('an error', () => {
	test('in a stream has both shapes, and the response fails with what it has', () => {
		const chunk = { id: 'a', model: 'm', choices: [{ index: 0, delta: { content: 'Hi' } }] };
		const events = streamed(chatReading, [chunk, { error: { type: 'rate_limit_error', message: 'Slow down' } }]);
		const described = { code: 'rate_limit_exceeded', message: 'Slow down', param: null };
		expect(events.slice(-2)).toMatchObject([
			{ type: 'error', ...described, error: { type: 'rate_limit_error', ...described } },
			{
				type: 'response.failed',
				response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down' }, output: [], usage: null },
			},
		]);
		expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, at) => at));
	});

	test('before the first content still begins the response', () => {
		const [first, second, ...rest] = streamed(messagesReading, [{ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }]);
		expect([first?.type, second?.type, ...rest.map(({ type }) => type)]).toEqual([
			...['response.created', 'response.in_progress', 'error', 'response.failed'],
		]);
		expect(rest[0]).toMatchObject({ code: 'server_error', error: { type: 'overloaded_error' } });
	});

	test('of an HTTP response has the vendor’s form, and its code for a conversation that is too long', () => {
		const { translateError } = translateResponses(messagesReading, responsesWriting);
		const error = (message: string): JsonObject => ({ type: 'error', error: { type: 'invalid_request_error', message } });
		expect(translateError(400, error('prompt is too long: 3 > 2'), callOf()).body).toEqual({
			error: { message: 'prompt is too long: 3 > 2', type: 'invalid_request_error', param: null, code: 'context_length_exceeded' },
			request_id: 'req_1',
		});
		expect(translateError(400, error('Bad'), callOf()).body).toMatchObject({ error: { code: 'invalid_request_error' } });
		expect(translateError(401, error('Bad'), callOf()).body).toMatchObject({ error: { code: 'provider_key_rejected' } });
	});
});

test.each([
	['chat', chatReading, 429, { error: { message: 'm', code: 'rate_limit_exceeded' } }, 'rate_limit_exceeded'],
	['gemini', geminiReading, 429, { error: { message: 'm', status: 'RESOURCE_EXHAUSTED' } }, 'rate_limit_exceeded'],
	['messages', messagesReading, 429, { error: { message: 'm', type: 'rate_limit_error' } }, 'rate_limit_exceeded'],
	['messages', messagesReading, 401, { error: { message: 'm', type: 'authentication_error' } }, 'provider_key_rejected'],
	[
		'messages',
		messagesReading,
		400,
		{ error: { message: 'prompt is too long: 9', type: 'invalid_request_error' } },
		'context_length_exceeded',
	],
])('an error of %s %# has the code by which clients decide', (_name, reading, status, body, code) => {
	const { translateError } = translateResponses(reading, responsesWriting);
	expect(translateError(status, body, callOf()).body).toMatchObject({ error: { message: body.error.message, code } });
	if (status !== 429) return;
	const spent = translateError(status, body, callOf({}, { isSpendStop: true })).body;
	expect(spent).toMatchObject({ error: { type: 'rate_limit_error', code: 'insufficient_quota' } });
});
