/** Requests with unexpected values in any place are translated or rejected, and never cause an internal error. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { samples, translations } from '../../test/support/translations.ts';
import type { ClientDialectName } from '../core/dialect-name.ts';
import { Rejection } from '../core/rejection.ts';
import { parseExactly } from './json/exact-json.ts';
import type { JsonObject } from './json/parse-body.ts';
import { translateRequest } from './translate.ts';

const base64 = { type: 'base64', media_type: 'image/png', data: 'AA==' };
const chat = {
	model: 'm',
	max_tokens: 500,
	messages: [
		{ role: 'developer', content: 'Be brief.' },
		{
			role: 'user',
			content: [
				{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } },
				{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
				{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
			],
		},
		{
			role: 'assistant',
			content: 'So',
			refusal: null,
			thinking_blocks: [{ type: 'thinking', thinking: 't', signature: 's' }],
			extra_content: { google: { thought_signature: 's' } },
			tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
		},
		{ role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'r' }] },
		{ role: 'assistant', function_call: { name: 'f', arguments: '' } },
		{ role: 'function', name: 'f', content: 'r' },
		{ role: 'user', content: [{ type: 'input_audio', input_audio: { format: 'wav', data: 'AA==' } }] },
	],
	tools: [{ type: 'function', function: { name: 'f', description: 'd', strict: true, parameters: { properties: { a: {} } } } }],
	tool_choice: { type: 'function', function: { name: 'f' } },
	stop: ['z'],
	temperature: 1,
	top_p: 1,
	n: 1,
	response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { anyOf: [{ type: ['object'] }] } } },
	reasoning_effort: 'low',
	user: 'u',
	moderation: { policy: { input: { mode: 'flag' } } },
	stream_options: { include_usage: true },
	service_tier: 'auto',
};
const messages = {
	model: 'm',
	max_tokens: 5000,
	system: [{ type: 'text', text: 's' }],
	messages: [
		{
			role: 'user',
			content: [
				{ type: 'image', source: base64 },
				{ type: 'document', title: 't', context: 'c', citations: { enabled: true }, source: { type: 'content', content: 'x' } },
				{ type: 'document', source: { ...base64, media_type: 'application/pdf' } },
				{ type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'c' }] },
			],
		},
		{
			role: 'assistant',
			content: [
				{ type: 'server_tool_use', id: 's', name: 'w', input: { q: 1 } },
				{ type: 'web_search_tool_result', tool_use_id: 's', content: [{ title: 't', url: 'u' }] },
				{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 }, extra_content: { google: { thought_signature: 's' } } },
			],
		},
		{
			role: 'user',
			content: [
				{
					type: 'tool_result',
					tool_use_id: 'a',
					is_error: true,
					content: [
						{ type: 'tool_reference', tool_name: 'f' },
						{ type: 'image', source: base64 },
					],
				},
			],
		},
		{ role: 'system', content: 'Go on.' },
	],
	tools: [{ name: 'f', description: 'd', strict: true, input_schema: { type: 'object' } }],
	tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
	thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
	output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } },
	stop_sequences: ['z'],
	metadata: { user_id: 'u' },
	service_tier: 'auto',
};

const embeddings = {
	model: 'm',
	input: ['One text', 'Another'],
	encoding_format: 'base64',
	dimensions: 256,
	input_type: 'query',
	task_type: 'RETRIEVAL_QUERY',
	user: 'u',
};
const completions = { model: 'm', prompt: ['One', 'Two'], suffix: 'end', max_tokens: 9, n: 2, best_of: 3, stop: ['z'], logprobs: 1 };

/** Values without text, objects in disguise, and values of the wrong type. */
const odd = [
	'12345678901234567890',
	'{"toString":1,"valueOf":null}',
	'{"__proto__":[]}',
	'[null]',
	'null',
	'""',
	'"\\ud800"',
	'-1',
	'true',
	'[[]]',
];

function positionsOf(value: unknown, place: readonly string[] = []): string[][] {
	if (typeof value !== 'object' || value === null) return [[...place]];
	return [[...place], ...Object.entries(value).flatMap(([name, inner]) => positionsOf(inner, [...place, name]))];
}

function withMark(value: unknown, [name, ...rest]: readonly string[]): unknown {
	if (name === undefined) return '\u0000';
	const changed = (key: string, inner: unknown): unknown => (key === name ? withMark(inner, rest) : inner);
	if (Array.isArray(value)) return value.map((inner: unknown, at) => changed(String(at), inner));
	return Object.fromEntries(Object.entries(value as object).map(([key, inner]): [string, unknown] => [key, changed(key, inner)]));
}

const responses = {
	model: 'm',
	instructions: 'Be short.',
	max_output_tokens: 500,
	temperature: 0.5,
	top_p: 0.5,
	store: false,
	parallel_tool_calls: false,
	reasoning: { effort: 'low', summary: 'auto' },
	include: ['reasoning.encrypted_content'],
	text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
	metadata: { a: 'b' },
	tools: [
		{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object', properties: {} }, strict: false },
		{ type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
		{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] },
		{ type: 'web_search' },
	],
	tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
	input: [
		{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'h' }] },
		{ role: 'developer', content: 'Answer.' },
		{
			type: 'message',
			role: 'user',
			content: [
				{ type: 'input_text', text: 'hi' },
				{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
				{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
			],
		},
		{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], content: null, encrypted_content: 'gAAAA' },
		{ type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'ok', annotations: [] }] },
		{ type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
		{ type: 'custom_tool_call', call_id: 'c2', name: 'c', input: 'a' },
		{ type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'x' }] },
		{ type: 'custom_tool_call_output', call_id: 'c2', output: 'y' },
	],
};

const sound: Readonly<Record<ClientDialectName, JsonObject>> = { chat, messages, responses, embeddings, completions };

describe.each(translations.map((translation) => [`${translation.caller} to ${translation.provider}`, translation] as const))(
	'%s',
	(_name, translation) => {
		const whole = sound[translation.caller];
		const { models } = samples[translation.provider];
		const places = positionsOf(whole).filter(({ length }) => length > 0);

		test.each(odd)('%s in any place', (text) => {
			for (const place of places) {
				const request = parseExactly(JSON.stringify(withMark(whole, place)).replace('"\\u0000"', () => text)) as JsonObject;
				for (const model of models) {
					try {
						expect(
							JSON.stringify(translateRequest(translation.caller, translation.provider, request, { model, maxOutputTokens: 8000 }).body),
						).toContain('{');
					} catch (cause) {
						expect([place, cause]).toEqual([place, expect.any(Rejection)]);
					}
				}
			}
		});

		test('two of them at once', () => {
			fc.assert(
				fc.property(
					fc.constantFrom(...places),
					fc.constantFrom(...places),
					fc.constantFrom(...odd),
					fc.constantFrom(...models),
					(one, other, text, model) => {
						const twice = (place: readonly string[], request: unknown): unknown => {
							const changed = JSON.stringify(withMark(request, place)).replace('"\\u0000"', () => text);
							return parseExactly(changed);
						};
						const first = twice(one, whole);
						const isInside = one.every((name, at) => other[at] === name) || other.every((name, at) => one[at] === name);
						const request = (isInside ? first : twice(other, first)) as JsonObject;
						try {
							translateRequest(translation.caller, translation.provider, request, { model, maxOutputTokens: undefined });
						} catch (cause) {
							expect(cause).toBeInstanceOf(Rejection);
						}
					},
				),
				{ numRuns: 300 },
			);
		});
	},
);
