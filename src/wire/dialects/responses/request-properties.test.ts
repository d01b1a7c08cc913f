/** Any request of the Responses API is either rejected with its path, or translated with every call next to its result. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRecordings } from '../../../../test/support/recordings.ts';
import { fromResponses, type Provider, type Translated, toResponses } from '../../../../test/support/responses-requests.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { JsonObject } from '../../json/parse-body.ts';

const providers: readonly Provider[] = ['chat', 'messages', 'gemini'];

const text = fc.constantFrom('', ' ', 'Hi', 'ends with space ', '…é😀');
const part = fc.constantFrom<JsonObject>(
	{ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
	{ type: 'input_text', text: '' },
	{ type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
	{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
	{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
	{ type: 'input_file', file_url: 'https://example.com/a.pdf' },
	{ type: 'refusal', refusal: 'No.' },
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }));
const message = fc
	.tuple(fc.constantFrom('user', 'user', 'developer', 'assistant'), content)
	.map(([role, said]) => ({ role, content: said }));
const reasoning = fc.constantFrom<JsonObject>(
	{ type: 'reasoning', summary: [], encrypted_content: 'gAAAA' },
	{ type: 'reasoning', summary: [], encrypted_content: 'tg1.{"p":"anthropic","b":[{"type":"thinking","thinking":"Hm","signature":"s"}]}' },
	{ type: 'reasoning', summary: [], encrypted_content: 'tg1.{"p":"gemini","b":[],"s":{"a":"s","b":7},"t":"t"}' },
	{ type: 'reasoning', summary: [], encrypted_content: 'tg1.{"p":1,"b":{},"s":[]}' },
);
const hosted = fc.constantFrom<JsonObject>({ type: 'web_search_call', id: 'w' }, { type: 'additional_tools', tools: [] });

/** Calls and their outputs in any order, with other items between. */
const round = fc
	.record({
		ids: fc.uniqueArray(fc.constantFrom('a', 'call_1', 'c:1', '', 'x'.repeat(80)), { minLength: 1, maxLength: 3 }),
		kind: fc.constantFrom('function', 'custom', 'search'),
		namespace: fc.constantFrom(undefined, 'team'),
		input: fc.constantFrom('', '{}', '{"n":123456789012345678901}'),
		said: content,
		between: fc.array(fc.oneof(message, reasoning, hosted), { maxLength: 2 }),
		isReversed: fc.boolean(),
		isInterleaved: fc.boolean(),
	})
	.map(({ ids, kind, namespace, input, said, between, isReversed, isInterleaved }) => {
		const calls = ids.map((call_id): JsonObject => {
			if (kind === 'search') return { type: 'tool_search_call', execution: 'client', call_id, arguments: {} };
			if (kind === 'custom') return { type: 'custom_tool_call', call_id, name: 'f', namespace, input };
			return { type: 'function_call', call_id, name: 'f', namespace, arguments: input };
		});
		const outputs = ids.map((call_id): JsonObject => {
			if (kind === 'search') return { type: 'tool_search_output', execution: 'client', call_id, tools: [] };
			return { type: kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output', call_id, output: said };
		});
		if (isInterleaved) return calls.flatMap((call, index) => [call, ...between, outputs[index] ?? {}]);
		return [...calls, ...between, ...(isReversed ? outputs.toReversed() : outputs)];
	});
const legal = fc
	.array(
		fc.oneof(
			round,
			fc.oneof(message, reasoning, hosted).map((item) => [item]),
		),
		{ maxLength: 5 },
	)
	.map((items) => [{ role: 'user', content: 'Hi' }, ...items.flat()]);
const anything = fc.array(
	fc.oneof(
		fc.anything(),
		fc.record({
			type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning', 'odd', null),
			role: fc.constantFrom('user', 'assistant', 'odd'),
			content: fc.anything(),
			call_id: fc.constantFrom('a', 7),
			name: fc.anything(),
			arguments: fc.anything(),
			output: fc.anything(),
			tools: fc.anything(),
		}),
	),
	{ maxLength: 4 },
);
const settings = fc.record(
	{
		tools: fc.constantFrom<unknown>(
			[{ type: 'function', name: 'f' }, { type: 'web_search' }],
			[{ type: 'namespace', name: 'team', tools: [{ type: 'custom', name: 'f' }] }],
			7,
		),
		tool_choice: fc.constantFrom<unknown>('auto', 'required', { type: 'function', name: 'f' }, { type: 'web_search' }),
		text: fc.constantFrom<unknown>({ format: { type: 'json_object' }, verbosity: 'low' }, 7),
		reasoning: fc.constantFrom<unknown>({ effort: 'low', summary: 'auto' }, 'low'),
		include: fc.constantFrom<unknown>(['reasoning.encrypted_content'], 'x'),
		later: fc.anything(),
	},
	{ requiredKeys: [] },
);

const encryption = { encrypt: (): string => '', decrypt: (encrypted: string): string => encrypted };

/** @returns undefined for a rejected request. */
function translated(provider: Provider, request: JsonObject): Translated | undefined {
	try {
		return fromResponses(provider, request, {}, encryption);
	} catch (cause) {
		if (!(cause instanceof Rejection)) throw cause;
		expect(cause.code).toBe('field_invalid');
		expect(cause.param).toMatch(/^\w+(?:\.\w+|\[\d+\])*$/);
		return undefined;
	}
}

/** Ids of calls, and of results, in each turn of a body. */
function pairs(
	provider: Provider,
	body: JsonObject,
): readonly { readonly calls: readonly unknown[]; readonly results: readonly unknown[] }[] {
	if (provider === 'chat') return chatPairs(body.messages as readonly JsonObject[]);
	const turns = (provider === 'messages' ? body.messages : body.contents) as readonly JsonObject[];
	return turns.map((turn) => {
		const blocks = (turn.content ?? turn.parts) as readonly JsonObject[];
		const idsOf = (name: string): unknown[] =>
			blocks.flatMap((block) => (block[name] === undefined ? [] : [(block[name] as JsonObject).id]));
		if (provider === 'gemini') return { calls: idsOf('functionCall'), results: idsOf('functionResponse') };
		const of = (type: string, id: string): unknown[] => blocks.flatMap((block) => (block.type === type ? [block[id]] : []));
		return { calls: of('tool_use', 'id'), results: of('tool_result', 'tool_use_id') };
	});
}

/** Adjacent tool messages count as one turn. */
function chatPairs(messages: readonly JsonObject[]): ReturnType<typeof pairs> {
	const turns: { calls: unknown[]; results: unknown[]; role: unknown }[] = [];
	for (const { role, tool_calls, tool_call_id } of messages) {
		const last = turns.at(-1);
		const calls = ((tool_calls ?? []) as JsonObject[]).map(({ id }) => id);
		if (role === 'tool' && last?.role === role) last.results.push(tool_call_id);
		else turns.push({ role, calls, results: role === 'tool' ? [tool_call_id] : [] });
	}
	return turns;
}

test.each(providers)('legal conversations are translated for %s, every call directly before its result', (provider) => {
	let sent = 0;
	fc.assert(
		fc.property(legal, (input) => {
			const done = translated(provider, { input });
			if (done === undefined) return;
			sent += 1;
			const turns = pairs(provider, done.body);
			for (const [index, { calls, results }] of turns.entries()) {
				expect(new Set(calls).size).toBe(calls.length);
				expect(turns[index + 1]?.results ?? []).toEqual(calls);
				expect(results).toEqual(turns[index - 1]?.calls ?? []);
			}
			expect(turns.flatMap(({ calls }) => calls)).toHaveLength(
				input.filter((item) => 'call_id' in item && !('output' in item) && !('tools' in item)).length,
			);
			expect(JSON.stringify(done.body)).not.toMatch(/gAAAA|tg1\./);
		}),
		{ numRuns: 300 },
	);
	expect(sent).toBeGreaterThan(100);
});

test.each(providers)('any other request for %s is rejected with a path or translated', (provider) => {
	fc.assert(
		fc.property(fc.oneof(anything, legal, fc.anything()), settings, (input, more) => {
			translated(provider, JSON.parse(JSON.stringify({ input: input ?? null, ...more })) as JsonObject);
		}),
		{ numRuns: 500 },
	);
});

const visible = fc.constantFrom('Hi', 'ends with space ', '…é😀', '{"a":1}');
const chatRound = fc
	.record({ said: fc.option(visible), ids: fc.uniqueArray(fc.constantFrom('a', 'b', 'call_1'), { maxLength: 2 }), asked: visible })
	.map(({ said, ids, asked }): readonly JsonObject[] => {
		const tool_calls = ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{ "n": 123456789012345678901 }' } }));
		const turn = ids.length > 0 ? { role: 'assistant', content: said, tool_calls } : { role: 'assistant', content: said ?? 'Yes' };
		const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: asked }));
		const detail = { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } };
		return [turn, ...results, { role: 'user', content: [{ type: 'text', text: asked }, detail] }];
	});
const schema = { type: 'object', properties: {} };
const chatRequest = fc
	.record(
		{
			messages: fc
				.array(chatRound, { maxLength: 4 })
				.map((rounds) => [{ role: 'system', content: 'a' }, { role: 'user', content: 'b' }, ...rounds.flat()]),
			max_tokens: fc.constantFrom(16, 4000),
			temperature: fc.constantFrom(0, 0.5),
			top_p: fc.constantFrom(0.2, 1),
			stream: fc.constant(true),
			tools: fc.constant([{ type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: false } }]),
			response_format: fc.constantFrom<JsonObject>(
				{ type: 'json_object' },
				{ type: 'json_schema', json_schema: { name: 'n', strict: true, schema } },
			),
			verbosity: fc.constant('low'),
			logprobs: fc.constant(true),
			prompt_cache_key: fc.constant('k'),
			service_tier: fc.constantFrom('auto', 'default', 'flex'),
			user: fc.constant('u'),
		},
		{ requiredKeys: ['messages'] },
	)
	.map((request): JsonObject => request);

test('chat completions return unchanged from the Responses API', () => {
	fc.assert(
		fc.property(chatRequest, (request) => {
			const responses = toResponses('chat', request, { model: 'gpt-4.1' });
			const chat = fromResponses('chat', responses.body, { model: 'gpt-4.1' });
			expect([...responses.warnings, ...chat.warnings]).toEqual([]);
			expect(chat.body).toEqual({
				...request,
				model: 'gpt-4.1',
				...(request.tools !== undefined && { tool_choice: 'auto' }),
				...(request.logprobs === true && { top_logprobs: 0 }),
				...(request.stream === true && { stream_options: { include_usage: true } }),
			});
		}),
		{ numRuns: 200 },
	);
});

const recorded = readRecordings('responses').flatMap(({ name, request }) => (request === undefined ? [] : [[name, request.body] as const]));

test.each(recorded)('the recorded request of %s is translated for every provider', (_name, request) => {
	const warned = new Set(['service_tier', 'reasoning', 'strict', 'top_p']);
	for (const provider of providers) {
		const fields = fromResponses(provider, request).warnings.map((warning) => warning.split(':')[0] ?? '');
		expect(fields.filter((field) => !warned.has(field))).toEqual([]);
	}
});
