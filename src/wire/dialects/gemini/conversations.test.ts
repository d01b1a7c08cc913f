/** Any client request is either rejected with its path, or translated into one that satisfies Gemini's rules. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { unknownGeminiFields } from '../../../../test/support/gemini-wire-fields.ts';
import { type StartedSimulator, startSimulator } from '../../../../test/support/start-simulator.ts';
import { TranslatedRequests } from '../../../../test/support/translated-requests.ts';
import type { ClientDialectName } from '../../../core/dialect-name.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

const model = fc.constantFrom(
	'gemini-2.0-flash',
	'gemini-2.5-flash-lite',
	'gemini-2.5-pro',
	'gemini-3-pro-preview',
	'gemini-3-flash-preview',
);
const text = fc.constantFrom('', ' ', '\n', 'Hi', 'Weather in Oslo?', '…é😀');
const toolName = fc.constantFrom('get_weather', '9lives', '-x', 'a'.repeat(64), 'mcp.server:tool');
const id = fc.constantFrom('a', 'call_1', 'call:1', '', 'x'.repeat(200), 'ид');
const signed = fc.constantFrom({}, { extra_content: { google: { thought_signature: 'c2ln' } } }, { extra_content: { google: {} } });
const effort = fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');
const user = { role: 'user', content: 'Go on.' };

const chatPart = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ type: fc.constant('text'), text }) },
	fc.constantFrom<JsonObject>(
		{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
		{ type: 'image_url', image_url: { url: 'data:image/PNG;base64,iVBORw0KGgo=' } },
		{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
		{ type: 'file', file: { filename: ' ', file_data: 'data:text/plain;base64,SGk=' } },
	),
);
const chatTurn = fc.oneof(
	fc.oneof(text, fc.array(chatPart, { maxLength: 3 })).map((content) => [{ role: 'user', content }]),
	text.map((content) => [{ role: 'assistant', content }]),
	fc.tuple(fc.constantFrom('system', 'developer'), text).map(([role, content]) => [{ role, content }]),
	fc.constant([
		{ role: 'assistant', content: null, function_call: { name: 'get_weather', arguments: '{}' } },
		{ role: 'function', name: 'get_weather', content: 'rain' },
	]),
	fc
		.record({
			ids: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
			words: fc.option(text),
			result: text,
			name: toolName,
			mark: signed,
			isReversed: fc.boolean(),
		})
		.map(({ ids, words, result, name, mark, isReversed }) => {
			const calls = ids.map((one) => ({
				id: one,
				type: 'function',
				function: { name, arguments: '{"n":123456789012345678901}' },
				...mark,
			}));
			const results = ids.map((one) => ({ role: 'tool', tool_call_id: one, content: result }));
			return [{ role: 'assistant', content: words, tool_calls: calls }, ...(isReversed ? results.toReversed() : results)];
		}),
);
const chatRequest = fc
	.record(
		{
			max_tokens: fc.constantFrom(1, 900, 10_000_000),
			temperature: fc.constantFrom(0, 1, 2),
			top_p: fc.constantFrom(0.1, 1),
			n: fc.constantFrom(1, 2, 8, 9),
			seed: fc.constantFrom(1, 2 ** 40),
			frequency_penalty: fc.constantFrom(0, 1),
			stop: fc.constantFrom('END', ['a', ''], ['1', '2', '3', '4', '5', '6']),
			tools: toolName.map((name) => [
				{ type: 'function', function: { name, parameters: { type: 'object', properties: {} }, strict: true } },
			]),
			tool_choice: fc.constantFrom('auto', 'none', 'required', { type: 'function', function: { name: 'get_weather' } }),
			parallel_tool_calls: fc.boolean(),
			response_format: fc.constantFrom({ type: 'json_object' }, { type: 'json_schema', json_schema: { schema: { type: 'object' } } }),
			reasoning_effort: effort,
			stream: fc.boolean(),
		},
		{ requiredKeys: [] },
	)
	.chain((more) => fc.array(chatTurn, { maxLength: 6 }).map((turns) => ({ ...more, messages: [...turns.flat(), user] })));

const block = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ type: fc.constant('text'), text }) },
	fc.constantFrom<JsonObject>(
		{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
		{ type: 'image', source: { type: 'url', url: 'https://example.com/a' } },
		{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' }, title: 't' },
		{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
		{ type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'found' }] },
	),
);
const messagesTurn = fc.oneof(
	fc.oneof(text, fc.array(block, { maxLength: 3 })).map((content) => [{ role: 'user', content }]),
	text.map((content) => [{ role: 'assistant', content }]),
	text.map((content) => [{ role: 'system', content }]),
	fc
		.record({
			ids: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
			words: text,
			name: toolName,
			mark: signed,
			content: fc.array(block, { maxLength: 2 }),
			is_error: fc.boolean(),
		})
		.map(({ ids, words, name, mark, content, is_error }) => [
			{
				role: 'assistant',
				content: [
					{ type: 'thinking', thinking: 'hm', signature: 'of another vendor' },
					{ type: 'text', text: words },
					...ids.map((one) => ({ type: 'tool_use', id: one, name, input: { city: 'Oslo' }, ...mark })),
				],
			},
			{
				role: 'user',
				content: [...ids.map((one) => ({ type: 'tool_result', tool_use_id: one, content, is_error })), { type: 'text', text: words }],
			},
		]),
);
const messagesRequest = fc
	.record(
		{
			max_tokens: fc.constantFrom(1, 900, 10_000_000),
			temperature: fc.constantFrom(0, 1),
			top_k: fc.constantFrom(1, 40),
			stop_sequences: fc.constantFrom(['END'], ['1', '2', '3', '4', '5', '6']),
			tools: toolName.map((name) => [{ name, input_schema: { type: 'object' }, strict: true }]),
			tool_choice: fc.constantFrom(
				{ type: 'auto' },
				{ type: 'any', disable_parallel_tool_use: true },
				{ type: 'none' },
				{ type: 'tool', name: 'get_weather' },
			),
			thinking: fc.constantFrom({ type: 'enabled', budget_tokens: 100_000 }, { type: 'adaptive' }, { type: 'disabled' }),
			output_config: effort.map((one) => ({ effort: one })),
			system: text,
		},
		{ requiredKeys: ['max_tokens'] },
	)
	.chain((more) => fc.array(messagesTurn, { maxLength: 6 }).map((turns) => ({ ...more, messages: [...turns.flat(), user] })));

describe.each<[string, ClientDialectName, fc.Arbitrary<JsonObject>]>([
	['chat completions', 'chat', chatRequest],
	['messages', 'messages', messagesRequest],
])('%s', (_name, client, requests) => {
	test('the provider takes every request that is not rejected here', async () => {
		const translated = new TranslatedRequests();
		await fc.assert(
			fc.asyncProperty(model, fc.constantFrom(undefined, 8192), requests, (name, maxOutputTokens, request) =>
				translated.send(
					() => translateRequest(client, 'gemini', request, { model: name, maxOutputTokens }).body,
					unknownGeminiFields,
					`${simulator.origin}/gemini/v1beta/models/${name}:generateContent`,
					{ 'x-goog-api-key': 'key' },
				),
			),
			{ numRuns: 400 },
		);
		translated.expectBoth();
	});
});
