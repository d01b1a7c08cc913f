import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { messagesToChat } from '../../../../test/support/translations.ts';
import { Rejection } from '../../../core/rejection.ts';
import { fitName } from '../../conversation/fit-name.ts';
import type { TranslatedRequest } from '../../conversation/request-translation.ts';
import { sha256Hex } from '../../conversation/sha256.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';
import { chatModel } from './model.ts';

const translate = (change: JsonObject, model = 'gpt-4o'): TranslatedRequest =>
	translateRequest(
		'messages',
		'chat',
		{ model: 'claude-any', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...change },
		{ model, maxOutputTokens: undefined },
	);

test('the hash is SHA-256', () => {
	const expected = (text: string): string => createHash('sha256').update(text).digest('hex');
	for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000]) expect(sha256Hex('x'.repeat(length))).toBe(expected('x'.repeat(length)));
	fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => sha256Hex(text) === expected(text)));
});

test('fitted names are legal, short enough, and differ where the names differ', () => {
	fc.assert(
		fc.property(fc.string({ maxLength: 90 }), fc.string({ maxLength: 90 }), (one, other) => {
			expect(fitName(one, 40)).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
			expect(fitName(fitName(one, 40), 40)).toBe(fitName(one, 40));
			expect(fitName(one, 40) === fitName(other, 40)).toBe(one === other);
		}),
	);
	expect(fitName('call_plain-1', 40)).toBe('call_plain-1');
});

describe('models', () => {
	test.each([
		['gpt-3.5-turbo', 'max_tokens', true, 'system', []],
		['gpt-35-turbo-16k', 'max_tokens', true, 'system', []],
		['gpt-4o-mini', 'max_tokens', true, 'system', []],
		['chatgpt-4o-latest', 'max_tokens', true, 'system', []],
		['ft:gpt-4.1:team::id', 'max_tokens', true, 'system', []],
		['o1', 'max_completion_tokens', false, 'developer', ['low', 'medium', 'high']],
		['openai/o4-mini', 'max_completion_tokens', false, 'developer', ['low', 'medium', 'high']],
		['gpt-5-mini', 'max_completion_tokens', false, 'developer', ['minimal', 'low', 'medium', 'high']],
		['gpt-5-chat-latest', 'max_completion_tokens', false, 'developer', []],
		['gpt-5.1', 'max_completion_tokens', false, 'developer', ['none', 'low', 'medium', 'high']],
		['gpt-6', 'max_completion_tokens', false, 'developer', ['none', 'low', 'medium', 'high', 'xhigh']],
		['gpt-oss-120b', 'max_tokens', true, 'system', ['low', 'medium', 'high']],
		['qwen3:8b', 'max_tokens', true, 'system', ['low', 'medium', 'high']],
	])('%s', (name, tokenParam, takesSampling, systemRole, efforts) => {
		expect(chatModel(name)).toMatchObject({ tokenParam, takesSampling, systemRole, efforts });
	});

	test.each([
		['o1', true],
		['o3', false],
		['o3-mini', true],
		['o4-mini', false],
		['gpt-5', false],
		['gpt-4o', true],
	])('%s takes stop: %s', (name, takesStop) => {
		expect(translate({ stop_sequences: ['END'] }, name).body['stop']).toEqual(takesStop ? ['END'] : undefined);
	});
});

test.each([[['a', '']], [[' ']], [[5]]])('blank stop sequences are rejected: %j', (stop_sequences) => {
	const at = `stop_sequences[${stop_sequences.length - 1}]`;
	expect(() => translate({ stop_sequences })).toThrow(expect.objectContaining({ code: 'field_invalid', param: at }) as Rejection);
});

describe('thinking becomes reasoning effort', () => {
	const effortOf = (change: JsonObject, model = 'gpt-5'): unknown => translate(change, model).body['reasoning_effort'];
	const budget = (tokens: number): JsonObject => ({ thinking: { type: 'enabled', budget_tokens: tokens } });

	test.each([
		[budget(1024), 'low'],
		[budget(2048), 'low'],
		[budget(2049), 'medium'],
		[budget(8192), 'medium'],
		[budget(8193), 'high'],
		[{ ...budget(1024), output_config: { effort: 'high' } }, 'high'],
		[{ thinking: { type: 'adaptive' } }, undefined],
		[{ output_config: { effort: 'xhigh' } }, 'high'],
		[{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, undefined],
		[{}, undefined],
	])('%j', (change, effort) => {
		expect(effortOf(change)).toBe(effort);
	});

	test('steps down to a value that the model takes', () => {
		expect(effortOf({ output_config: { effort: 'max' } }, 'gpt-5.2')).toBe('xhigh');
		expect(effortOf({ output_config: { effort: 'max' } }, 'o3')).toBe('high');
		expect(effortOf({ output_config: { effort: 'unheard-of' } })).toBeUndefined();
	});

	test('the newest models take tools without reasoning alone', () => {
		const tools = [{ name: 'a', input_schema: {} }];
		expect(translate({ tools }, 'gpt-5.6')).toMatchObject({
			body: { reasoning_effort: 'none' },
			warnings: [expect.stringMatching(/none/) as string],
		});
		expect(effortOf({ tools }, 'gpt-5.2')).toBeUndefined();
		expect(effortOf({ tools: [] }, 'gpt-5.6')).toBeUndefined();
		expect(effortOf({ tools }, 'gpt-41')).toBeUndefined();
	});
});

test('an orphaned, repeated or missing result is rejected with its path, however turns are cut', () => {
	const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'a', input: {} });
	const result = (id: string): JsonObject => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
	const paramOf = (...messages: JsonObject[]): string | undefined => {
		try {
			translate({ messages });
			return undefined;
		} catch (cause) {
			return (cause as Rejection).param;
		}
	};
	const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
	const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content });
	expect(paramOf(assistant(use('1'), use('2')), user(result('2'), result('1')))).toBeUndefined();
	expect(paramOf(assistant(use('1')), user(result('1'), result('1')))).toBe('messages[1].content[1].tool_use_id');
	expect(paramOf(assistant(use('1'), use('2')), user(result('1')))).toBe('messages[0].content[1].id');
	expect(paramOf(assistant(use('1'), use('1')), user(result('1')))).toBe('messages[0].content[1].id');
	expect(paramOf(assistant(use('1')), { role: 'system', content: 'x' }, user(result('1')))).toBe('messages[0].content[0].id');
	expect(paramOf(user(result('1')))).toBe('messages[0].content[0].tool_use_id');
});

/** Members of chat completions. Objects under `tools` and `response_format` contain the client's own schema. */
const fields: Readonly<Record<string, readonly string[]>> = {
	body: [
		...['model', 'messages', 'max_tokens', 'max_completion_tokens', 'stop', 'temperature', 'top_p', 'tools', 'tool_choice', 'user'],
		...['parallel_tool_calls', 'reasoning_effort', 'response_format', 'service_tier', 'stream', 'stream_options'],
	],
	messages: ['role', 'content', 'tool_calls', 'tool_call_id'],
	content: ['type', 'text', 'image_url', 'file'],
	image_url: ['url'],
	file: ['filename', 'file_data'],
	tool_calls: ['id', 'type', 'function'],
	tools: ['type', 'function'],
	function: ['name', 'description', 'parameters', 'strict', 'arguments'],
	tool_choice: ['type', 'function'],
	response_format: ['type', 'json_schema'],
	json_schema: ['name', 'strict', 'schema'],
	stream_options: ['include_usage'],
};

function expectKnownFields(value: unknown, place: string): void {
	if (Array.isArray(value)) for (const one of value) expectKnownFields(one, place);
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
	for (const [name, inner] of Object.entries(value)) {
		expect((fields[place] ?? []).map((field) => `${place}.${field}`)).toContain(`${place}.${name}`);
		if (name !== 'parameters' && name !== 'schema') expectKnownFields(inner, name);
	}
}

const junk = fc.dictionary(fc.constantFrom('cache_control', 'citations', 'caller', 'x'), fc.jsonValue({ maxDepth: 2 }));
const texts = fc.record({ type: fc.constant('text'), text: fc.string() });
const block = fc.oneof(
	texts,
	fc.record({ type: fc.constant('image'), source: fc.constant({ type: 'base64', media_type: 'image/png', data: 'AA==', x: 1 }) }),
	fc.record({
		type: fc.constant('document'),
		source: fc.constant({ type: 'text', media_type: 'text/plain', data: 'x' }),
		title: fc.string(),
	}),
	fc.record({ type: fc.constantFrom('thinking', 'web_search_tool_result', 'surprise'), content: fc.jsonValue({ maxDepth: 2 }) }),
	fc.record({ type: fc.constant('tool_use'), id: fc.string(), name: fc.string(), input: fc.dictionary(fc.string(), fc.jsonValue()) }),
	fc.record({ type: fc.constant('tool_result'), tool_use_id: fc.string(), content: fc.oneof(fc.string(), fc.array(texts)) }),
);
const content = fc.oneof(
	fc.string(),
	fc.array(
		fc.tuple(block, junk).map(([one, more]) => ({ ...more, ...one })),
		{ maxLength: 4 },
	),
);

/** An assistant turn with calls, and its results. */
const exchange = fc
	.tuple(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }), fc.boolean(), content)
	.map(([ids, isError, more]) => [
		{ role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'a', input: {} })) },
		{
			role: 'user',
			content: [
				...(typeof more === 'string' ? [] : more.filter(({ type }) => type === 'text' || type === 'image')),
				...ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'x' }], is_error: isError })),
			],
		},
	]);
const messages = fc
	.array(
		fc.oneof(
			exchange,
			fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content }).map((one) => [one]),
		),
		{ minLength: 1, maxLength: 5 },
	)
	.map((turns) => turns.flat());

test('only known fields are sent, and every tool message follows its call, or the request is rejected with its path', () => {
	let sent = 0;
	fc.assert(
		fc.property(
			messages,
			junk,
			fc.constantFrom('gpt-4o', 'gpt-5', 'gpt-5.6', 'o3', 'llama'),
			fc.boolean(),
			(turns, more, model, stream) => {
				let body: JsonObject;
				try {
					body = translate({ ...more, messages: turns, stream, tools: [{ ...more, name: 'a', input_schema: {} }] }, model).body;
				} catch (cause) {
					expect(cause).toBeInstanceOf(Rejection);
					expect((cause as Rejection).param).toMatch(/^messages\[\d+\]/);
					return;
				}
				sent++;
				expectKnownFields(body, 'body');
				let open = new Set<string>();
				for (const message of body['messages'] as { role: string; tool_call_id?: string; tool_calls?: { id: string }[] }[]) {
					if (message.role === 'tool') {
						expect(open.delete(message.tool_call_id ?? '')).toBe(true);
					} else {
						expect(open.size).toBe(0);
						open = new Set(message.tool_calls?.map(({ id }) => id));
					}
				}
				expect(open.size).toBe(0);
			},
		),
		{ numRuns: 200 },
	);
	expect(sent).toBeGreaterThan(50);
});

test('the maximum number of blocks of a body causes no internal error', () => {
	const blocks = Array.from({ length: 160_000 }, () => ({ type: 'text', text: 'x' }));
	const source = { type: 'content', content: blocks };
	const { body } = translate({ messages: [{ role: 'user', content: [{ type: 'document', source }] }] });
	expect((body['messages'] as [{ content: unknown[] }])[0].content).toHaveLength(blocks.length);
});

test('values of wrong types are rejected, never an internal error', () => {
	const names = [
		'system',
		'tools',
		'tool_choice',
		'thinking',
		'output_config',
		'output_format',
		'metadata',
		'service_tier',
		'stop_sequences',
		'messages',
		'max_tokens',
		'mcp_servers',
		'temperature',
	];
	fc.assert(
		fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
			try {
				translate({ tools: [{ name: 'a', input_schema: {} }], [name]: value });
			} catch (cause) {
				expect(cause).toBeInstanceOf(Rejection);
			}
		}),
		{ numRuns: 1000 },
	);
});

test('numbers beyond the precision of a double keep their digits in arguments of a response', () => {
	const response = {
		choices: [
			{
				message: { tool_calls: [{ id: 'call_1', function: { name: 'find', arguments: '{"id":12345678901234567890}' } }] },
				finish_reason: 'tool_calls',
			},
		],
	};
	const reported = messagesToChat.translateResponse(response, { request: {}, model: 'm', requestId: 'req_7', nowSeconds: 1 });
	expect(JSON.stringify(reported)).toContain('"input":{"id":12345678901234567890}');
});

test.each([
	['no choice', { choices: [] }],
	['no choices', {}],
	['a call without a name', { choices: [{ message: { tool_calls: [{ function: {} }] }, finish_reason: 'tool_calls' }] }],
	[
		'broken arguments',
		{ choices: [{ message: { tool_calls: [{ function: { name: 'a', arguments: '{"x' } }] }, finish_reason: 'tool_calls' }] },
	],
])('no response: %s', (_what, body) => {
	const call = { request: {}, model: 'm', requestId: 'req_7', nowSeconds: 1 };
	expect(() => messagesToChat.translateResponse(body, call)).toThrow(
		expect.objectContaining({ code: 'provider_response_invalid' }) as Error,
	);
});
