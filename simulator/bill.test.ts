/** Tests that the bill is exact: each request once, the input of all accepted requests, the output as far as it was generated. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readStream } from '../test/support/read-stream.ts';
import { startHttpServer } from '../test/support/start-http-server.ts';
import { createTestClock, type ObservedRequest, type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';
import { createSimulator } from './simulator.ts';

let simulator: StartedSimulator;
beforeEach(async () => {
	simulator = await startSimulator({}, createTestClock());
});
afterEach(() => simulator.close());

type WireCase = readonly [wire: string, path: string, headers: Record<string, string>, body: (model: string) => object];

const anthropicCase: WireCase = [
	'anthropic',
	'/anthropic/v1/messages',
	{ 'x-api-key': 'sk-bill', 'anthropic-version': '2023-06-01' },
	(model) => ({ model, stream: true, max_tokens: 4000, messages: [{ role: 'user', content: 'Hi' }] }),
];

const hi = (model: string): object => ({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] });
const openAiCase: WireCase = ['openai', '/openai/v1/chat/completions', { authorization: 'Bearer sk-bill' }, hi];

const wires: readonly WireCase[] = [
	openAiCase,
	['azure', '/azure/openai/v1/chat/completions', { 'api-key': 'sk-bill' }, hi],
	['openai', '/openai/v1/responses', { authorization: 'Bearer sk-bill' }, (model) => ({ model, stream: true, input: 'Hi' })],
	['azure', '/azure/openai/v1/responses', { 'api-key': 'sk-bill' }, (model) => ({ model, stream: true, store: false, input: 'Hi' })],
	[
		'openai',
		'/openai/v1/completions',
		{ authorization: 'Bearer sk-bill' },
		(model) => ({ model, stream: true, max_tokens: 4000, prompt: 'Hi' }),
	],
	['gemini-openai', '/gemini/v1beta/openai/chat/completions', { authorization: 'Bearer sk-bill' }, hi],
	anthropicCase,
	[
		'gemini',
		'/gemini/v1beta/models/MODEL:streamGenerateContent?alt=sse',
		{ 'x-goog-api-key': 'sk-bill' },
		() => ({ contents: [{ parts: [{ text: 'Hi' }] }] }),
	],
];

interface Request {
	readonly path: string;
	readonly init: RequestInit & { readonly body: string };
}

function requestOf([, path, headers, body]: WireCase, model: string, changes: object = {}): Request {
	return {
		path: path.replace('MODEL', model),
		init: {
			method: 'POST',
			headers: { ...headers, 'content-type': 'application/json' },
			body: JSON.stringify({ ...body(model), ...changes }),
		},
	};
}

const send = ({ path, init }: Request): Promise<Response> => fetch(simulator.origin + path, init);

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
	for (let tries = 0; tries < 400; tries++) {
		if (await isTrue()) return;
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
	throw new Error('It did not become true');
}

/** Returns all text of a stream, in any wire dialect. */
function textOfStream(sse: string): string {
	// The Responses API repeats the text at the end of an item.
	const texts = /^event: response\./m.test(sse)
		? (sse.match(/"delta":(?:"(?:[^"\\]|\\.)*")/g) ?? []).join('').replaceAll('"delta"', '"text"')
		: sse;
	return [...texts.matchAll(/"(?:content|text|thinking|reasoning)":("(?:[^"\\]|\\.)*")/g)]
		.map((match) => JSON.parse(match[1] ?? '""') as string)
		.join('');
}

describe.each(wires)('%s, %s', (...wire) => {
	test('a whole stream is billed as it says', async () => {
		const text = await (await send(requestOf(wire, 'sim-tokens-100-think-20'))).text();
		const { total, lines } = await simulator.bill();
		expect(total).toMatchObject({ requests: 1, complete: 1, output_tokens: 120, reasoning_tokens: 20 });
		expect(lines).toMatchObject([
			{ key: 'bill', dialect: wire[0], model: 'sim-tokens-100-think-20', requests: 1, input_tokens: total.input_tokens },
		]);
		expect(total.input_tokens).toBeGreaterThan(0);
		expect(textOfStream(text).length).toBeGreaterThanOrEqual(400);
	});

	test.each([1, 4, 9])('a stream that is cut after %i events is billed as far as it came', async (events) => {
		const response = await send(requestOf(wire, `sim-tokens-400-cut-after-${events}`));
		const { text, isBroken } = await readStream(response);
		expect(isBroken).toBe(true);
		const { total } = await simulator.bill();
		expect(total).toMatchObject({ requests: 1, broken: 1, complete: 0 });
		expect(total.output_tokens).toBe(Math.ceil(textOfStream(text).length / 4));
		expect((await simulator.requests())[0]).toMatchObject({ outcome: 'broken', events, tokens: { output: total.output_tokens } });
	});

	test('a client that disconnects pays for the output sent so far, and the provider stops at once', async () => {
		const abort = new AbortController();
		const request = requestOf(wire, 'sim-tokens-4000-interval-1000');
		const response = await fetch(simulator.origin + request.path, { ...request.init, signal: abort.signal });
		const reader = response.body?.getReader();
		let received = '';
		for (let events = 0; events < 6; events++) {
			await waitFor(async () => simulator.clock.waiting() > 0 || events === 0);
			received += new TextDecoder().decode((await reader?.read())?.value as Uint8Array);
			await waitFor(async () => simulator.clock.waiting() > 0);
			if (events < 5) simulator.clock.advance(1000);
		}
		abort.abort();
		await waitFor(async () => (await simulator.bill()).total.aborted === 1);
		expect(simulator.clock.waiting()).toBe(0);
		const { total } = await simulator.bill();
		expect(total).toMatchObject({ requests: 1, aborted: 1, output_tokens: Math.ceil(textOfStream(received).length / 4) });
		expect(total.input_tokens).toBeGreaterThan(0);
		expect(total.output_tokens).toBeGreaterThan(0);
		simulator.clock.advance(60_000);
		expect((await simulator.bill()).total).toEqual(total);
	});

	test('a rejected request costs nothing and is counted', async () => {
		expect((await send(requestOf(wire, 'sim-500'))).status).toBe(500);
		expect((await send(requestOf(wire, 'sim-text', { contents: [], messages: [] }))).status).toBe(400);
		expect((await simulator.bill()).total).toMatchObject({ requests: 2, rejected: 2, complete: 0, input_tokens: 0, output_tokens: 0 });
	});
});

test('the usage that a response reports is the usage that is billed, cache included', async () => {
	const system = [{ type: 'text', text: 'rules '.repeat(1200), cache_control: { type: 'ephemeral', ttl: '1h' } }];
	const request = requestOf(anthropicCase, 'claude-opus-4-8', { stream: false, system });
	const usages: Record<string, number>[] = [];
	for (let call = 0; call < 3; call++) usages.push(((await (await send(request)).json()) as { usage: Record<string, number> }).usage);
	const sum = (name: string): number => usages.reduce((total, usage) => total + (usage[name] ?? 0), 0);
	const { total } = await simulator.bill();
	expect(total).toMatchObject({
		requests: 3,
		input_tokens: sum('input_tokens'),
		cache_write_tokens: sum('cache_creation_input_tokens'),
		cache_read_tokens: sum('cache_read_input_tokens'),
		output_tokens: sum('output_tokens'),
	});
	expect(total.cache_read_tokens).toBe(2 * total.cache_write_tokens);
	expect(usages[0]).toHaveProperty('cache_creation', { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: total.cache_write_tokens });
});

test('two hundred requests at once, some cancelled, add up', async () => {
	const calls = Array.from({ length: 200 }, async (_value, index) => {
		if (index % 10 !== 0) return (await send(requestOf(openAiCase, `sim-tokens-${index}`))).text();
		return new Promise<void>((resolve) => {
			const { path, init } = requestOf(openAiCase, 'sim-tokens-9-stall-0');
			const socket = connect(Number(new URL(simulator.origin).port), '127.0.0.1', () => {
				socket.write(
					`POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-bill\r\ncontent-length: ${init.body.length}\r\n\r\n${init.body}`,
				);
			});
			socket.once('data', () => socket.destroy());
			socket.once('close', () => resolve());
		});
	});
	await Promise.all(calls);
	await waitFor(async () => (await simulator.bill()).total.requests === 200);
	const expected = Array.from({ length: 200 }, (_value, index) => (index % 10 === 0 ? 0 : index)).reduce((sum, tokens) => sum + tokens, 0);
	expect((await simulator.bill()).total).toMatchObject({ complete: 180, aborted: 20, output_tokens: expected });
});

test('a reset clears the bill, and requests from before it are not added after', async () => {
	const { path, init } = requestOf(openAiCase, 'sim-tokens-50-interval-1000');
	const response = await fetch(simulator.origin + path, init);
	await simulator.control('DELETE', '/bill');
	const rest = response.text();
	await waitFor(async () => {
		simulator.clock.advance(1000);
		return (await Promise.race([rest, Promise.resolve('not yet')])) !== 'not yet';
	});
	expect((await simulator.bill()).total.requests).toBe(0);
	expect(await simulator.requests()).toEqual([]);
});

test('a row has the fields as they were received, whichever way they were read', async () => {
	const { path, init } = requestOf(openAiCase, 'gpt-4o-mini');
	for (const hasFastPath of [true, false]) {
		const { handle } = createSimulator({}, { clock: createTestClock(), setOutage: () => undefined });
		const { server, port } = await startHttpServer(handle, { hasFastPath });
		onTestFinished(() => server.destroy());
		await (await fetch(`http://127.0.0.1:${port}${path}`, init)).text();
		const { data } = (await (await fetch(`http://127.0.0.1:${port}/_simulator/requests`)).json()) as { data: ObservedRequest[] };
		expect(data[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': String(init.body.length) });
	}
});
