import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { chatToMessages } from '../../../../test/support/translations.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const folder = new URL('../../../../test/fixtures/translation/chat-to-messages/', import.meta.url);
const recordings = readRecordings('anthropic');
const call: ResponseContext = {
	request: { model: 'alias', stream_options: { include_usage: true } },
	model: 'alias',
	requestId: 'req_1',
	nowSeconds: 1_790_000_000,
};

const baseName = (name: string): string => name.replace('anthropic/', '').replace('.json', '');

test.each(recordings.filter(({ response }) => response.sse === undefined))('golden response to $name', async ({ name, response }) => {
	const translated = chatToMessages.translateResponse(response.json as JsonObject, call);
	const expectation = new URL(`answers/${baseName(name)}.expected.json`, folder);
	expect(existsSync(expectation)).toBe(true);
	await expect(`${JSON.stringify(translated, null, '\t')}\n`).toMatchFileSnapshot(expectation.pathname);
});

test.each(recordings.filter(({ response }) => response.sse !== undefined))('golden stream of $name', async (recording) => {
	const stream = translateBytes(chatToMessages, call);
	const bytes = Buffer.concat([stream.push(recordedBytes(recording)), stream.end()]);
	expect(stream).toMatchObject({ isTerminated: true, hasFailed: false });
	const expectation = new URL(`streams/${baseName(recording.name)}.expected.sse`, folder);
	expect(existsSync(expectation)).toBe(true);
	await expect(bytes.toString()).toMatchFileSnapshot(expectation.pathname);
});

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x', usage: { input_tokens: 3, output_tokens: 4 } };
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } };

interface Choice {
	readonly finish_reason: string;
	readonly message: JsonObject;
}

function choiceOf(body: JsonObject, request: JsonObject = {}): Choice {
	const { choices } = chatToMessages.translateResponse({ ...message, ...body }, { ...call, request });
	return (choices as readonly Choice[])[0] as Choice;
}

describe('finish_reason', () => {
	test.each([
		['end_turn', 'stop'],
		['stop_sequence', 'stop'],
		['pause_turn', 'stop'],
		['max_tokens', 'length'],
		['model_context_window_exceeded', 'length'],
		['refusal', 'content_filter'],
		['some_new_reason', 'stop'],
		[null, 'stop'],
	])('of %s is %s', (stop_reason, expected) => {
		expect(choiceOf({ content: [{ type: 'text', text: 'x' }], stop_reason }).finish_reason).toBe(expected);
	});

	test("of a turn with calls is tool_calls, with or without the provider's own, unless it was cut", () => {
		expect(choiceOf({ content: [use], stop_reason: 'tool_use' }).finish_reason).toBe('tool_calls');
		expect(choiceOf({ content: [use], stop_reason: 'end_turn' }).finish_reason).toBe('tool_calls');
		expect(choiceOf({ content: [use], stop_reason: 'max_tokens' }).finish_reason).toBe('length');
	});
});

describe('message', () => {
	test('of calls alone has null for content, of no content at all an empty string', () => {
		expect(choiceOf({ content: [use], stop_reason: 'tool_use' }).message.content).toBeNull();
		expect(choiceOf({ content: [], stop_reason: 'end_turn' }).message.content).toBe('');
	});

	test('to a client of functions is in the old shape', () => {
		expect(choiceOf({ content: [use], stop_reason: 'tool_use' }, { functions: [{ name: 'f' }] })).toEqual({
			index: 0,
			message: { role: 'assistant', content: null, refusal: null, function_call: { name: 'f', arguments: '{"a":1}' } },
			logprobs: null,
			finish_reason: 'function_call',
		});
	});

	test('returns signed and encrypted thinking unchanged, and no other', () => {
		const signed = { type: 'thinking', thinking: '', signature: 'c2ln' };
		const hidden = { type: 'redacted_thinking', data: 'AAAA' };
		const content = [signed, hidden, { type: 'thinking', thinking: 'x', signature: '' }, { type: 'text', text: 'y' }];
		expect(choiceOf({ content, stop_reason: 'end_turn' }).message).toEqual({
			role: 'assistant',
			content: 'y',
			refusal: null,
			reasoning_content: 'x',
			thinking_blocks: [signed, hidden],
		});
	});

	test('omits the results of servers’ tools, and names calls that come without an id', () => {
		const content = [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, { ...use, id: '' }, { type: 'news' }];
		expect(choiceOf({ content, stop_reason: 'tool_use' }).message.tool_calls).toEqual([
			{ id: 'call_1_0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
		]);
	});
});

test('without usage none is reported', () => {
	expect(chatToMessages.translateResponse({ ...message, content: [], usage: undefined }, call)).not.toHaveProperty('usage');
});

test.each([{}, { type: 'error', error: {} }, { ...message, content: 'x' }, { ...message, content: [{ type: 'tool_use', id: 'a' }] }])(
	'not a message: %j',
	(body) => {
		expect(() => chatToMessages.translateResponse(body, call)).toThrow(UpstreamError);
	},
);

describe('error', () => {
	const reported = (type: string, text: string, more: JsonObject = {}): JsonObject => ({
		type: 'error',
		error: { type, message: text, ...more },
	});

	test.each([
		[400, reported('invalid_request_error', 'messages: Field required'), 'invalid_request_error'],
		[400, reported('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'), 'context_length_exceeded'],
		[413, undefined, 'request_too_large'],
		[429, reported('rate_limit_error', 'Slow down'), 'rate_limit_error'],
		[
			429,
			reported('rate_limit_error', 'Spent', { details: { error_code: 'enforced_spend_limit_reached' } }),
			'enforced_spend_limit_reached',
		],
		[404, reported('not_found_error', 'model: claude-x'), 'not_found_error'],
		[500, reported('api_error', 'Internal server error'), 'api_error'],
		[504, undefined, 'timeout_error'],
		[529, reported('overloaded_error', 'Overloaded'), 'overloaded_error'],
	])('%i %j becomes %s', (status, body, code) => {
		const translated = chatToMessages.translateError(status, body, call);
		expect(translated).toMatchObject({ body: { error: { code, param: null }, request_id: 'req_1' } });
		const { error } = translated.body as { error: { message: string } };
		expect(error.message).toBe((body?.error as { message: string } | undefined)?.message ?? `The provider returned status ${status}`);
	});

	test.each([401, 403])('%i concerns the gateway’s key, in the provider’s words', (status) => {
		const words = 'invalid x-api-key';
		const translated = chatToMessages.translateError(status, reported('authentication_error', words), call);
		expect(translated.body).toMatchObject({ error: { type: 'api_error', code: 'provider_key_rejected', message: words } });
	});
});
