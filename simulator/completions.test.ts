/** Tests legacy text completions with the official SDK. */
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
let client: OpenAI;
beforeAll(async () => {
	simulator = await startSimulator();
	client = new OpenAI({ apiKey: 'sk-test-1111', baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
});
afterAll(() => simulator.close());

const hello = { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello harbor', max_tokens: 100 };

test('text, streaming or not', async () => {
	const whole = await client.completions.create(hello);
	expect(whole).toMatchObject({ object: 'text_completion', choices: [{ index: 0, logprobs: null, finish_reason: 'stop' }] });
	let text = '';
	let usage: unknown;
	const reasons: unknown[] = [];
	for await (const chunk of await client.completions.create({ ...hello, stream: true, stream_options: { include_usage: true } })) {
		text += chunk.choices[0]?.text ?? '';
		reasons.push(chunk.choices[0]?.finish_reason);
		usage = chunk.usage;
	}
	expect(text).toBe(whole.choices[0]?.text);
	expect(text).toContain('Hello harbor');
	expect(usage).toEqual(whole.usage);
	expect(reasons.at(-2)).toBe('stop');
});

test('the default limit is 16 tokens; stop, echo, n, several prompts and logprobs', async () => {
	const { max_tokens: _limit, ...unlimited } = hello;
	const cut = await client.completions.create(unlimited);
	expect(cut).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: { completion_tokens: 16 } });
	expect((await client.completions.create({ ...hello, stop: 'harbor' })).choices[0]?.text).toBe('You wrote: Hello ');
	expect((await client.completions.create({ ...hello, echo: true })).choices[0]?.text).toMatch(/^Hello harborYou wrote/);
	const several = await client.completions.create({ ...hello, prompt: ['a', 'b'], n: 2 });
	expect(several.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
	const scored = await client.completions.create({ ...hello, logprobs: 1 });
	expect(scored.choices[0]?.logprobs?.tokens?.join('')).toBe(scored.choices[0]?.text);
	expect((await client.completions.create({ ...hello, prompt: [1, 2, 3] })).usage?.prompt_tokens).toBe(3);
});

test.each([
	[{ model: 'gpt-4o' }, 404, /chat model and not supported in the v1\/completions/],
	[{ model: 'no-such-model' }, 404, /does not exist/],
	[{ messages: [] }, 400, /Unrecognized request argument supplied: messages/],
	[{ max_tokens: 0 }, 400, /below minimum/],
	[{ model: 'sim-429' }, 429, /Rate limit/],
])('%j is rejected with %i', async (fields, status, message) => {
	const rejected = client.completions.create({ ...hello, ...(fields as object) });
	await expect(rejected).rejects.toMatchObject({ status });
	await expect(rejected).rejects.toThrow(message);
});

test('a chat request for its model is rejected, and Azure serves it by deployment', async () => {
	const chat = client.chat.completions.create({ model: hello.model, messages: [{ role: 'user', content: 'Hi' }] });
	await expect(chat).rejects.toThrow(/not a chat model/);
	const path = '/azure/openai/deployments/mine/completions?api-version=2024-10-21';
	const headers = { 'api-key': 'k', 'content-type': 'application/json' };
	const response = await fetch(simulator.origin + path, {
		method: 'POST',
		headers,
		body: JSON.stringify({ prompt: 'Hello harbor', max_tokens: 50 }),
	});
	expect(await response.json()).toMatchObject({ object: 'text_completion' });
});
