/** Client of one format and provider of the other: the client cannot detect it (Spec: Endpoints, cross-format routing). */
import type Anthropic1 from '@anthropic-ai/sdk';
import type OpenAI7 from 'openai';
import { describe, expect, it } from 'vitest';
import { anthropicLines, openAiLines } from '../support/sdk-lines.ts';
import { openAnthropic, openOpenAi } from './open-sdk.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const weather = {
	name: 'get_weather',
	description: 'The weather of a city',
	schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};
const question = 'What is the weather in Paris?';

describeOwn('translation', 'our simulator', () => {
	const subject = useSubject();

	describe.each(openAiLines)('%s on a model of provider_a', (_name, OpenAI) => {
		const open = (): Promise<OpenAI7> => openOpenAi(OpenAI, subject.current);
		const model = 'claude-sonnet-4-5';

		it('completes a chat with usage, streaming and non-streaming alike', async () => {
			const client = await open();
			const messages = [{ role: 'user' as const, content: 'Say hello.' }];
			const whole = await client.chat.completions.create({ model, messages });
			const streamed = await client.chat.completions
				.stream({ model, messages, stream_options: { include_usage: true } })
				.finalChatCompletion();
			expect(whole.choices[0]?.message.content).toMatch(/Say hello/);
			expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
			expect([whole.choices[0]?.finish_reason, streamed.choices[0]?.finish_reason]).toEqual(['stop', 'stop']);
			expect(streamed.usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
			expect((await subject.current.simulator.newestRequest()).dialect).toBe('anthropic');
		});

		it('shows the thoughts of a model that hides them unless asked', async () => {
			const client = await open();
			const requested = { model: 'claude-sonnet-5', messages: [{ role: 'user' as const, content: 'Think of a number.' }] };
			const thoughts = { reasoning_effort: 'high' as const };
			const whole = await client.chat.completions.create({ ...requested, ...thoughts });
			let streamed = '';
			for await (const { choices } of await client.chat.completions.create({ ...requested, ...thoughts, stream: true })) {
				streamed += (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
			}
			expect(whole.choices[0]?.message).toMatchObject({ reasoning_content: expect.stringMatching(/\w{3}/) as string });
			expect(whole.choices[0]?.message).toMatchObject({ reasoning_content: streamed });
		});

		it('calls a tool and takes its result', async () => {
			const client = await open();
			const tools = [
				{ type: 'function' as const, function: { name: weather.name, description: weather.description, parameters: weather.schema } },
			];
			const requested = { role: 'user' as const, content: question };
			const first = await client.chat.completions.stream({ model, messages: [requested], tools }).finalChatCompletion();
			const call = first.choices[0]?.message.tool_calls?.[0];
			expect([first.choices[0]?.finish_reason, call?.type === 'function' && call.function.name]).toEqual(['tool_calls', 'get_weather']);
			const message = first.choices[0]?.message;
			if (message === undefined || call === undefined) throw new Error('no tool call');
			const result = { role: 'tool' as const, tool_call_id: call.id, content: '21 degrees' };
			const second = await client.chat.completions.create({ model, messages: [requested, message, result], tools });
			expect(second.choices[0]?.message.content).toContain('21 degrees');
		});

		it('shows errors in its own words', async () => {
			const client = await open();
			const failed = client.chat.completions.create({ model: 'claude-sonnet-4-5-sim-429', messages: [{ role: 'user', content: 'x' }] });
			await expect(failed).rejects.toMatchObject({ status: 429, error: { message: expect.any(String) as string } });
			const rejected = client.chat.completions.create({ model, n: 2, messages: [{ role: 'user', content: 'x' }] });
			await expect(rejected).rejects.toMatchObject({ status: 400, code: 'field_invalid', param: 'n' });
		});
	});

	describe.each(anthropicLines)('%s on a model of provider_b', (_name, Anthropic, credential) => {
		const open = (): Promise<Anthropic1> => openAnthropic(Anthropic, credential, subject.current);
		const model = 'gpt-4o-mini';

		it('completes a message with usage, streaming and non-streaming alike', async () => {
			const client = await open();
			const body = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
			const whole = await client.messages.create(body);
			const streamed = await client.messages.stream(body).finalMessage();
			expect(whole.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Say hello') as string });
			expect(streamed.content).toEqual(whole.content);
			expect([whole.stop_reason, streamed.stop_reason]).toEqual(['end_turn', 'end_turn']);
			expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
			expect((await subject.current.simulator.newestRequest()).dialect).toBe('openai');
		});

		it('uses a tool and takes its result', async () => {
			const client = await open();
			const tools = [{ name: weather.name, description: weather.description, input_schema: weather.schema }];
			const requested = { role: 'user' as const, content: question };
			const first = await client.messages.stream({ model, max_tokens: 200, messages: [requested], tools }).finalMessage();
			const use = first.content.find((block) => block.type === 'tool_use');
			expect([first.stop_reason, use?.name, use?.input]).toEqual(['tool_use', 'get_weather', { city: 'Paris' }]);
			const result = { type: 'tool_result' as const, tool_use_id: use?.id ?? '', content: '21 degrees' };
			const second = await client.messages.create({
				model,
				max_tokens: 200,
				messages: [requested, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
				tools,
			});
			expect(second.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('21 degrees') as string });
		});

		it('shows errors in its own words', async () => {
			const client = await open();
			const failed = client.messages.create({ model: 'gpt-4o-sim-429', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] });
			await expect(failed).rejects.toMatchObject({ status: 429, error: { type: 'error', error: { type: 'rate_limit_error' } } });
		});
	});

	describe('streams that break', () => {
		const ask = async (path: string, body: object): Promise<Response> =>
			fetch(`${subject.current.baseUrl}${path}`, {
				method: 'POST',
				headers: { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' },
				body: JSON.stringify({ stream: true, max_tokens: 200, messages: [{ role: 'user', content: 'Say hello.' }], ...body }),
			});
		const faults = ['cut-after-3', 'cut-mid-event-3', 'end-after-3', 'error-mid-stream-3', 'malformed-json'];

		it.each(faults)('%s ends in an error event of the client’s format, never in a false end', async (fault) => {
			const chat = await (await ask('/v1/chat/completions', { model: `claude-sonnet-4-5-sim-tokens-50-${fault}` })).text();
			expect(chat.trimEnd().split('\n\n').at(-1)).toMatch(/^data: \{"error":\{/);
			expect(chat).not.toContain('[DONE]');
			const messages = await (await ask('/v1/messages', { model: `gpt-4o-sim-tokens-50-${fault}` })).text();
			expect(messages.trimEnd().split('\n\n').at(-1)).toMatch(/^event: error\ndata: \{"type":"error"/);
			expect(messages).not.toContain('message_stop');
		});

		it('a message that begins twice is the provider’s fault', async () => {
			const chat = await (await ask('/v1/chat/completions', { model: 'claude-sonnet-4-5-sim-tokens-20-duplicate-message-start' })).text();
			expect(chat.trimEnd().split('\n\n').at(-1)).toMatch(/^data: \{"error":\{/);
			expect(chat).not.toContain('[DONE]');
		});

		it('usage that the provider does not tell is estimated and never nothing', async () => {
			const response = await ask('/v1/chat/completions', { model: 'claude-sonnet-4-5-sim-tokens-50-usage-missing' });
			await response.text();
			const id = response.headers.get('x-request-id');
			const { log } = subject.current.product ?? { log: [] };
			await expect
				.poll(() => log.find((line) => line['msg'] === 'request' && line['requestId'] === id))
				.toMatchObject({ isEstimated: true });
			expect(Number(log.find((line) => line['requestId'] === id && line['msg'] === 'request')?.['outputTokens'])).toBeGreaterThanOrEqual(
				50,
			);
		});
	});

	describe('fields without an equivalent return 400 with their path, and no request reaches the provider', () => {
		const user = { role: 'user', content: 'x' };
		const call = (text: string): object => ({
			role: 'assistant',
			tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }],
		});
		const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] };
		const image = (url: string): object => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] });
		const chatCases: readonly (readonly [param: string, body: object])[] = [
			[
				'messages[1].tool_calls[0].function.arguments',
				{ messages: [user, call('{"city":'), { role: 'tool', tool_call_id: 'a', content: 'x' }] },
			],
			['messages[1].tool_call_id', { messages: [user, { role: 'tool', tool_call_id: 'a', content: 'x' }] }],
			['messages[1].tool_calls[0]', { messages: [user, call('{}'), user] }],
			['messages[0].role', { messages: [{ role: 'critic', content: 'x' }] }],
			['messages[0].content[0].image_url.url', { messages: [image('data:image/svg+xml;base64,PHN2Zz4=')] }],
			['messages[0].content[0].image_url.url', { messages: [image('data:image/png,%89PNG')] }],
			['n', { n: 20 }],
			['logprobs', { logprobs: true }],
		];
		const messagesCases: readonly (readonly [param: string, body: object])[] = [
			['messages[1].content[0].tool_use_id', { messages: [user, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] }],
			['messages[1].content[0].input', { messages: [user, { role: 'assistant', content: [{ ...use.content[0], input: '{}' }] }] }],
			['messages[0].role', { messages: [{ role: 'critic', content: 'x' }] }],
			[
				'messages[0].content[0].source.type',
				{ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
			],
			['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
			['stop_sequences[0]', { stop_sequences: [' '] }],
		];
		const every = [
			...['claude-sonnet-4-5', 'gemini-2.5-flash'].map((model) => [model, '/v1/chat/completions', chatCases] as const),
			...['gpt-4o', 'team-deployment', 'gemini-2.5-flash'].map((model) => [model, '/v1/messages', messagesCases] as const),
		];

		it.each(every)('%s at %s', async (model, path, cases) => {
			const before = await subject.current.simulator.requestsServed();
			for (const [param, body] of cases) {
				const response = await send(subject.current, path, { body: { model, max_tokens: 9, messages: [user], ...body } });
				const errorBody: unknown = await response.json();
				expect([param, response.status, errorBody]).toMatchObject([param, 400, { error: { type: 'invalid_request_error', param } }]);
			}
			expect(await subject.current.simulator.requestsServed()).toBe(before);
		});
	});

	it('tells what was lost, in a header', async () => {
		const response = await fetch(`${subject.current.baseUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model: 'claude-sonnet-4-5', seed: 7, messages: [{ role: 'user', content: 'x' }] }),
		});
		expect(response.status).toBe(200);
		expect(response.headers.get('x-gateway-warnings')).toContain('seed');
	});

	const paused = { type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_reason: 'pause_turn', usage: {} };
	const broken = { content: { role: 'model', parts: [{ text: 'So' }] }, finishReason: 'MALFORMED_FUNCTION_CALL' };

	it.each([
		[
			'anthropic',
			'claude-sonnet-4-5',
			'/v1/chat/completions',
			{ ...paused, content: [{ type: 'text', text: 'So' }] },
			/finish_reason.*pause_turn/,
		],
		['gemini', 'gemini-2.5-flash', '/v1/chat/completions', { candidates: [broken] }, /finish_reason.*MALFORMED_FUNCTION_CALL/],
		['gemini', 'gemini-2.5-flash', '/v1/messages', { candidates: [broken] }, /stop_reason.*MALFORMED_FUNCTION_CALL/],
	])('reports why a response of %s ended if the client’s format cannot: %s at %s', async (wire, model, path, body, expectedWarning) => {
		const { simulator } = subject.current;
		await simulator.replay({ dialect: wire, json: body });
		const response = await send(subject.current, path, {
			body: { model, max_tokens: 9, unheard_of: 7, messages: [{ role: 'user', content: 'x' }] },
		});
		expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([200, expect.stringMatching(expectedWarning)]);
		expect(response.headers.get('x-gateway-warnings')).toContain('unheard_of');
	});
});

describeOwn('strict translation', 'a configuration of its own', () => {
	const subject = useSubject({ routing: { translation: 'strict' } });

	it('rejects a request that would lose fields, before any provider request', async () => {
		const response = await fetch(`${subject.current.baseUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model: 'claude-sonnet-4-5', seed: 7, messages: [{ role: 'user', content: 'x' }] }),
		});
		expect(response.status).toBe(400);
		expect(await response.json()).toMatchObject({
			error: { param: 'seed', message: expect.stringContaining('seed: ignored') as string },
		});
		expect(await subject.current.simulator.requestsServed()).toBe(0);
	});

	it('lets pass, and tells, what is changed so that the other format says the same', async () => {
		const requested = { reasoning_effort: 'high', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] };
		const response = await send(subject.current, '/v1/chat/completions', { body: { model: 'claude-sonnet-4-5', ...requested } });
		expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([
			200,
			'max_tokens: raised to 16484 to include 16384 reasoning tokens',
		]);
	});
});
