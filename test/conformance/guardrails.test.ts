import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agent, fetchAccessToken, type Product, startProduct } from '../support/product.ts';
import { SimulatorControl } from '../support/simulator-control.ts';

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

it.each(prompts)('Spec: Limits, rule 4, chat completions: the official SDK tells why %j was blocked', async (content) => {
	const client = new OpenAI({ baseURL: `${product.gatewayUrl}/v1`, apiKey: accessToken, maxRetries: 0 });
	const failure = await client.chat.completions
		.create({ model: 'gpt-5', messages: [{ role: 'user', content }] })
		.catch((cause: unknown) => cause);
	expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
	expect(failure).toMatchObject({ status: 400, code: 'guardrail_blocked', message: expect.stringContaining('policy') as unknown });
});

it.each(prompts)('Spec: Limits, rule 4, messages: the official SDK tells why %j was blocked', async (content) => {
	const client = new Anthropic({ baseURL: product.gatewayUrl, apiKey: accessToken, maxRetries: 0 });
	const failure = await client.messages
		.create({ model: 'claude-opus-4-5', max_tokens: 9, messages: [{ role: 'user', content }] })
		.catch((cause: unknown) => cause);
	expect(failure).toBeInstanceOf(Anthropic.BadRequestError);
	expect(failure).toMatchObject({ status: 400, error: { error: { code: 'guardrail_blocked' } } });
});

it('Spec: Limits, rule 4: lets what is clean through, streamed', async () => {
	const client = new OpenAI({ baseURL: `${product.gatewayUrl}/v1`, apiKey: accessToken, maxRetries: 0 });
	const stream = await client.chat.completions.create({ model: 'gpt-5', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
	let text = '';
	for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
	expect(text.length).toBeGreaterThan(0);
});

interface Pair {
	readonly path: string;
	readonly model: string;
	readonly stream: boolean;
}

function questionAt(path: string, content: string): object {
	return path === '/v1/responses' ? { max_output_tokens: 99, input: content } : { max_tokens: 99, messages: [{ role: 'user', content }] };
}

async function ask({ path, ...rest }: Pair, content: string): Promise<{ status: number; text: string }> {
	const response = await fetch(`${product.gatewayUrl}${path}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', accept: 'application/json' },
		body: JSON.stringify({ ...rest, ...questionAt(path, content) }),
	});
	return { status: response.status, text: await response.text() };
}

/** Sets the model's next output, whatever the prompt. */
async function scriptModel(pieces: readonly string[]): Promise<void> {
	const response = await fetch(`${product.simulatorUrl}/_simulator/script`, { method: 'POST', body: JSON.stringify({ pieces }) });
	expect(response.ok).toBe(true);
}

const models = [
	'provider_a/claude-opus-4-5',
	'provider_b/gpt-4.1',
	'provider_c/gemini-3-pro',
	'provider_d/team-deployment',
	'provider_b/gpt-5-pro',
];
const paths = ['/v1/chat/completions', '/v1/messages', '/v1/responses'];
const pairs = paths.flatMap((path) => models.flatMap((model) => [true, false].map((stream) => ({ path, model, stream }))));

it('no card number is sent, from whatever format to whatever provider', async () => {
	const simulator = new SimulatorControl(product.simulatorUrl);
	const before = await simulator.requestsServed();
	for (const pair of pairs) {
		const { status, text } = await ask(pair, 'My card is 4111 1111 1111 1111');
		expect([status, text.includes('policy `pii`, category `card`')]).toEqual([400, true]);
	}
	expect(await simulator.requestsServed()).toBe(before);
});

it.each(pairs)('$path to $model, streamed $stream: nothing of a card number is delivered', async ({ path, model, stream }) => {
	await scriptModel(['It is fine. ', 'The card is 41', '11 1111 11', '11 1111, if I ', 'remember it well.']);
	const { status, text } = await ask({ path, model, stream }, 'Which card?');
	expect(status).toBe(stream ? 200 : 400);
	expect(text).toContain('policy `pii`, category `card`');
	expect(text).not.toMatch(/card is 41|1111|\[DONE\]|message_stop|response\.(?:completed|incomplete)/);
	if (stream) expect(text).toContain('It is fine.');
});
