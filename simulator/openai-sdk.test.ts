/** Proves that both release lines of the official OpenAI SDK work against the simulator as against the vendor. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAiLines, type SdkErrorName } from '../test/support/sdk-lines.ts';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
beforeAll(async () => {
	simulator = await startSimulator();
});
afterAll(() => simulator.close());

/** Changes to a request; `key` is the client's API key. */
type Changes = Readonly<Record<string, unknown>> & { readonly key?: string };

const aString: unknown = expect.any(String);
const aNumber: unknown = expect.any(Number);

const weather = {
	type: 'function' as const,
	function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};

describe.each(openAiLines)('%s', (_name, Client, AzureClient) => {
	const clientOf = (apiKey = 'sk-test-1111'): OpenAI => new Client({ apiKey, baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
	const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello harbor' }] };

	test('text, with usage and the vendor’s request id', async () => {
		const { data, request_id } = await clientOf().chat.completions.create(hello).withResponse();
		expect(data.choices[0]?.message.content).toContain('Hello harbor');
		expect(data.choices[0]?.finish_reason).toBe('stop');
		const text = data.choices[0]?.message.content ?? '';
		expect(data.usage?.completion_tokens).toBe(Math.ceil(text.length / 4));
		expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0));
		expect(request_id).toMatch(/^req_[0-9a-z]{32}$/);
		expect((await simulator.requests('?limit=1'))[0]?.id).toBe(request_id);
	});

	test('streaming and non-streaming responses have the same content', async () => {
		const whole = await clientOf().chat.completions.create(hello);
		const stream = clientOf().chat.completions.stream({ ...hello, stream_options: { include_usage: true } });
		const final = await stream.finalChatCompletion();
		expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
		expect(await stream.totalUsage()).toMatchObject({
			completion_tokens: whole.usage?.completion_tokens,
			prompt_tokens: whole.usage?.prompt_tokens,
		});
	});

	test('tools: a call, its result, a response', async () => {
		const requested = { model: 'gpt-4o', tools: [weather], messages: [{ role: 'user' as const, content: 'What is the weather in Oslo?' }] };
		const first = await clientOf().chat.completions.create(requested);
		const [call] = first.choices[0]?.message.tool_calls ?? [];
		expect(first.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
		expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } });
		const reply = first.choices[0]?.message;
		if (reply === undefined || call === undefined) throw new Error('no call');
		const second = await clientOf().chat.completions.create({
			...requested,
			messages: [...requested.messages, reply, { role: 'tool', tool_call_id: call.id, content: '3 degrees' }],
		});
		expect(second.choices[0]?.message.content).toContain('3 degrees');
	});

	test('parallel tools through the stream helper', async () => {
		const stream = clientOf().chat.completions.stream({
			model: 'gpt-4o',
			tools: [weather],
			messages: [{ role: 'user', content: 'What is the weather in San Francisco and Boston?' }],
		});
		const calls = (await stream.finalMessage()).tool_calls ?? [];
		expect(calls.map((call) => (call.type === 'function' ? (JSON.parse(call.function.arguments) as object) : null))).toEqual([
			{ city: 'San Francisco' },
			{ city: 'Boston' },
		]);
	});

	test('runTools goes round the loop', async () => {
		const tool = {
			type: 'function' as const,
			function: {
				...weather.function,
				description: 'The weather in a city',
				function: (text: string): string => `rain in ${(JSON.parse(text) as { city: string }).city}`,
			},
		};
		const runner = clientOf().chat.completions.runTools({
			model: 'gpt-4o',
			messages: [{ role: 'user', content: 'Is the weather in Bergen fine?' }],
			tools: [tool],
		});
		expect(await runner.finalContent()).toContain('rain in Bergen');
	});

	test('json schema', async () => {
		const schema = {
			type: 'object',
			properties: { city: { type: 'string' }, days: { type: 'integer' } },
			required: ['city', 'days'],
			additionalProperties: false,
		};
		const completion = await clientOf().chat.completions.parse({
			...hello,
			response_format: { type: 'json_schema', json_schema: { name: 'trip', strict: true, schema } },
		});
		expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual({ city: aString, days: aNumber });
	});

	test('reasoning is counted, not shown; several choices; stop; length', async () => {
		const create = clientOf().chat.completions;
		const reasoned = await create.create({ ...hello, model: 'gpt-5', reasoning_effort: 'high' });
		expect(reasoned.usage?.completion_tokens_details?.reasoning_tokens).toBe(64);
		expect((await create.create({ ...hello, n: 3 })).choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
		expect((await create.create({ ...hello, stop: 'harbor' })).choices[0]).toMatchObject({
			finish_reason: 'stop',
			message: { content: 'You wrote: Hello ' },
		});
		expect(await create.create({ ...hello, max_completion_tokens: 3 })).toMatchObject({
			choices: [{ finish_reason: 'length' }],
			usage: { completion_tokens: 3 },
		});
		const streamed = await create.stream({ ...hello, n: 2 }).finalChatCompletion();
		expect(streamed.choices).toHaveLength(2);
	});

	test('a long prefix is cached the second time', async () => {
		const long = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: `${_name} ${'long prompt '.repeat(600)}` }] };
		const first = await clientOf().chat.completions.create(long);
		const second = await clientOf().chat.completions.create(long);
		expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
		expect(second.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThanOrEqual(1024);
		expect((second.usage?.prompt_tokens_details?.cached_tokens ?? 1) % 128).toBe(0);
		expect(second.usage?.prompt_tokens).toBe(first.usage?.prompt_tokens);
	});

	const rejections: readonly [string, Changes, SdkErrorName, RegExp][] = [
		['401', { key: 'sk-bad-key-4242' }, 'AuthenticationError', /Incorrect API key provided: sk-bad-\*+4242/],
		['404', { model: 'no-such-model' }, 'NotFoundError', /`no-such-model` does not exist/],
		['400', { max_tokens: 0 }, 'BadRequestError', /integer below minimum/],
		['400', { model: 'o3', max_tokens: 5 }, 'BadRequestError', /Use 'max_completion_tokens' instead/],
		['400', { model: 'gpt-5', temperature: 0.5 }, 'BadRequestError', /Only the default \(1\) value/],
		['400', { model: 'gpt-5.6', tools: [weather] }, 'BadRequestError', /set reasoning_effort to 'none'/],
		['400', { invented: true }, 'BadRequestError', /Unrecognized request argument supplied: invented/],
		['400', { messages: [] }, 'BadRequestError', /empty array/],
		['400', { messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }, 'BadRequestError', /preceeding message with 'tool_calls'/],
		['400', { stream_options: { include_usage: true } }, 'BadRequestError', /only allowed when 'stream' is enabled/],
		['429', { model: 'sim-429' }, 'RateLimitError', /Rate limit reached/],
		['429', { model: 'sim-429-quota' }, 'RateLimitError', /exceeded your current quota/],
		['500', { model: 'sim-500' }, 'InternalServerError', /server had an error/],
		['403', { model: 'gpt-4o-sim-403' }, 'PermissionDeniedError', /not supported/],
	];
	test.each(rejections)('%s %j', async (status, { key, ...changes }, errorName, message) => {
		const rejected = clientOf(key).chat.completions.create({ ...hello, ...changes });
		await expect(rejected).rejects.toBeInstanceOf(Client[errorName]);
		await expect(rejected).rejects.toThrow(message);
		await expect(rejected).rejects.toMatchObject({ status: Number(status), type: aString });
	});

	test('gpt-5.6 accepts tools with effort none and reports cache writes', async () => {
		const response = await clientOf().chat.completions.create({ ...hello, model: 'gpt-5.6', tools: [weather], reasoning_effort: 'none' });
		expect(response.usage?.prompt_tokens_details).toHaveProperty('cache_write_tokens', 0);
	});

	test('Azure by deployment, streaming or not, and its errors', async () => {
		const azure = new AzureClient({
			endpoint: `${simulator.origin}/azure`,
			apiKey: 'azure-key-1',
			apiVersion: '2024-10-21',
			maxRetries: 0,
		});
		const messages = [{ role: 'user' as const, content: 'Hello Azure' }];
		const whole = await azure.chat.completions.create({ model: 'my-deployment', messages });
		expect(whole).toMatchObject({ model: 'gpt-4.1-mini-2025-04-14', prompt_filter_results: [{ prompt_index: 0 }] });
		const streamed = await azure.chat.completions.stream({ model: 'my-deployment', messages }).finalMessage();
		expect(streamed.content).toBe(whole.choices[0]?.message.content);
		await expect(azure.chat.completions.create({ model: 'no-such-deployment', messages })).rejects.toMatchObject({
			status: 404,
			code: 'DeploymentNotFound',
		});
		const stranger = new AzureClient({ endpoint: `${simulator.origin}/azure`, apiKey: 'bad-key', apiVersion: '2024-10-21', maxRetries: 0 });
		await expect(stranger.chat.completions.create({ model: 'my-deployment', messages })).rejects.toMatchObject({
			status: 401,
			code: '401',
		});
		const newer = new Client({ apiKey: 'azure-key-1', baseURL: `${simulator.origin}/azure/openai/v1`, maxRetries: 0 });
		expect((await newer.chat.completions.create({ model: 'my-deployment', messages })).choices).toHaveLength(1);
	});

	test('Gemini’s compatible address, with its deviations', async () => {
		const gemini = new Client({ apiKey: 'gemini-key', baseURL: `${simulator.origin}/gemini/v1beta/openai`, maxRetries: 0 });
		const requested = {
			model: 'gemini-2.5-flash',
			tools: [weather],
			messages: [{ role: 'user' as const, content: 'The weather in Turin?' }],
		};
		const whole = await gemini.chat.completions.create(requested);
		expect(whole.choices[0]?.message).not.toHaveProperty('content');
		expect(whole.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{ id: '' }] } });
		expect(whole.usage?.total_tokens).toBeGreaterThan((whole.usage?.prompt_tokens ?? 0) + (whole.usage?.completion_tokens ?? 0));
		const reasons: (string | null)[] = [];
		for await (const chunk of await gemini.chat.completions.create({ ...requested, stream: true })) {
			for (const call of chunk.choices[0]?.delta.tool_calls ?? []) expect(call).not.toHaveProperty('index');
			reasons.push(chunk.choices[0]?.finish_reason ?? null);
		}
		expect(reasons.at(-1)).toBe('stop');
		const history = [
			{
				role: 'assistant' as const,
				tool_calls: [{ id: 'a', type: 'function' as const, function: { name: 'get_weather', arguments: '{}' } }],
			},
			{ role: 'tool' as const, tool_call_id: 'a', content: 'x' },
		];
		const unsigned = gemini.chat.completions.create({
			...requested,
			model: 'gemini-3-pro-preview',
			messages: [...requested.messages, ...history],
		});
		// The older line cannot parse an error inside a list.
		await expect(unsigned).rejects.toThrow(Client === OpenAI ? /thought_signature/ : /400 status code/);
	});

	test('models', async () => {
		const ids = (await clientOf().models.list()).data.map((model) => model.id);
		expect(ids).toContain('gpt-4o-mini');
		expect(await clientOf().models.retrieve('gpt-4o-mini')).toMatchObject({ object: 'model', id: 'gpt-4o-mini' });
		await expect(clientOf().models.retrieve('gpt-1')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
	});
});
