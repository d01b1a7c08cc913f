/** Deviations of Gemini's layer for chat completions, repaired for clients. */

import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { chatToGeminiOpenai, messagesToGeminiOpenai } from '../../../../test/support/translations.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';

const call: ResponseContext = { request: {}, model: 'alias', requestId: 'req_1', nowSeconds: 7 };
const signature = { extra_content: { google: { thought_signature: 'c2ln' } } };
const toolCall = (name: string, more: JsonObject = {}): JsonObject => ({
	function: { name, arguments: '{"a":1}' },
	type: 'function',
	id: '',
	...more,
});
const usage = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 };

function streamed(chunks: readonly unknown[], translation = chatToGeminiOpenai): { data: JsonObject[]; text: string; ending: string } {
	const stream = translateBytes(translation, call);
	let text = stream
		.push(Buffer.from(chunks.map((chunk) => `data: ${chunk === '[DONE]' ? chunk : JSON.stringify(chunk)}\n\n`).join('')))
		.toString();
	try {
		text += stream.end().toString();
	} catch (cause) {
		if (!(cause instanceof UpstreamError)) throw cause;
		return { data: [], text, ending: cause.code };
	}
	const data = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? '') as JsonObject);
	return { data, text, ending: stream.hasFailed ? 'failed' : 'done' };
}

const chunk = (delta: JsonObject, finish_reason?: string): JsonObject => ({
	id: 'x',
	created: 1,
	model: 'm',
	choices: [{ delta, index: 0, finish_reason }],
});

test('a non-streaming response: ids, content, reason, and thoughts that only the total includes', () => {
	const body = { id: '', choices: [{ message: { tool_calls: [toolCall('f', signature), toolCall('g')] }, finish_reason: 'stop' }], usage };
	expect(chatToGeminiOpenai.translateResponse(body, call)).toEqual({
		id: 'chatcmpl-req_1',
		object: 'chat.completion',
		created: 7,
		model: 'alias',
		choices: [
			{
				index: 0,
				message: {
					role: 'assistant',
					content: null,
					refusal: null,
					tool_calls: [
						{ ...toolCall('f', signature), id: 'call_req_1_0' },
						{ ...toolCall('g'), id: 'call_req_1_1' },
					],
				},
				logprobs: null,
				finish_reason: 'tool_calls',
			},
		],
		usage: { ...usage, completion_tokens: 74, completion_tokens_details: { reasoning_tokens: 62 } },
	});
	expect(() => chatToGeminiOpenai.translateResponse({ choices: [] }, call)).toThrow(UpstreamError);
});

describe('a stream', () => {
	test('calls without index and id, and a finish reason that does not report them', () => {
		const { data, ending } = streamed([
			chunk({ role: 'assistant', tool_calls: [toolCall('f', signature)] }),
			chunk({ tool_calls: [toolCall('f'), toolCall('g', { id: 'own' })] }),
			chunk({}, 'stop'),
			'[DONE]',
		]);
		const calls = data.flatMap(({ choices }) =>
			(choices as { delta: { tool_calls?: JsonObject[] } }[]).flatMap(({ delta }) => delta.tool_calls ?? []),
		);
		expect(calls.map(({ index, id }) => [index, id])).toEqual([
			[0, 'call_x_0'],
			[1, 'call_x_1'],
			[2, 'own'],
		]);
		expect(calls[0]).toMatchObject(signature);
		expect(data.at(-1)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
		expect(ending).toBe('done');
	});

	test('that omits the terminal event gets it, if it has a finish reason', () => {
		expect(streamed([chunk({ content: 'Hi' }, 'stop')]).text).toMatch(/\[DONE\]\n\n$/);
		expect(streamed([chunk({ content: 'Hi' })]).ending).toBe('provider_disconnected');
	});

	test('that ends before all of its choices have is cut', () => {
		const second = (delta: JsonObject, finish_reason?: string): JsonObject => ({
			...chunk(delta),
			choices: [{ delta, index: 1, finish_reason }],
		});
		const begun = [chunk({ content: 'One' }), second({ content: 'Two' }), chunk({}, 'stop')];
		expect(streamed(begun).ending).toBe('provider_disconnected');
		expect(streamed([...begun, second({}, 'stop')]).text).toMatch(/\[DONE\]\n\n$/);
	});

	test('writes the events before an invalid one', () => {
		const stream = translateBytes(chatToGeminiOpenai, call);
		const bytes = `data: ${JSON.stringify(chunk({ content: 'Hi' }))}\n\ndata: {oops\n\n`;
		expect(stream.push(Buffer.from(bytes)).toString()).toContain('"content":"Hi"');
		expect(() => stream.end()).toThrow(expect.objectContaining({ code: 'provider_response_invalid' }) as UpstreamError);
	});

	test.each([
		[{ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }],
		[[{ error: { code: 503, message: 'Overloaded' } }]],
	])('an error in it: %j', (error) => {
		const { text, ending } = streamed([chunk({ content: 'Hi' }), error, chunk({}, 'stop')]);
		expect([text.includes('[DONE]'), ending, text.trimEnd().split('\n\n').at(-1)]).toEqual([
			false,
			'failed',
			expect.stringMatching(/^data: \{"error":\{"message":"Overloaded"/),
		]);
	});

	test('its usage counts thoughts', () => {
		expect(streamed([chunk({ content: 'Hi' }, 'stop'), { choices: [], usage }]).data.at(-1)).toMatchObject({
			choices: [],
			usage: { completion_tokens: 74 },
		});
	});
});

test('errors come in lists', () => {
	const body = { error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } };
	expect(chatToGeminiOpenai.translateError(400, body, call)).toMatchObject({
		body: { error: { message: 'No.', type: 'invalid_request_error', param: null } },
	});
});

describe('a request', () => {
	const history = [
		{ role: 'user', content: 'Hi' },
		{ role: 'assistant', tool_calls: [toolCall('f', { id: 'a' })] },
		{ role: 'tool', tool_call_id: 'a', content: '' },
	];
	const target = { model: 'gemini-3-pro-preview', maxOutputTokens: undefined };

	test('is the client’s own, except for the model and for calls without a signature', () => {
		const request = { model: 'alias', messages: history, a_new_field: 1 };
		const { body, warnings } = translateRequest('chat', 'gemini-openai', request, target);
		expect(body).toMatchObject({
			model: 'gemini-3-pro-preview',
			a_new_field: 1,
			messages: [{}, { tool_calls: [{ extra_content: { google: {} } }] }, {}],
		});
		expect(warnings).toHaveLength(1);
		expect(translateRequest('chat', 'gemini-openai', request, { ...target, model: 'gemini-2.5-pro' })).toEqual({
			body: { ...request, model: 'gemini-2.5-pro' },
			warnings: [],
		});
	});

	test('of messages carries signatures both ways', () => {
		const use = { type: 'tool_use', id: 'a', name: 'f', input: {}, ...signature };
		const messages = [
			{ role: 'user', content: 'Hi' },
			{ role: 'assistant', content: [use] },
			{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
		];
		const { body, warnings } = translateRequest('messages', 'gemini-openai', { messages, max_tokens: 9 }, target);
		expect([body['messages'], warnings]).toMatchObject([[{}, { tool_calls: [{ id: 'a', ...signature }] }, {}], []]);
		const whole = messagesToGeminiOpenai.translateResponse({ choices: [{ message: { tool_calls: [toolCall('f', signature)] } }] }, call);
		expect(whole).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', name: 'f', ...signature }] });
		const { text } = streamed([chunk({ tool_calls: [toolCall('f', signature)] }), chunk({}, 'stop'), '[DONE]'], messagesToGeminiOpenai);
		expect(text).toContain(JSON.stringify(signature).slice(1, -1));
	});
});
