import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type StartedSimulator, startSimulator } from '../../test/support/start-simulator.ts';

let simulator: StartedSimulator;
let openai: OpenAI;
let anthropic: Anthropic;
beforeEach(async () => {
	simulator = await startSimulator();
	openai = new OpenAI({ apiKey: 'sk-replay', baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
	anthropic = new Anthropic({ apiKey: 'sk-replay', baseURL: `${simulator.origin}/anthropic`, maxRetries: 0 });
});
afterEach(() => simulator.close());

const aDigest: unknown = expect.stringMatching(/^[0-9a-f]{64}$/);
const allControlCalls: unknown = expect.arrayContaining(['GET /_simulator/bill']);
const hello = { model: 'sim-text', messages: [{ role: 'user' as const, content: 'Hello' }] };

async function queue(path: string, body: object): Promise<void> {
	expect(await simulator.control('POST', path, body)).toMatchObject({ status: 201 });
}

function recorded(name: string): { status: number; headers: Record<string, string>; json?: unknown; sse?: string } {
	const file = new URL(`../../test/fixtures/recorded/${name}.json`, import.meta.url);
	const { framing: _framing, ...response } = (
		JSON.parse(readFileSync(file, 'utf8')) as { response: ReturnType<typeof recorded> & { framing?: string } }
	).response;
	return response;
}

describe('recordings', () => {
	test.each(['none', 'events', { bytes: [1, 17], seed: 3 }, { bytes: [1, 1] }])('byte for byte, cut as %j', async (cut) => {
		const { sse, status, headers } = recorded('openai/text-stream-usage');
		await queue('/replay', { key: 'sk-replay', status, headers, sse, split: cut });
		const response = await fetch(`${simulator.origin}/openai/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: 'Bearer sk-replay' },
			body: JSON.stringify({ ...hello, stream: true }),
		});
		expect(await response.text()).toBe(sse);
		expect(response.headers.get('x-request-id')).toBe(headers['x-request-id']);
		const [row] = await simulator.requests();
		expect(row).toMatchObject({ outcome: 'replayed', tokens: { output: 0 } });
		if (cut === 'events') expect(row?.events).toBe(sse?.split('\n\n').filter(Boolean).length);
	});

	test('pieces inside characters and lines still parse in the SDKs', async () => {
		await queue('/replay', { dialect: 'anthropic', ...recorded('anthropic/tools-parallel-stream'), split: { bytes: [1, 5] } });
		const message = await anthropic.messages.stream({ ...hello, max_tokens: 9 }).finalMessage();
		expect(message.content.map((block) => block.type)).toEqual(['text', 'tool_use', 'tool_use']);
	});

	test('errors and JSON, in the order they were queued, each as often as asked', async () => {
		await queue('/replay', { ...recorded('openai/v-error-400-max-tokens'), count: 2 });
		await queue('/replay', { ...recorded('openai/n2') });
		await expect(openai.chat.completions.create(hello)).rejects.toThrow(/max_completion_tokens/);
		await expect(openai.chat.completions.create(hello)).rejects.toThrow(/max_completion_tokens/);
		expect((await openai.chat.completions.create(hello)).choices).toHaveLength(2);
		expect((await openai.chat.completions.create(hello)).choices).toHaveLength(1);
	});

	test.each([[{}], [{ sse: 'x', json: {} }], [{ sse: 'x', split: { bytes: [3, 1] } }], [{ sse: 'x', split: 'sometimes' }]])(
		'rejects %j',
		async (body) => {
			expect((await simulator.control('POST', '/replay', body)).status).toBe(400);
		},
	);
});

describe('scripts', () => {
	test('say the given pieces on each wire', async () => {
		const pieces = ['Call 078-', '05-', '1120 now'];
		await queue('/script', { pieces, count: 4 });
		const chunks: string[] = [];
		for await (const chunk of await openai.chat.completions.create({ ...hello, stream: true })) {
			chunks.push(chunk.choices[0]?.delta.content ?? '');
		}
		expect(chunks.filter(Boolean)).toEqual(pieces);
		const texts: string[] = [];
		await anthropic.messages
			.stream({ ...hello, max_tokens: 90 })
			.on('text', (delta) => texts.push(delta))
			.finalMessage();
		expect(texts).toEqual(pieces);
		expect((await openai.chat.completions.create(hello)).choices[0]?.message.content).toBe(pieces.join(''));
		const gemini = await fetch(`${simulator.origin}/gemini/v1beta/models/gemini-2.5-flash:generateContent`, {
			method: 'POST',
			headers: { 'x-goog-api-key': 'k' },
			body: '{"contents":[{"parts":[{"text":"x"}]}]}',
		});
		expect(await gemini.text()).toContain(pieces.join(''));
	});

	test('call the given tools', async () => {
		await queue('/script', { dialect: 'anthropic', thinking: 'Hm.', text: 'Now:', calls: [{ name: 'erase', input: { path: '/x' } }] });
		const message = await anthropic.messages.create({ ...hello, max_tokens: 90 });
		expect(message.content).toMatchObject([
			{ type: 'thinking', thinking: 'Hm.' },
			{ type: 'text', text: 'Now:' },
			{ type: 'tool_use', name: 'erase', input: { path: '/x' } },
		]);
		expect(message.stop_reason).toBe('tool_use');
	});
});

describe('received requests', () => {
	test('shows no more of a key than its end, and bodies only when asked', async () => {
		await openai.chat.completions.create(hello);
		const [row] = await simulator.requests();
		expect(row).toMatchObject({ key: 'play', headers: { authorization: '…play' }, body_sha256: aDigest });
		expect(row).not.toHaveProperty('body');
		expect(JSON.stringify(await simulator.requests())).not.toContain('sk-replay');
		await simulator.control('POST', '/settings', { record_bodies: true });
		await openai.chat.completions.create(hello);
		expect((await simulator.requests())[0]?.body).toBe(JSON.stringify(hello));
		await fetch(`${simulator.origin}/gemini/v1beta/models/gemini-2.5-flash:generateContent?key=very-secret-key`, {
			method: 'POST',
			body: '{}',
		});
		expect(JSON.stringify(await simulator.requests())).not.toContain('very-secret');
	});

	test('is found by key, model, wire and id', async () => {
		await openai.chat.completions.create(hello);
		const { _request_id: id } = await openai.chat.completions.create({ ...hello, model: 'gpt-4o' });
		await anthropic.messages.create({ ...hello, max_tokens: 9 });
		expect(await simulator.requests('?model=gpt-4o')).toMatchObject([{ id }]);
		expect(await simulator.requests(`?id=${id}`)).toHaveLength(1);
		expect(await simulator.requests('?dialect=anthropic')).toHaveLength(1);
		expect(await simulator.requests('?key=sk-replay')).toHaveLength(3);
		expect(await simulator.requests('?key=else')).toHaveLength(0);
		expect(await simulator.requests('?limit=2')).toHaveLength(2);
	});
});

test('an outage is handed on, within bounds', async () => {
	expect((await simulator.control('POST', '/outage', { seconds: 3 })).status).toBe(202);
	expect((await simulator.control('POST', '/outage', { seconds: 6000 })).status).toBe(400);
	expect(simulator.outages).toEqual([3]);
});

test('reset brings everything back to the start', async () => {
	await simulator.control('POST', '/settings', { interval_ms: 0, retry_after_every: 1 });
	await simulator.control('POST', '/faults', { fault: '500' });
	await simulator.control('POST', '/replay', { json: {} });
	expect((await simulator.control('POST', '/reset')).status).toBe(204);
	expect(await simulator.control('GET', '/settings')).toMatchObject({ body: { interval_ms: 5, retry_after_every: 15 } });
	expect((await openai.chat.completions.create(hello)).choices).toHaveLength(1);
	expect((await simulator.bill()).total.requests).toBe(1);
});

test.each([
	['GET', '/nothing', 404],
	['PUT', '/bill', 405],
])('%s %s is %i and names what there is', async (method, path, status) => {
	expect(await simulator.control(method, path)).toMatchObject({
		status,
		body: { known: allControlCalls },
	});
});

test.each([
	['GET', '/openai/v1/chat/completions', 405],
	['POST', '/openai/v1/images/generations', 404],
	['POST', '/anthropic/v1/complete', 404],
	['POST', '/azure/openai/deployments/d/embeddings', 404],
	['POST', '/gemini/v1beta/models/gemini-2.5-pro:predict', 404],
	['POST', '/bedrock/model', 404],
])('%s %s is %i', async (method, path, status) => {
	const headers = { authorization: 'Bearer k', 'api-key': 'k', 'x-goog-api-key': 'k', 'anthropic-version': '2023-06-01' };
	const response = await fetch(simulator.origin + path, { method, headers });
	expect(response.status).toBe(status);
	expect(await response.json()).toBeTruthy();
});
