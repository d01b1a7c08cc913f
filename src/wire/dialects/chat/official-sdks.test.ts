/** Translated responses as the official SDKs of the client read them, both major versions. */

import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { translateBytes } from '../../../../test/support/byte-translation.ts';
import { type Recording, readRecordings, recordedBytes } from '../../../../test/support/recordings.ts';
import { anthropicLines } from '../../../../test/support/sdk-lines.ts';
import { type StartedSimulator, startSimulator } from '../../../../test/support/start-simulator.ts';
import { messagesToChat } from '../../../../test/support/translations.ts';
import type { ResponseContext } from '../../conversation/response.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { scrubSecrets } from '../../providers/scrub-secrets.ts';
import { translateRequest } from '../../translate.ts';

const callOf = (request: JsonObject): ResponseContext => ({ request, model: 'asked-model', requestId: 'req_7', nowSeconds: 1_790_000_000 });

const recordings = [...readRecordings('openai'), ...readRecordings('azure')];
const nameEach = (list: readonly Recording[]): [string, Recording][] => list.map((recording) => [recording.name, recording]);
const wholes = nameEach(recordings.filter(({ response }) => response.status === 200 && response.json !== undefined));
const streams = nameEach(recordings.filter(({ response }) => response.sse !== undefined));
const errors = nameEach(recordings.filter(({ response }) => response.status >= 400));

const requested = { model: 'asked-model', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] };
const jsonOf = (body: unknown, status = 200): Response => Response.json(body, { status });
/** Status as the gateway returns it. */
const shown = (status: number): number => (status >= 500 || status === 401 || status === 404 ? 502 : status);
const sseOf = (bytes: Buffer): Response => new Response(new Uint8Array(bytes), { headers: { 'content-type': 'text/event-stream' } });

function streamed(provider: Buffer, request: JsonObject = {}): Buffer {
	const stream = translateBytes(messagesToChat, callOf(request));
	return Buffer.concat([stream.push(provider), stream.end()]);
}

test('the recordings are present', () => {
	expect([wholes.length, streams.length, errors.length].every((count) => count >= 5)).toBe(true);
});

describe.each(anthropicLines)('%s', (_name, Client) => {
	const clientOf = (response: () => Response): Anthropic =>
		new Client({ apiKey: 'any', baseURL: 'http://127.0.0.1:9', maxRetries: 0, fetch: () => Promise.resolve(response()) });

	test.each(wholes)('%s', async (_recording, { response }) => {
		const httpResponse = messagesToChat.translateResponse(response.json as JsonObject, callOf({}));
		const message = await clientOf(() => jsonOf(httpResponse)).messages.create(requested);
		const reported = response.json as {
			choices: { message?: { content: string | null; refusal?: string; tool_calls?: unknown[]; function_call?: unknown } }[];
		};
		const said = reported.choices[0]?.message;
		expect(message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe(said?.content ?? said?.refusal ?? '');
		expect(message.content.filter(({ type }) => type === 'tool_use')).toHaveLength(
			said?.tool_calls?.length ?? (said?.function_call === undefined ? 0 : 1),
		);
		expect(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(0);
	});

	test.each(streams)('%s', async (_recording, recording) => {
		const response = streamed(recordedBytes(recording));
		const helper = clientOf(() => sseOf(response)).messages.stream(requested);
		const message = await helper.finalMessage();
		const chunks = [
			...recordedBytes(recording)
				.toString()
				.matchAll(/^data: (\{.*)$/gm),
		].map(
			([, data]) =>
				JSON.parse(data ?? '') as {
					choices: { delta: { content?: string; tool_calls?: { id?: string; function: { arguments?: string } }[] } }[];
				},
		);
		const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
		const text = deltas.map(({ content }) => content ?? '').join('');
		const calls = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
		expect(message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe(text);
		const uses = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
		expect(uses.map(({ id }) => id)).toEqual(calls.flatMap(({ id }) => (id === undefined ? [] : [id])));
		const inputs = calls.map(({ function: { arguments: piece } }) => piece ?? '').join('');
		expect(uses.map(({ input }) => JSON.stringify(input)).join('')).toBe(inputs.replaceAll(/([:,]) /g, '$1'));
		expect(message.stop_reason).toBe(uses.length > 0 ? 'tool_use' : 'end_turn');
		let count = 0;
		for await (const event of await clientOf(() => sseOf(response)).messages.create({ ...requested, stream: true })) {
			expect(event.type).not.toBe('error');
			count++;
		}
		expect(count).toBe(response.toString().split('\n\n').length - 1);
	});

	test.each(errors)('%s', async (_recording, { response }) => {
		const { status } = response;
		const { body } = messagesToChat.translateError(status, response.json as JsonObject, callOf({}));
		const failure = await clientOf(() => jsonOf(body, status))
			.messages.create(requested)
			.catch((cause: unknown) => cause);
		const { message } = (response.json as { error: { message: string } }).error;
		expect(failure).toBeInstanceOf(Client.APIError);
		expect(failure).toMatchObject({ status, error: { type: 'error', error: { message }, request_id: 'req_7' } });
	});

	test('an error in the middle of a stream is thrown', async () => {
		const cut = Buffer.from(
			'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: {"error":{"message":"Overloaded","type":"server_error"}}\n\n',
		);
		const failure = await clientOf(() => sseOf(streamed(cut)))
			.messages.stream(requested)
			.finalMessage()
			.catch((cause: unknown) => cause);
		expect(failure).toBeInstanceOf(Client.APIError);
		expect(String(failure)).toContain('Overloaded');
	});

	describe('against a provider that enforces its vendor’s rules', () => {
		let simulator: StartedSimulator;
		beforeAll(async () => {
			simulator = await startSimulator();
		});
		afterAll(() => simulator.close());

		/** A client whose requests and responses are translated. */
		const caller = (model: string, path = '/openai/v1'): Anthropic => {
			const fetchTranslated = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
				const request = JSON.parse(String(init?.body)) as JsonObject;
				const { body } = translateRequest('messages', 'chat', request, { model, maxOutputTokens: undefined });
				const response = await fetch(`${simulator.origin}${path}/chat/completions`, {
					method: 'POST',
					headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test' },
					body: JSON.stringify(body),
				});
				const bytes = Buffer.from(await response.arrayBuffer());
				if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return sseOf(streamed(bytes, request));
				const reported = JSON.parse(bytes.toString()) as JsonObject;
				if (response.status === 200) return jsonOf(messagesToChat.translateResponse(reported, callOf(request)));
				const error = messagesToChat.translateError(response.status, reported, callOf(request));
				const scrubbed = scrubSecrets(Buffer.from(JSON.stringify(error.body)), ['sk-test']);
				return jsonOf(JSON.parse(scrubbed.toString()), shown(response.status));
			};
			return new Client({ apiKey: 'any', baseURL: 'http://127.0.0.1:9', maxRetries: 0, fetch: fetchTranslated });
		};

		const weather: Anthropic.Tool = {
			name: 'get_weather',
			description: 'The weather in a city',
			input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
			cache_control: { type: 'ephemeral' },
		};
		const question: Anthropic.MessageParam = { role: 'user', content: 'What is the weather in San Francisco and Boston?' };
		const targets = [
			['gpt-4o', '/openai/v1'],
			['gpt-5', '/openai/v1'],
			['gpt-5.6', '/openai/v1'],
			['o3', '/openai/v1'],
			['sim-missing-index', '/openai/v1'],
			['sim-empty-ids', '/openai/v1'],
			['sim-missing-index-empty-ids', '/openai/v1'],
			['gpt-4.1', '/azure/openai/v1'],
			['gemini-2.5-flash', '/gemini/v1beta/openai'],
		] as const;

		test.each(targets)('%s %s: calls, their results, a response; complete and streaming alike', async (model, path) => {
			const client = caller(model, path);
			const request = {
				...requested,
				max_tokens: 2000,
				system: [{ type: 'text' as const, text: 'You tell the weather.', cache_control: { type: 'ephemeral' as const } }],
				thinking: { type: 'enabled' as const, budget_tokens: 1024 },
				metadata: { user_id: 'u'.repeat(200) },
				tools: [weather],
				messages: [question],
			};
			if (model.startsWith('gpt-4')) Reflect.deleteProperty(request, 'thinking');
			const first = await client.messages.create(request);
			const uses = first.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
			expect(first.stop_reason).toBe('tool_use');
			expect(uses.map(({ input }) => input)).toEqual([{ city: 'San Francisco' }, { city: 'Boston' }]);
			expect(new Set(uses.map(({ id }) => id)).size).toBe(2);
			const streamedFirst = await client.messages.stream(request).finalMessage();
			const plain = ({ content, stop_reason }: Anthropic.Message): unknown => ({
				stop_reason,
				content: content.map((block) => (block.type === 'tool_use' ? { name: block.name, input: block.input } : block)),
			});
			expect(plain(streamedFirst)).toEqual(plain(first));
			expect(streamedFirst.usage).toEqual(first.usage);
			const second = {
				...request,
				messages: [
					question,
					{ role: 'assistant' as const, content: streamedFirst.content },
					{
						role: 'user' as const,
						content: [
							{ type: 'text' as const, text: 'Briefly.' },
							...streamedFirst.content.flatMap((block) =>
								block.type === 'tool_use'
									? [{ type: 'tool_result' as const, tool_use_id: block.id, content: '3 degrees', is_error: false }]
									: [],
							),
						],
					},
				],
			};
			const last = await client.messages.create({ ...second, tool_choice: { type: 'none' } });
			expect(last.stop_reason).toBe('end_turn');
			expect((await client.messages.stream({ ...second, tool_choice: { type: 'none' } }).finalMessage()).content).toEqual(last.content);
		});

		test('every row of options that OpenAI rejects in other forms', async () => {
			const client = caller('gpt-4o');
			const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
			const formatted = await client.messages.create({ ...requested, output_config: { format: { type: 'json_schema', schema } } });
			expect(JSON.parse(formatted.content[0]?.type === 'text' ? formatted.content[0].text : '')).toEqual({
				city: expect.any(String) as string,
			});
			const forced = await client.messages.create({
				...requested,
				tools: [{ name: 'now', input_schema: { type: 'object' } }, weather],
				tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true },
			});
			expect(forced.content).toMatchObject([{ type: 'tool_use', name: 'get_weather' }]);
			// The newer version's types no longer contain it.
			const sampling: object = { temperature: 0.5 };
			const stopped = await client.messages.create({ ...requested, stop_sequences: ['Hello'], service_tier: 'auto', ...sampling });
			expect(stopped.stop_reason).toBe('end_turn');
			const pictured = await client.messages.create({
				...requested,
				messages: [
					{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }] },
				],
			});
			expect(pictured.stop_reason).toBe('end_turn');
			const long = `mcp__${'very_'.repeat(15)}long__weather`;
			const named = await client.messages.create({ ...requested, tools: [{ ...weather, name: long }], tool_choice: { type: 'any' } });
			expect(named.content).toMatchObject([{ type: 'tool_use', name: long }]);
			expect((await client.messages.create({ ...requested, max_tokens: 3 })).stop_reason).toBe('max_tokens');
		});

		test.each([
			['sim-refusal', 'refusal'],
			['sim-content-filter', 'refusal'],
			['sim-usage-missing', 'end_turn'],
			['sim-duplicate-message-start', 'end_turn'],
		])('%s', async (model, reason) => {
			const client = caller(model);
			expect((await client.messages.create(requested)).stop_reason).toBe(reason);
			expect((await client.messages.stream(requested).finalMessage()).stop_reason).toBe(reason);
		});

		test.each([
			['sim-429', 429, 'rate_limit_error'],
			['sim-429-quota', 429, 'rate_limit_error'],
			['sim-401', 502, 'api_error'],
			['sim-500', 502, 'api_error'],
		])('%s', async (model, status, type) => {
			const failure = await caller(model)
				.messages.create(requested)
				.catch((cause: unknown) => cause);
			expect(failure).toMatchObject({ status, error: { error: { type } } });
			expect(JSON.stringify((failure as { error: unknown }).error)).not.toContain('sk-');
		});
	});
});
