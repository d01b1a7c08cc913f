import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agent, fetchAccessToken, type Product, startProduct } from '../support/product.ts';

let product: Product;
let accessToken: string;

beforeAll(async () => {
	product = await startProduct({ enable_guardrails: true, enforce_guardrails: true, guardrails: { words: ['darkfish'] } });
	accessToken = await fetchAccessToken(product.tokenEndpoint, agent);
});

afterAll(async () => {
	await product.stop();
});

const prompts = ['My card is 4111 1111 1111 1111', 'Where is the d4rkfish?'];

it.each(prompts)('chat completions: the official SDK tells why %j was blocked (Spec: Limits, rule 4)', async (content) => {
	const client = new OpenAI({ baseURL: `${product.gatewayUrl}/v1`, apiKey: accessToken, maxRetries: 0 });
	const failure = await client.chat.completions
		.create({ model: 'gpt-5', messages: [{ role: 'user', content }] })
		.catch((cause: unknown) => cause);
	expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
	expect(failure).toMatchObject({ status: 400, code: 'guardrail_blocked', message: expect.stringContaining('policy') as unknown });
});

it.each(prompts)('messages: the official SDK tells why %j was blocked (Spec: Limits, rule 4)', async (content) => {
	const client = new Anthropic({ baseURL: product.gatewayUrl, apiKey: accessToken, maxRetries: 0 });
	const failure = await client.messages
		.create({ model: 'claude-opus-4-5', max_tokens: 9, messages: [{ role: 'user', content }] })
		.catch((cause: unknown) => cause);
	expect(failure).toBeInstanceOf(Anthropic.BadRequestError);
	expect(failure).toMatchObject({ status: 400, error: { error: { code: 'guardrail_blocked' } } });
});

it('lets what is clean through, streamed', async () => {
	const client = new OpenAI({ baseURL: `${product.gatewayUrl}/v1`, apiKey: accessToken, maxRetries: 0 });
	const stream = await client.chat.completions.create({ model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
	let text = '';
	for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
	expect(text.length).toBeGreaterThan(0);
});
