/** Proves that both release lines of the official Anthropic SDK work against the simulator as against the vendor. */
import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from '@anthropic-ai/sdk-0';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SdkErrorName } from '../test/support/sdk-lines.ts';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

// Both lines have the same surface, so the newer one's types serve for both.
const lines = [
	['sdk 1', Anthropic, '2026-10-21'],
	['sdk 0', Anthropic0 as unknown as typeof Anthropic, '2023-06-01'],
] as const;

/** Changes to a request; `key` is the client's API key. */
type Changes = Readonly<Record<string, unknown>> & { readonly key?: string };

const aNumber: unknown = expect.any(Number);
const containing = (text: string): unknown => expect.stringContaining(text);
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const weather = { name: 'get_weather', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } } };

describe.each(lines)('%s', (_name, Client, version) => {
	const clientOf = (apiKey = 'sk-ant-1111'): Anthropic => new Client({ apiKey, baseURL: `${simulator.origin}/anthropic`, maxRetries: 0 });
	const hello = { model: 'claude-opus-4-8', max_tokens: 200, messages: [{ role: 'user' as const, content: 'Hello harbor' }] };

	test('text, with usage and the vendor’s request id', async () => {
		const { data, request_id } = await clientOf().messages.create(hello).withResponse();
		expect(data.content).toEqual([{ type: 'text', text: containing('Hello harbor') }]);
		expect(data).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null, stop_details: null, usage: { cache_read_input_tokens: 0 } });
		expect(request_id).toMatch(/^req_011C/);
		const [seen] = await simulator.requests('?limit=1');
		expect(seen).toMatchObject({ id: request_id, key: '1111', headers: { 'anthropic-version': version } });
	});

	test('streaming and non-streaming responses have the same content', async () => {
		const whole = await clientOf().messages.create(hello);
		const final = await clientOf().messages.stream(hello).finalMessage();
		expect(final.content).toEqual(whole.content);
		expect(final.usage.output_tokens).toBe(whole.usage.output_tokens);
	});

	test('tools: two calls, their results, a response', async () => {
		const requested = {
			...hello,
			tools: [weather],
			messages: [{ role: 'user' as const, content: 'The weather in San Francisco and Boston?' }],
		};
		for (const message of [await clientOf().messages.create(requested), await clientOf().messages.stream(requested).finalMessage()]) {
			expect(message.stop_reason).toBe('tool_use');
			expect(message.content.map((block) => block.type)).toEqual(['text', 'tool_use', 'tool_use']);
			const uses = message.content.filter((block) => block.type === 'tool_use');
			expect(uses.map((use) => use.input)).toEqual([{ city: 'San Francisco' }, { city: 'Boston' }]);
			const results = uses.map((use) => ({ type: 'tool_result' as const, tool_use_id: use.id, content: 'rain' }));
			const messages = [
				...requested.messages,
				{ role: 'assistant' as const, content: message.content },
				{ role: 'user' as const, content: results },
			];
			const response = await clientOf().messages.create({ ...requested, messages });
			expect(response.content[0]).toMatchObject({ type: 'text', text: containing('rain') });
			await expect(
				clientOf().messages.create({ ...requested, messages: [...messages.slice(0, 2), { role: 'user', content: results.slice(1) }] }),
			).rejects.toThrow(/without `tool_result` blocks/);
		}
	});

	test('a tool without arguments streams one empty fragment', async () => {
		const tool = { name: 'list_issues', input_schema: { type: 'object' as const } };
		const fragments: string[] = [];
		const stream = clientOf().messages.stream({ ...hello, tools: [tool], tool_choice: { type: 'any' } });
		stream.on('streamEvent', (event) => {
			if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') fragments.push(event.delta.partial_json);
		});
		expect((await stream.finalMessage()).content).toMatchObject([{ type: 'tool_use', input: {} }]);
		expect(fragments).toEqual(['']);
	});

	test('thinking is signed, accepted unchanged, and rejected when changed', async () => {
		const requested = {
			...hello,
			thinking: { type: 'adaptive' as const },
			tools: [weather],
			messages: [{ role: 'user' as const, content: 'The weather in Oslo?' }],
		};
		const message = await clientOf().messages.stream(requested).finalMessage();
		expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use']);
		expect(message.usage.output_tokens_details).toEqual({ thinking_tokens: 32 });
		const use = message.content[2];
		if (use?.type !== 'tool_use' || message.content[0]?.type !== 'thinking') throw new Error('no tool use');
		const result = { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: use.id, content: 'rain' }] };
		const replay = (content: Anthropic.ContentBlockParam[]): Promise<Anthropic.Message> =>
			clientOf().messages.create({ ...requested, messages: [...requested.messages, { role: 'assistant', content }, result] });
		expect((await replay(message.content)).stop_reason).toBe('end_turn');
		await expect(replay([{ ...message.content[0], thinking: 'changed' }, ...message.content.slice(1)])).rejects.toThrow(
			/Invalid `signature`/,
		);
	});

	test('omitted thinking streams its signature alone', async () => {
		const message = await clientOf()
			.messages.stream({ ...hello, model: 'claude-sonnet-5', thinking: { type: 'adaptive' } })
			.finalMessage();
		expect(message.content[0]).toMatchObject({ type: 'thinking', thinking: '', signature: matching(/.{40,}/) });
		expect(message.usage.output_tokens).toBeGreaterThan(32);
	});

	test('cache: written first, then read, for the account that wrote it', async () => {
		const system = [
			{ type: 'text' as const, text: `${_name} ${'rules of the house '.repeat(400)}`, cache_control: { type: 'ephemeral' as const } },
		];
		const first = (await clientOf().messages.create({ ...hello, system })).usage;
		const second = (await clientOf().messages.create({ ...hello, system })).usage;
		const stranger = (await clientOf('sk-ant-2222').messages.create({ ...hello, system })).usage;
		expect(first.cache_creation_input_tokens).toBeGreaterThan(1024);
		expect(first.cache_creation).toEqual({ ephemeral_5m_input_tokens: first.cache_creation_input_tokens, ephemeral_1h_input_tokens: 0 });
		expect(second).toMatchObject({
			input_tokens: first.input_tokens,
			cache_creation_input_tokens: 0,
			cache_read_input_tokens: first.cache_creation_input_tokens,
		});
		expect(stranger.cache_read_input_tokens).toBe(0);
		simulator.clock.advance(301_000);
		expect((await clientOf().messages.create({ ...hello, system })).usage.cache_read_input_tokens).toBe(0);
	});

	test('structured output, stop sequence, max_tokens, count_tokens', async () => {
		const { messages } = clientOf();
		const schema = { type: 'object', properties: { rating: { type: 'integer' } }, required: ['rating'], additionalProperties: false };
		const structured = await messages.create({ ...hello, output_config: { format: { type: 'json_schema', schema } } });
		const text = structured.content[0]?.type === 'text' ? structured.content[0].text : '';
		expect(JSON.parse(text)).toEqual({ rating: aNumber });
		expect(await messages.create({ ...hello, stop_sequences: ['harbor'] })).toMatchObject({
			stop_reason: 'stop_sequence',
			stop_sequence: 'harbor',
		});
		expect(await messages.create({ ...hello, max_tokens: 3 })).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 3 } });
		const counted = await messages.countTokens({ model: hello.model, messages: hello.messages });
		expect(counted.input_tokens).toBe((await messages.create(hello)).usage.input_tokens);
	});

	test('a response with stop reason `refusal` has no content and a reason', async () => {
		for (const message of [
			await clientOf().messages.create({ ...hello, model: 'claude-sim-refusal' }),
			await clientOf()
				.messages.stream({ ...hello, model: 'claude-sim-refusal' })
				.finalMessage(),
		]) {
			expect(message).toMatchObject({ content: [], stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'cyber' } });
		}
	});

	const rejections: readonly [string, Changes, SdkErrorName, RegExp][] = [
		['401', { key: 'bad-key' }, 'AuthenticationError', /invalid x-api-key/],
		['404', { model: 'claude-nonesuch-9' }, 'NotFoundError', /model: claude-nonesuch-9/],
		['400', { max_tokens: undefined }, 'BadRequestError', /max_tokens: Field required/],
		['400', { invented: 1 }, 'BadRequestError', /invented: Extra inputs are not permitted/],
		['400', { messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }, 'BadRequestError', /non-whitespace/],
		[
			'400',
			{ messages: [...hello.messages, { role: 'assistant', content: '{' }] },
			'BadRequestError',
			/does not support assistant message prefill/,
		],
		['400', { temperature: 0.5 }, 'BadRequestError', /temperature/],
		['400', { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 }, 'BadRequestError', /adaptive/],
		['400', { model: 'claude-haiku-4-5', thinking: { type: 'adaptive' } }, 'BadRequestError', /not supported/],
		['400', { model: 'claude-opus-4-6', output_config: { effort: 'xhigh' } }, 'BadRequestError', /'low', 'medium', 'high', 'max'/],
		['429', { model: 'sim-429' }, 'RateLimitError', /rate_limit_error/],
		['429', { model: 'sim-429-quota' }, 'RateLimitError', /enforced_spend_limit_reached/],
		['529', { model: 'sim-529' }, 'InternalServerError', /overloaded_error/],
	];
	test.each(rejections)('%s %j', async (status, { key, ...changes }, errorName, message) => {
		const rejected = clientOf(key).messages.create({ ...hello, ...changes });
		await expect(rejected).rejects.toBeInstanceOf(Client[errorName]);
		await expect(rejected).rejects.toThrow(message);
		await expect(rejected).rejects.toMatchObject({ status: Number(status), requestID: matching(/^req_/) });
	});

	test('sampling by version and model', async () => {
		const sampled = { ...hello, model: 'claude-opus-4-6', temperature: 0.2 };
		const requested = clientOf().messages.create(sampled);
		if (version === '2026-10-21') await expect(requested).rejects.toThrow(/2026-10-21/);
		else expect((await requested).stop_reason).toBe('end_turn');
	});

	test('models', async () => {
		expect((await clientOf().models.list()).data.map((model) => model.id)).toContain('claude-opus-5');
		expect(await clientOf().models.retrieve('claude-opus-5')).toMatchObject({ type: 'model', id: 'claude-opus-5' });
		await expect(clientOf().models.retrieve('claude-1')).rejects.toMatchObject({ status: 404 });
	});
});
