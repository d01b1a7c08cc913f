import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { workedMs } from '../../../../test/support/cpu-ms.ts';
import { unknownWireFields } from '../../../../test/support/messages-wire-fields.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { TranslationTarget } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';

const folder = new URL('../../../../test/fixtures/translation/chat-to-messages/requests/', import.meta.url);
const isExpectation = /\.expected\.json$/;
const names = readdirSync(folder).filter((name) => !isExpectation.test(name));

interface Golden {
	readonly target: { readonly model: string; readonly maxOutputTokens?: number };
	readonly request: JsonObject;
}

test.each(names)('golden request %s', async (name) => {
	const { target, request } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Golden;
	const before = JSON.stringify(request);
	const translated = translateRequest('chat', 'messages', request, { maxOutputTokens: undefined, ...target });
	expect(JSON.stringify(request), 'the caller’s request must stay as it was').toBe(before);
	expect(unknownWireFields(translated.body)).toEqual([]);
	const expectation = new URL(name.replace('.json', '.expected.json'), folder);
	expect(existsSync(expectation)).toBe(true);
	await expect(`${JSON.stringify(translated, null, '\t')}\n`).toMatchFileSnapshot(expectation.pathname);
});

const target: TranslationTarget = { model: 'claude-opus-4-8', maxOutputTokens: 1000 };
const user = { role: 'user', content: 'Hi' };
const time = { type: 'function', function: { name: 'get_time' } };
const calls = (...list: JsonObject[]): JsonObject => ({ role: 'assistant', tool_calls: list });
const call = (id: string, text: unknown = '{}'): JsonObject => ({ id, type: 'function', function: { name: 'get_time', arguments: text } });
const result = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'x' });
const parts = (...list: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content: list }] });
const image = (url: unknown): JsonObject => parts({ type: 'image_url', image_url: { url } });

const rejections: readonly (readonly [param: string, request: JsonObject])[] = [
	['n', { n: 2 }],
	['logprobs', { logprobs: true }],
	['top_logprobs', { top_logprobs: 3 }],
	['logit_bias', { logit_bias: { 50256: -100 } }],
	['modalities', { modalities: ['text', 'audio'] }],
	['audio', { audio: { voice: 'alloy' } }],
	['web_search_options', { web_search_options: {} }],
	['moderation.policy', { moderation: { policy: { output: { mode: 'block' } } } }],
	['tools[1].type', { tools: [time, { type: 'custom', custom: { name: 'x' } }] }],
	['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
	['tools[0].function.parameters', { tools: [{ type: 'function', function: { name: 'x', parameters: [] } }] }],
	['tool_choice', { tools: [time], tool_choice: { type: 'function', function: { name: 'other' } } }],
	['tool_choice', { tools: [time], tool_choice: { type: 'custom', custom: { name: 'x' } } }],
	['tool_choice', { tools: [time], tool_choice: 'sometimes' }],
	['tool_choice', { tools: [time], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } }],
	['tool_choice.allowed_tools.mode', { tools: [time], tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [] } } }],
	['function_call', { functions: [{ name: 'a' }], function_call: { name: 'b' } }],
	['response_format.type', { response_format: { type: 'xml' } }],
	['response_format.json_schema.schema', { response_format: { type: 'json_schema', json_schema: { name: 'x' } } }],
	['reasoning_effort', { reasoning_effort: 'heroic' }],
	['stop[1]', { stop: ['a', 1] }],
	['stop', { stop: 1 }],
	['user', { user: 7 }],
	['max_tokens', { max_tokens: 0 }],
	['temperature', { temperature: '1' }],
	['messages', { messages: [] }],
	['messages', { messages: [{ role: 'system', content: 'Be brief.' }] }],
	['messages', { messages: [user, { role: 'assistant', content: 'Once upon' }] }],
	['messages[0].role', { messages: [{ role: 'critic', content: 'x' }] }],
	['messages[1]', { messages: [user, 'x'] }],
	['messages[0].content', { messages: [{ role: 'user', content: ' \n' }] }],
	['messages[0].content', { messages: [{ role: 'user', content: [] }] }],
	['messages[0].content', { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://x' } }] }, user] }],
	['messages[0].content[0].type', parts({ type: 'input_audio', input_audio: { data: '', format: 'wav' } })],
	['messages[0].content[1].text', parts({ type: 'text', text: 'a' }, { type: 'text' })],
	['messages[0].content[0].image_url.url', image('data:image/svg+xml;base64,PHN2Zz4=')],
	['messages[0].content[0].image_url.url', image('data:image/png,%89PNG')],
	['messages[0].content[0].image_url.url', image('file:///etc/passwd')],
	['messages[0].content[0].image_url.url', image(undefined)],
	['messages[0].content[0].file', parts({ type: 'file', file: { file_id: 'file-1' } })],
	['messages[0].content[0].file.file_data', parts({ type: 'file', file: { file_data: 'data:application/zip;base64,UEs=' } })],
	['messages[1].audio', { messages: [user, { role: 'assistant', audio: { id: 'audio_1' } }, user] }],
	['messages[1].tool_calls', { messages: [user, { role: 'assistant', tool_calls: {} }, user] }],
	[
		'messages[1].tool_calls[0].type',
		{ messages: [user, calls({ id: 'a', type: 'custom', custom: { name: 'x', input: '' } }), result('a')] },
	],
	['messages[1].tool_calls[0].id', { messages: [user, calls({ type: 'function', function: { name: 'x' } })] }],
	['messages[1].tool_calls[1].id', { messages: [user, calls(call('a'), call('a')), result('a')] }],
	['messages[1].tool_calls[0].function.name', { messages: [user, calls({ id: 'a', function: {} }), result('a')] }],
	['messages[1].tool_calls[1].function.arguments', { messages: [user, calls(call('a'), call('b', '{"city":')), result('a'), result('b')] }],
	['messages[1].tool_calls[0].function.arguments', { messages: [user, calls(call('a', '[1]')), result('a')] }],
	['messages[1].tool_calls[0].function.arguments', { messages: [user, calls(call('a', { city: 'Oslo' })), result('a')] }],
	['messages[1].tool_calls[1]', { messages: [user, calls(call('a'), call('b')), result('a')] }],
	['messages[1].tool_calls[0]', { messages: [user, calls(call('a')), user, result('a')] }],
	['messages[1].tool_call_id', { messages: [user, result('a')] }],
	['messages[3].tool_call_id', { messages: [user, calls(call('a')), result('a'), result('b')] }],
	['messages[3].tool_call_id', { messages: [user, calls(call('a')), result('a'), result('a')] }],
	['messages[2].tool_call_id', { messages: [user, calls(call('a')), { role: 'tool', content: 'x' }] }],
	['messages[1].tool_calls[0].id', { messages: [user, calls(call('x'.repeat(1025))), user] }],
	['messages[1].function_call.id', { messages: [user, { ...calls(call('call_1')), function_call: { name: 'f', arguments: '{}' } }, user] }],
	['messages[1].name', { messages: [user, { role: 'function', name: 'f', content: 'x' }] }],
];

test.each<[requested: JsonObject, temperature: number | undefined, warnings: readonly string[]]>([
	[{ temperature: 0.5 }, 0.5, []],
	[{ temperature: 0.5, reasoning_effort: 'none' }, 0.5, []],
	[{ temperature: 0.5, reasoning_effort: 'high' }, undefined, ['temperature: ignored']],
	[{ temperature: 1, reasoning_effort: 'high' }, undefined, []],
])('a model that thinks, by an effort too, takes no other temperature than its own: %j', (requested, temperature, warnings) => {
	const translated = translateRequest('chat', 'messages', { messages: [user], ...requested }, { ...target, model: 'claude-opus-4-6' });
	expect([translated.body.temperature, translated.warnings]).toEqual([temperature, warnings]);
});

test.each(rejections)('rejected at %s: %j', (param, request) => {
	let thrown: unknown;
	try {
		translateRequest('chat', 'messages', { model: 'x', messages: [user], ...request }, target);
	} catch (cause) {
		thrown = cause;
	}
	expect(thrown).toBeInstanceOf(Rejection);
	expect(thrown).toMatchObject({ code: 'field_invalid', param });
	expect((thrown as Rejection).message).toContain(`\`${param}\``);
});

const fields =
	'max_tokens temperature top_p stop tools tool_choice functions function_call response_format reasoning_effort user logit_bias moderation n'.split(
		' ',
	);
const memberNames = fc.constantFrom(
	...'role content type text image_url url file file_data tool_calls id function name arguments tool_call_id refusal thinking_blocks'.split(
		' ',
	),
	...'function_call parameters strict json_schema schema allowed_tools mode tools cache_control audio policy input'.split(' '),
);
const words = fc.constantFrom(
	'user',
	'assistant',
	'tool',
	'system',
	'function',
	'text',
	'image_url',
	'file',
	'json_schema',
	'allowed_tools',
	'a',
	'{}',
	'',
);
const { anything } = fc.letrec((tie) => ({
	anything: fc.oneof(
		{ maxDepth: 5, withCrossShrink: true },
		fc.oneof(words, fc.constant(null), fc.integer(), fc.boolean()),
		fc.array(tie('anything'), { maxLength: 3 }),
		fc.dictionary(memberNames, tie('anything'), { maxKeys: 5 }),
	),
}));

test('all values are accepted or rejected, without an internal error', () => {
	const messages = fc.oneof(anything, fc.array(fc.dictionary(memberNames, anything), { maxLength: 4 }));
	fc.assert(
		fc.property(messages, fc.dictionary(fc.constantFrom(...fields), anything, { maxKeys: 3 }), fc.boolean(), (list, more, isPlain) => {
			try {
				const { body } = translateRequest('chat', 'messages', { model: 'x', ...more, messages: isPlain ? [user] : list }, target);
				expect(unknownWireFields(body)).toEqual([]);
			} catch (cause) {
				expect(cause).toBeInstanceOf(Rejection);
				expect(cause).toMatchObject({ code: 'field_invalid', param: expect.any(String) as unknown });
			}
		}),
		{ numRuns: 2000 },
	);
});

test('a body with the maximum number of values is judged quickly', () => {
	const many = 30_000;
	const list = Array.from({ length: many }, (_, index) => index);
	const tools = list.map((index) => ({ type: 'function', function: { name: `t${index}` } }));
	const request = {
		messages: [
			{ role: 'user', content: list.map(() => ({ type: 'text', text: 'x' })) },
			{ role: 'user', content: list.map(() => ({ type: 'text', text: 'x' })) },
			calls(...list.map((index) => call(`call:${index}`))),
			...list.map((index) => result(`call:${index}`)),
		],
		tools,
		tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } },
	};
	const judge = (): void => {
		expect(translateRequest('chat', 'messages', request, target).body.messages).toHaveLength(3);
	};
	expect(workedMs(judge)).toBeLessThan(3000);
});

describe('warnings', () => {
	const warningsOf = (request: JsonObject): readonly string[] =>
		translateRequest('chat', 'messages', { model: 'x', messages: [user], ...request }, target).warnings;

	test('never quote a field that a header could not hold', () => {
		expect(warningsOf({ 'a\r\nset-cookie: b': 1, naïve: 1, ['x'.repeat(100)]: 1 })).toEqual(['a field with an unusual name: ignored']);
	});

	test('end', () => {
		expect(warningsOf(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field_${index}`, 1])))).toHaveLength(24);
	});

	test('fields named like inherited members are treated like others', () => {
		expect(warningsOf(JSON.parse('{"constructor":1,"__proto__":2,"toString":3}') as JsonObject)).toEqual([
			'constructor: ignored',
			'__proto__: ignored',
			'toString: ignored',
		]);
	});
});
