/** Any client request is either rejected with its path, or translated into one that satisfies the provider's rules. */
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { unknownWireFields } from '../../../../test/support/messages-wire-fields.ts';
import { type StartedSimulator, startSimulator } from '../../../../test/support/start-simulator.ts';
import { TranslatedRequests } from '../../../../test/support/translated-requests.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { translateRequest } from '../../translate.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

const text = fc.constantFrom('', ' ', '\n', 'Hi', 'Weather in Oslo?', 'ends with space ', '…é😀');
const part = fc.oneof(
	{ weight: 5, arbitrary: fc.record({ type: fc.constant('text'), text }) },
	fc.constantFrom<JsonObject>(
		{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
		{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
		{ type: 'file', file: { filename: ' ', file_data: 'data:text/plain;base64,SGk=' } },
	),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
const textContent = fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 }));
const toolArguments = fc.constantFrom('', '{}', '{"city":"Oslo"}', '{"n":123456789012345678901}', '{"__proto__":1}');
const id = fc.constantFrom('a', 'call_1', 'call:1', 'call.1', '', 'x'.repeat(200), 'ид');
const thinking = fc.constantFrom<JsonObject>(
	{},
	{ thinking_blocks: [] },
	{ thinking_blocks: [{ type: 'thinking', thinking: 'x', signature: '' }] },
);

const said = fc
	.tuple(textContent, thinking, fc.boolean())
	.map(([words, thoughts, isModelRefusal]) => [
		{ role: 'assistant', ...thoughts, ...(isModelRefusal ? { content: null, refusal: 'No.' } : { content: words }) },
	]);
/** A turn with calls and its results, in any order. */
const called = fc
	.record({
		ids: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }),
		words: fc.option(text),
		input: toolArguments,
		results: textContent,
		isReversed: fc.boolean(),
		tool: fc.constantFrom('get_weather', 'other_tool'),
	})
	.map(({ ids, words, input, results, isReversed, tool }) => {
		const calls = ids.map((one) => ({ id: one, type: 'function', function: { name: tool, arguments: input } }));
		const responses = ids.map((one) => ({ role: 'tool', tool_call_id: one, content: results }));
		return [{ role: 'assistant', content: words, tool_calls: calls }, ...(isReversed ? responses.toReversed() : responses)];
	});
const legacy = fc.constant([
	{ role: 'assistant', content: null, function_call: { name: 'get_weather', arguments: '{}' } },
	{ role: 'function', name: 'get_weather', content: 'rain' },
]);
const user = content.map((words) => [{ role: 'user', content: words }]);
const system = fc.tuple(fc.constantFrom('system', 'developer'), textContent).map(([role, words]) => [{ role, content: words }]);
const conversation = fc
	.array(fc.oneof({ weight: 3, arbitrary: user }, said, { weight: 2, arbitrary: called }, legacy, system), { minLength: 1, maxLength: 7 })
	.map((turns) => [...turns.flat(), { role: 'user', content: 'Go on.' }])
	.chain((turns) => fc.oneof({ weight: 5, arbitrary: fc.constant(turns) }, fc.constant(turns.slice(0, -1))));

const weather = {
	type: 'function',
	function: { name: 'get_weather', parameters: { properties: { city: { type: 'string' } } }, strict: true },
};
const time = { type: 'function', function: { name: 'get_time' } };
const allowed = {
	type: 'allowed_tools',
	allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_time' } }] },
};
const schema = {
	type: 'json_schema',
	json_schema: { name: 's', schema: { type: 'object', properties: { a: { type: 'object', properties: {} } } } },
};

const settings = fc.record(
	{
		max_tokens: fc.constantFrom(1, 900, 5000, 10_000_000),
		max_completion_tokens: fc.constantFrom(1, 1500, 40_000),
		temperature: fc.constantFrom(0, 0.5, 1, 2),
		top_p: fc.constantFrom(0.1, 1),
		stop: fc.constantFrom('END', ' ', ['a', '\n'], []),
		tools: fc.constantFrom([], [weather], [weather, time]),
		tool_choice: fc.constantFrom('auto', 'none', 'required', allowed, { type: 'function', function: { name: 'get_weather' } }),
		parallel_tool_calls: fc.boolean(),
		functions: fc.constantFrom([], [{ name: 'get_weather', parameters: { type: 'object' } }]),
		function_call: fc.constantFrom('auto', 'none', { name: 'get_weather' }),
		response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }, schema),
		reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
		user: fc.constantFrom('', 'u'),
		service_tier: fc.constantFrom('auto', 'default', 'flex'),
		seed: fc.integer(),
		stream: fc.boolean(),
	},
	{ requiredKeys: [] },
);
const model = fc.constantFrom(
	'claude-3-opus-20240229',
	'claude-3-5-haiku-latest',
	'claude-3-7-sonnet-20250219',
	'claude-sonnet-4-20250514',
	'claude-sonnet-4-5',
	'claude-sonnet-4-6',
	'claude-opus-4-6',
	'claude-opus-4-8',
	'claude-sonnet-5',
	'claude-sim-new',
);

test('the provider takes every request that is not rejected here', async () => {
	const translated = new TranslatedRequests();
	await fc.assert(
		fc.asyncProperty(model, fc.constantFrom(undefined, 4096, 64_000), settings, conversation, (name, maxOutputTokens, more, messages) =>
			translated.send(
				() => translateRequest('chat', 'messages', { model: 'alias', ...more, messages }, { model: name, maxOutputTokens }).body,
				unknownWireFields,
				`${simulator.origin}/anthropic/v1/messages`,
				{ 'x-api-key': 'sk-ant-1111', 'anthropic-version': '2023-06-01' },
			),
		),
		{ numRuns: 600 },
	);
	translated.expectBoth();
});
