/** Gemini's responses, errors and streams as clients of both formats receive them, however these end. */

import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { chatToGemini, messagesToGemini } from '../../../../test/support/translations.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import { parseExactly } from '../../json/exact-json.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const callOf = (request: JsonObject = {}): ResponseContext => ({
	request,
	model: 'alias',
	requestId: 'req_1',
	nowSeconds: 1,
	estimatedInputTokens: 42,
});
const response = (parts: readonly JsonObject[], finishReason?: string, more: JsonObject = {}): JsonObject => ({
	candidates: [{ content: { parts, role: 'model' }, ...(finishReason !== undefined && { finishReason }), index: 0 }],
	modelVersion: 'gemini-x',
	responseId: 'r1',
	...more,
});
const usageMetadata = {
	promptTokenCount: 100,
	cachedContentTokenCount: 40,
	toolUsePromptTokenCount: 5,
	candidatesTokenCount: 7,
	thoughtsTokenCount: 3,
};
const toolCall = (name: string, args: JsonObject = {}): JsonObject => ({ functionCall: { name, args } });

interface Reported {
	readonly reason: unknown;
	readonly text: string;
	readonly calls: readonly unknown[];
}

function nonStreamingResult(body: JsonObject, request?: JsonObject): { chat: Reported; messages: Reported } {
	const chat = chatToGemini.translateResponse(body, callOf(request)) as {
		choices: {
			finish_reason: string;
			message: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] };
		}[];
	};
	const messages = messagesToGemini.translateResponse(body, callOf(request)) as {
		stop_reason: string;
		content: { type: string; text?: string; name?: string; input?: unknown }[];
	};
	const [choice] = chat.choices;
	const calls = choice?.message.tool_calls ?? [];
	return {
		chat: {
			reason: choice?.finish_reason,
			text: choice?.message.content ?? '',
			calls: calls.map((call) => [call.function.name, call.function.arguments]),
		},
		messages: {
			reason: messages.stop_reason,
			text: messages.content.map(({ text = '' }) => text).join(''),
			calls: messages.content.flatMap(({ type, name, input }) => (type === 'tool_use' ? [[name, JSON.stringify(input)]] : [])),
		},
	};
}

const eventsOf = (list: readonly unknown[], end = '\r\n\r\n'): Buffer =>
	Buffer.from(list.map((one) => `data: ${JSON.stringify(one)}${end}`).join(''));

/** Returns the client's events; ends with the code of the error that the gateway would report. */
function streamed(list: readonly unknown[]): { chat: string; messages: string } {
	const read = (translation: typeof chatToGemini): string => {
		const stream = translateBytes(translation, callOf({ stream_options: { include_usage: true } }));
		let text = '';
		try {
			text += stream.push(eventsOf(list)).toString();
			text += stream.end().toString();
		} catch (cause) {
			if (!(cause instanceof UpstreamError)) throw cause;
			text += cause.code;
		}
		expect(stream.isTerminated && stream.hasFailed).toBe(false);
		return text;
	};
	return { chat: read(chatToGemini), messages: read(messagesToGemini) };
}

describe('finish reasons', () => {
	const said = [{ text: 'So' }];
	test.each([
		['STOP', said, 'stop', 'end_turn'],
		['STOP', [toolCall('f')], 'tool_calls', 'tool_use'],
		['MAX_TOKENS', said, 'length', 'max_tokens'],
		['MAX_TOKENS', [], 'length', 'max_tokens'],
		...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map(
			(reason): [string, JsonObject[], string, string] => [reason, said, 'content_filter', 'refusal'],
		),
		['MALFORMED_FUNCTION_CALL', said, 'stop', 'end_turn'],
		['A_REASON_OF_NEXT_YEAR', said, 'stop', 'end_turn'],
	] as [string, JsonObject[], string, string][])('%s', (reason, parts, chat, messages) => {
		const reported = nonStreamingResult(response(parts, reason));
		expect([reported.chat.reason, reported.messages.reason]).toEqual([chat, messages]);
		const stream = streamed([response(parts, reason)]);
		expect(stream.chat).toContain(`"finish_reason":"${chat}"`);
		expect(stream.messages).toContain(`"stop_reason":"${messages}"`);
	});

	test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER'])('%s without content is an invalid response', (reason) => {
		expect(() => nonStreamingResult(response([], reason))).toThrow(reason);
		expect(streamed([response([], reason)])).toEqual({
			chat: expect.stringMatching(/provider_response_invalid$/) as string,
			messages: expect.stringMatching(/provider_response_invalid$/) as string,
		});
	});

	test('a blocked prompt is filtered, without content', () => {
		const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata };
		expect(nonStreamingResult(blocked)).toEqual({
			chat: { reason: 'content_filter', text: '', calls: [] },
			messages: { reason: 'refusal', text: '', calls: [] },
		});
		const { chat, messages } = streamed([blocked]);
		expect(chat).toMatch(/"finish_reason":"content_filter"[^]*\[DONE\]\n\n$/);
		expect(messages).toMatch(/"stop_reason":"refusal"[^]*PROHIBITED_CONTENT[^]*message_stop"\}\n\n$/);
	});

	test('no candidate and no reason is an invalid response', () => {
		expect(() => nonStreamingResult({ candidates: [] })).toThrow('without a candidate');
		expect(streamed([{ usageMetadata }]).chat).toBe('provider_response_invalid');
	});
});

describe('streams', () => {
	test('an end without a reason is incomplete', () => {
		const { chat, messages } = streamed([response([{ text: 'So' }])]);
		expect([chat.endsWith('provider_disconnected'), messages.endsWith('provider_disconnected')]).toEqual([true, true]);
		expect(chat + messages).not.toMatch(/DONE|message_stop/);
	});

	test.each([
		[{ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }],
		[[{ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }]],
	])('an error in the middle ends it: %j', (error) => {
		const { chat, messages } = streamed([response([{ text: 'So' }]), error, response([{ text: 'not told' }], 'STOP')]);
		expect(chat).toMatch(/data: \{"error":\{"message":"Overloaded","type":"overloaded_error".*\n\n$/);
		expect(messages).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"Overloaded".*\n\n$/);
		expect(chat + messages).not.toMatch(/DONE|message_stop|not told/);
	});

	test.each([{ toString: 1 }, [5], true])('an error with any code is forwarded: %j', (code) => {
		const { chat, messages } = streamed([response([{ text: 'So' }]), { error: { code, message: 'Oops' } }]);
		expect(chat).toMatch(/"error":\{"message":"Oops","type":"api_error"/);
		expect(messages).toMatch(/"error":\{"type":"api_error","message":"Oops"/);
	});

	test('events before an invalid one are sent first', () => {
		const stream = translateBytes(chatToGemini, callOf());
		const bytes = Buffer.concat([eventsOf([response([{ text: 'So' }])]), Buffer.from('data: {oops\n\n')]);
		expect(stream.push(bytes).toString()).toContain('"content":"So"');
		expect(() => stream.end()).toThrow(UpstreamError);
	});

	test('arguments in pieces are joined, nested and in sequence', () => {
		const piece = (partialArgs: readonly JsonObject[], more: JsonObject = {}): JsonObject =>
			response([{ functionCall: { partialArgs, willContinue: true, ...more } }]);
		const { chat, messages } = streamed([
			response([{ functionCall: { name: 'f', willContinue: true } }]),
			piece([{ jsonPath: '$.a', stringValue: 'x', willContinue: true }]),
			piece([
				{ jsonPath: '$.a', stringValue: 'y' },
				{ jsonPath: '$.list[1].n', numberValue: 2 },
				{ jsonPath: '$.list[0]', boolValue: true },
			]),
			response([{ functionCall: { partialArgs: [{ jsonPath: '$.__proto__', nullValue: 'NULL_VALUE' }] } }]),
			response([toolCall('g', { whole: 1 })], 'STOP'),
		]);
		const args = JSON.stringify('{"a":"xy","list":[true,{"n":2}],"__proto__":null}');
		expect(chat).toContain(`"index":0,"function":{"arguments":${args}}`);
		expect(chat).toContain(`"index":1,"function":{"arguments":"{\\"whole\\":1}"}`);
		expect(messages).toContain(`"partial_json":${args}`);
	});

	test('several candidates are separate choices', () => {
		const both = (text: string, finishReason?: string): JsonObject => ({
			candidates: [0, 1].map((index) => ({ content: { parts: [{ text: `${text}${index}` }] }, index, finishReason })),
		});
		const { chat } = streamed([both('a'), both('b', 'STOP')]);
		const deltas = [...chat.matchAll(/"index":(\d),"delta":\{"content":"(\w+)"/g)].map(([, index, text]) => `${index}${text}`);
		expect(deltas).toEqual(['0a0', '1a1', '0b0', '1b1']);
		expect(chat.match(/"finish_reason":"stop"/g)).toHaveLength(2);
	});

	test('usage: the last one is valid, and the message begins with the known usage', () => {
		const { chat, messages } = streamed([
			response([{ text: 'a' }], undefined, { usageMetadata: { promptTokenCount: 9 } }),
			response([{ text: 'b' }], 'STOP', { usageMetadata }),
		]);
		expect(chat).toContain(
			'"usage":{"prompt_tokens":105,"completion_tokens":10,"total_tokens":115,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":3}}',
		);
		expect(messages).toMatch(/message_start.*"input_tokens":9,/);
		expect(messages).toMatch(
			/message_delta.*"input_tokens":65,"cache_creation_input_tokens":0,"cache_read_input_tokens":40,"output_tokens":10/,
		);
	});

	test("a message without reported usage begins and ends with the gateway's estimate of its input", () => {
		const { messages } = streamed([response([{ text: 'a' }], 'STOP')]);
		expect(messages.match(/"input_tokens":42/g)).toHaveLength(2);
	});
});

describe('tool calls', () => {
	test('keep integers beyond the precision of a double, non-streaming and streaming', () => {
		const body = JSON.stringify(response([toolCall('f', { n: '#' })], 'STOP')).replace('"#"', '12345678901234567890');
		const reported = nonStreamingResult(parseExactly(body) as JsonObject);
		expect([reported.chat.calls, reported.messages.calls]).toEqual([
			[['f', '{"n":12345678901234567890}']],
			[['f', '{"n":12345678901234567890}']],
		]);
		const stream = translateBytes(messagesToGemini, callOf());
		expect(stream.push(Buffer.from(`data: ${body}\n\n`)).toString()).toContain('12345678901234567890');
	});

	test("get the client's names and ids back", () => {
		const request = { tools: [{ type: 'function', function: { name: '9lives' } }] };
		const reported = chatToGemini.translateResponse(
			response([toolCall('_9lives'), { functionCall: { name: 'f', id: 'theirs' } }], 'STOP'),
			callOf(request),
		);
		expect(reported).toMatchObject({
			choices: [
				{ message: { content: null, tool_calls: [{ id: 'call_r1_0', function: { name: '9lives', arguments: '{}' } }, { id: 'theirs' }] } },
			],
		});
	});

	test('of the old shape are one call', () => {
		const request = { functions: [{ name: 'f' }] };
		const reported = chatToGemini.translateResponse(response([toolCall('f', { a: 1 }), toolCall('f')], 'STOP'), callOf(request));
		expect(reported).toMatchObject({
			choices: [{ finish_reason: 'function_call', message: { function_call: { name: 'f', arguments: '{"a":1}' } } }],
		});
	});

	test('without a name make the response invalid', () => {
		expect(() => nonStreamingResult(response([{ functionCall: { args: {} } }], 'STOP'))).toThrow('without a name');
	});
});

test('thoughts are shown to clients that asked for them, and to clients of chat completions in the field of their libraries', () => {
	const body = response([{ text: 'Hm. ', thought: true }, { text: 'So' }], 'STOP');
	expect(chatToGemini.translateResponse(body, callOf())).toMatchObject({
		choices: [{ message: { content: 'So', reasoning_content: 'Hm. ' } }],
	});
	expect(messagesToGemini.translateResponse(body, callOf())).toMatchObject({ content: [{ type: 'text', text: 'So' }] });
	expect(messagesToGemini.translateResponse(body, callOf({ thinking: { type: 'adaptive' } }))).toMatchObject({
		content: [
			{ type: 'thinking', thinking: 'Hm. ', signature: '' },
			{ type: 'text', text: 'So' },
		],
	});
});

describe('errors', () => {
	const error = (code: number, status: string, more: JsonObject = {}): JsonObject => ({
		error: { code, message: `It was ${status}`, status, ...more },
	});
	const badKey = error(400, 'INVALID_ARGUMENT', {
		details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
	});
	const wait = (retryDelay: string): JsonObject =>
		error(429, 'RESOURCE_EXHAUSTED', { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }] });

	test.each([
		[400, error(400, 'INVALID_ARGUMENT'), 'invalid_request_error', {}],
		[400, badKey, 'api_error', {}],
		[401, error(401, 'UNAUTHENTICATED'), 'api_error', {}],
		[403, error(403, 'PERMISSION_DENIED'), 'api_error', {}],
		[404, error(404, 'NOT_FOUND'), 'api_error', {}],
		[429, wait('34.4s'), 'rate_limit_error', { retryAfterSeconds: 35 }],
		[429, wait('0s'), 'rate_limit_error', { retryAfterSeconds: 0 }],
		[429, wait('soon'), 'rate_limit_error', {}],
		[500, error(500, 'INTERNAL'), 'api_error', {}],
		[503, error(503, 'UNAVAILABLE'), 'overloaded_error', {}],
		[503, undefined, 'api_error', {}],
	])('%i %j', (status, body, type, more) => {
		const chat = chatToGemini.translateError(status, body, callOf());
		const messages = messagesToGemini.translateError(status, body, callOf());
		expect(chat).toMatchObject({ body: { error: { type, param: null }, request_id: 'req_1' }, ...more });
		expect(messages).toMatchObject({ body: { type: 'error', error: { type }, request_id: 'req_1' }, ...more });
		const reported = JSON.stringify([chat.body, messages.body]);
		expect(reported).toContain(body === undefined ? 'without a message' : 'It was');
	});

	test('a conversation that is too long is reported in the words that clients look for', () => {
		const long = {
			error: {
				code: 400,
				message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
				status: 'INVALID_ARGUMENT',
			},
		};
		expect(chatToGemini.translateError(400, long, callOf()).body).toMatchObject({ error: { code: 'context_length_exceeded' } });
		expect(messagesToGemini.translateError(400, long, callOf()).body).toMatchObject({
			error: { message: expect.stringMatching(/^prompt is too long/) as string },
		});
	});
});
