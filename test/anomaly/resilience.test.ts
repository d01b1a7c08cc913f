/** Providers that fail before their first byte: rules select the next target, once, and the ledger records it. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic1 from '@anthropic-ai/sdk';
import Anthropic0 from '@anthropic-ai/sdk-0';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, fetchAccessToken, freePort, operator, type Product, startProduct } from '../support/product.ts';

interface Row {
	readonly id: string;
	readonly model: string;
	readonly cost_usd: string | null;
	readonly targets: readonly object[];
}

interface Usage {
	readonly requests: number;
	readonly cost_usd: string;
	readonly models: readonly { readonly model: string; readonly requests: number; readonly cost_usd: string }[];
}

interface BillLine {
	readonly dialect: string;
	readonly model: string;
	readonly requests: number;
}

const faults = ['500', '529', '429-retry-after-9', '401', 'reset', 'slow-first-byte-60000'] as const;
const good = { chat: 'gpt-4o-mini', messages: 'claude-haiku-4-5' };
let product: Product;
let accessToken: string;
let adminUrl: string;
let adminToken: string;
let local: Server;
let localPort: number;
let localHeaders: IncomingMessage['headers'] = {};

/** Starts a server such as vLLM or Ollama, which needs no API key. */
function serveLocal(): Server {
	return createServer((request, response) => {
		let text = '';
		request.on('data', (chunk: Buffer) => (text += chunk.toString()));
		request.on('end', () => {
			localHeaders = request.headers;
			const { stream, model } = JSON.parse(text) as { stream?: boolean; model: string };
			const common = { id: 'chatcmpl-1', created: 1, model };
			const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
			if (stream !== true) {
				const message = { role: 'assistant', content: 'Hello there' };
				response.setHeader('content-type', 'application/json');
				response.end(
					JSON.stringify({ ...common, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
				);
				return;
			}
			response.setHeader('content-type', 'text/event-stream');
			const chunk = (delta: object, finish: string | null) =>
				`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
			response.write(chunk({ role: 'assistant', content: 'Hello there' }, null) + chunk({}, 'stop'));
			response.end(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`);
		});
	});
}

beforeAll(async () => {
	local = serveLocal();
	await new Promise<void>((resolve) => local.listen(0, '127.0.0.1', resolve));
	localPort = (local.address() as AddressInfo).port;
	const adminPort = await freePort();
	const closedPort = await freePort();
	adminUrl = `http://127.0.0.1:${adminPort}`;
	product = await startProduct((simulatorUrl) => {
		const simulated = { api_key: 'simulator-key', allow_private_network: true, eject_after_failures: null };
		return {
			enable_admin_api: true,
			roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
			admin: { listen: `127.0.0.1:${adminPort}` },
			gateway: { timeouts: { first_byte_ms: 300 } },
			providers: {
				provider_a: simulated,
				provider_b: simulated,
				closed: { kind: 'openai', api_key: 'k', base_url: `http://127.0.0.1:${closedPort}/v1`, allow_private_network: true },
				narrow: {
					...simulated,
					kind: 'openai',
					base_url: `${simulatorUrl}/openai/v1`,
					api_key: 'narrow-key',
					max_concurrent: 2,
					max_queued: 1,
				},
				local: { kind: 'openai-compatible', base_url: `http://127.0.0.1:${localPort}/v1`, allow_private_network: true, models: ['llama'] },
			},
		};
	});
	accessToken = await product.accessToken();
	adminToken = await fetchAccessToken(product.tokenEndpoint, operator, 'tollgate/admin');
	for (const fault of faults) {
		for (const [format, provider] of [
			['chat', 'provider_b'],
			['messages', 'provider_a'],
		] as const) {
			const failing = { provider, model: `${good[format]}-sim-${fault}` };
			await addRule(`same-${format}-${fault}`, [failing, { provider, model: good[format] }]);
			const other = format === 'chat' ? { provider: 'provider_a', model: good.messages } : { provider: 'provider_b', model: good.chat };
			await addRule(`other-${format}-${fault}`, [failing, other]);
		}
	}
	await addRule('refused', [
		{ provider: 'closed', model: 'gpt-4o-mini' },
		{ provider: 'provider_b', model: good.chat },
	]);
	await addRule('cut-later', [
		{ provider: 'provider_b', model: 'gpt-4o-mini-sim-cut-after-2' },
		{ provider: 'provider_a', model: good.messages },
	]);
}, 30_000);

afterAll(async () => {
	local?.close();
	await product?.stop();
});

async function admin<Body>(path: string, init: RequestInit = {}): Promise<Body> {
	const response = await fetch(`${adminUrl}${path}`, {
		...init,
		headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
	});
	if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
	return (await response.json()) as Body;
}

async function addRule(name: string, targets: readonly { provider: string; model: string }[]): Promise<void> {
	const rule = { id: name, name, priority: 1, match: { model: name }, strategy: 'priority', targets };
	await admin('/routing', { method: 'POST', body: JSON.stringify(rule) });
}

function ask(format: 'chat' | 'messages', model: string, more: object = {}): Promise<Response> {
	const path = format === 'chat' ? '/v1/chat/completions' : '/v1/messages';
	return fetch(`${product.gatewayUrl}${path}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', accept: 'application/json' },
		body: JSON.stringify({ model, max_tokens: 20, messages: [{ role: 'user', content: 'Say hello.' }], ...more }),
	});
}

async function billed(): Promise<Record<string, number>> {
	const { lines } = (await (await fetch(`${product.simulatorUrl}/_simulator/bill`)).json()) as { lines: readonly BillLine[] };
	return Object.fromEntries(lines.map(({ dialect, model, requests }) => [`${dialect} ${model}`, requests]));
}

describe.each(['chat', 'messages'] as const)('%s', (format) => {
	describe.each(['same', 'other'] as const)('to a target of the %s format', (kind) => {
		it.each(faults)('after %s: response from the next target, streaming and non-streaming, billed there', async (fault) => {
			await fetch(`${product.simulatorUrl}/_simulator/bill`, { method: 'DELETE' });
			// Only a stream has to begin soon; a non-streaming response may take longer.
			const isStreamingOnly = fault === 'slow-first-byte-60000';
			const responses = await Promise.all(
				(isStreamingOnly ? [true] : [false, true]).map((stream) => ask(format, `${kind}-${format}-${fault}`, { stream })),
			);
			const responseFormat = kind === 'same' ? format : format === 'chat' ? 'messages' : 'chat';
			const texts = await Promise.all(responses.map((response) => response.text()));
			expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
			for (const { headers } of responses) expect(headers.get('x-gateway-model')).toBe(good[responseFormat]);
			if (!isStreamingOnly) {
				const body = JSON.parse(texts[0] ?? '') as { object?: string; type?: string };
				expect(format === 'chat' ? body.object : body.type).toBe(format === 'chat' ? 'chat.completion' : 'message');
			}
			expect(texts.at(-1)).toContain(format === 'chat' ? '[DONE]' : 'message_stop');
			const wire = responseFormat === 'chat' ? 'openai' : 'anthropic';
			expect(await billed()).toMatchObject({ [`${wire} ${good[responseFormat]}`]: responses.length });
			const ids = responses.map(({ headers }) => headers.get('x-request-id'));
			const { data } = await admin<{ data: readonly Row[] }>('/requests?team=agent&limit=10');
			const rows = data.filter(({ id }) => ids.includes(id));
			expect(rows.map(({ model }) => model)).toEqual(responses.map(() => good[responseFormat]));
			// After `retry-after`, a target is tried after the others until its time has come.
			const isAvoided = fault === '429-retry-after-9';
			for (const { targets } of rows) expect(targets.length).toBeGreaterThan(isAvoided ? 0 : 1);
		});
	});
});

it('a refused connection is tried again, then the next target is', async () => {
	const response = await ask('chat', 'refused');
	expect([response.status, response.headers.get('x-gateway-provider')]).toEqual([200, 'provider_b']);
	const retries = await ask('chat', 'closed/gpt-4o-mini');
	expect([retries.status, ((await retries.json()) as { error: { code: string } }).error.code]).toEqual([502, 'provider_unreachable']);
});

it('a stream that breaks later is not begun again', async () => {
	await fetch(`${product.simulatorUrl}/_simulator/bill`, { method: 'DELETE' });
	const text = await (await ask('chat', 'cut-later', { stream: true })).text();
	expect(text).toContain('provider_disconnected');
	expect(Object.keys(await billed())).toEqual(['openai gpt-4o-mini-sim-cut-after-2']);
});

it('a provider that cannot be reached is shown so, and passed over', async () => {
	for (let call = 0; call < 5; call++) expect((await ask('chat', 'refused')).status).toBe(200);
	const { data } = await admin<{ data: readonly { name: string; health: { state: string; detail: string } }[] }>('/providers');
	expect(data.find(({ name }) => name === 'closed')?.health).toMatchObject({
		state: 'unhealthy',
		detail: 'The provider is unreachable',
	});
	expect(data.find(({ name }) => name === 'provider_b')?.health.state).toBe('healthy');
	// Probes: single requests go to the unhealthy target, with seconds in between.
	const before = await fallbacksAfter(20);
	expect((await fallbacksAfter(20)) - before).toBeLessThan(5);
});

/** Counts fallbacks. Log lines are in order, so the last request's line comes last. */
async function fallbacksAfter(calls: number): Promise<number> {
	let lastId: string | null = null;
	for (let call = 0; call < calls; call++) {
		const response = await ask('chat', 'refused');
		expect(response.headers.get('x-gateway-provider')).toBe('provider_b');
		await response.text();
		lastId = response.headers.get('x-request-id');
	}
	await eventually('the log line of the last call', () =>
		product.log.find(({ msg, requestId }) => msg === 'request' && requestId === lastId),
	);
	return product.log.filter(({ msg }) => msg === 'failover to the next target').length;
}

it('a provider that hangs fills its own slots, and none of the others’', async () => {
	const hung = Array.from({ length: 8 }, () => ask('chat', 'narrow/gpt-4o-mini-sim-slow-first-byte-2500'));
	// Rejected at once if neither a slot nor the queue has capacity.
	const rejected = await Promise.any(
		hung.map(async (one) => ((await one).status === 503 ? one : Promise.reject(new Error('not refused')))),
	);
	expect(rejected.status).toBe(503);
	const others = await Promise.all(Array.from({ length: 20 }, () => ask('messages', good.messages)));
	expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
	await Promise.all(hung);
	expect((await ask('chat', 'narrow/gpt-4o-mini')).status).toBe(200);
});

it('a server that takes no key is served in both formats, streamed and not', async () => {
	const chat = await ask('chat', 'llama');
	expect([chat.status, localHeaders.authorization, chat.headers.get('x-gateway-provider')]).toEqual([200, undefined, 'local']);
	expect(((await chat.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content).toBe('Hello there');
	const message = (await (await ask('messages', 'llama')).json()) as { content: [{ text: string }]; usage: object };
	expect([message.content[0].text, message.usage]).toEqual(['Hello there', expect.objectContaining({ input_tokens: 5, output_tokens: 2 })]);
	expect(await (await ask('chat', 'llama', { stream: true })).text()).toContain('[DONE]');
	expect(await (await ask('messages', 'llama', { stream: true })).text()).toContain('event: message_stop');
});

describe.each([
	['0', Anthropic0],
	['1', Anthropic1],
] as const)('the Anthropic SDK, line %s', (_line, Anthropic) => {
	it('counts tokens: at the provider where it can, else estimated and said so', async () => {
		const client = new Anthropic({ baseURL: product.gatewayUrl, authToken: accessToken, apiKey: null, maxRetries: 0 });
		const question = { messages: [{ role: 'user' as const, content: 'Say hello to everybody in this room.' }] };
		const rows = async () => (await admin<Usage>('/usage/agent')).requests;
		const before = await rows();
		const counted = await client.messages.countTokens({ model: 'claude-haiku-4-5', ...question }).withResponse();
		expect(counted.data.input_tokens).toBeGreaterThan(5);
		expect([counted.response.headers.get('x-gateway-provider'), counted.response.headers.get('x-gateway-warnings')]).toEqual([
			'provider_a',
			null,
		]);
		const guessed = await client.messages.countTokens({ model: 'gpt-4o-mini', ...question }).withResponse();
		expect(Object.keys(guessed.data)).toEqual(['input_tokens']);
		expect(guessed.data.input_tokens).toBeGreaterThan(5);
		expect(guessed.response.headers.get('x-gateway-warnings')).toContain('estimated');
		await expect(client.messages.countTokens({ model: 'claude-haiku-4-5' } as never)).rejects.toMatchObject({ status: 400 });
		expect(await rows()).toBe(before);
	});
});

it('records and sums agree at the end', async () => {
	const usage = await admin<Usage>('/usage/agent');
	const rows: Row[] = [];
	for (let cursor: string | null = ''; cursor !== null; ) {
		const page: { data: readonly Row[]; next_cursor: string | null } = await admin(
			`/requests?team=agent&limit=500${cursor && `&cursor=${cursor}`}`,
		);
		rows.push(...page.data);
		cursor = page.next_cursor;
	}
	const nano = (usd: string | null): bigint => BigInt(Math.round(Number(usd ?? 0) * 1e9));
	expect(nano(usage.cost_usd)).toBe(rows.reduce((sum, row) => sum + nano(row.cost_usd), 0n));
	expect(usage.models.reduce((sum, { requests }) => sum + requests, 0)).toBe(usage.requests);
});
