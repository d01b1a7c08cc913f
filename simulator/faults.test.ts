/** Tests that each fault does what its name says, in the wire dialects that support it. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readStream } from '../test/support/read-stream.ts';
import { createTestClock, type StartedSimulator, startSimulator } from '../test/support/start-simulator.ts';

let simulator: StartedSimulator;
beforeEach(async () => {
	simulator = await startSimulator({}, createTestClock());
});
afterEach(() => simulator.close());

const tool = {
	type: 'function',
	function: { name: 'find_road', parameters: { type: 'object', properties: { name: { type: 'string' } } } },
};

function chat(model: string, changes: object = {}, headers: Record<string, string> = {}): Promise<Response> {
	const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...changes });
	return fetch(`${simulator.origin}/openai/v1/chat/completions`, {
		method: 'POST',
		headers: { authorization: 'Bearer sk-1234', ...headers },
		body,
	});
}

function message(model: string, changes: object = {}): Promise<Response> {
	const body = JSON.stringify({ model, max_tokens: 2000, messages: [{ role: 'user', content: 'Hello' }], ...changes });
	return fetch(`${simulator.origin}/anthropic/v1/messages`, {
		method: 'POST',
		headers: { 'x-api-key': 'sk-1234', 'anthropic-version': '2023-06-01' },
		body,
	});
}

const stream = { stream: true };
const dataLines = (sse: string): string[] => sse.split('\n').filter((line) => line.startsWith('data: '));

/** Waits until the simulator holds a response back until the clock advances. */
async function untilWaiting(): Promise<void> {
	for (let tries = 0; simulator.clock.waiting() === 0; tries++) {
		if (tries > 2000) throw new Error('Nothing is held back');
		await new Promise((resolve) => setTimeout(resolve, 1));
	}
}

describe('time', () => {
	test('slow-first-byte holds the head back', async () => {
		const response = chat('sim-slow-first-byte-3000');
		await untilWaiting();
		simulator.clock.advance(2999);
		expect((await simulator.requests())[0]).toMatchObject({ outcome: 'pending', status: null });
		expect(simulator.clock.waiting()).toBe(1);
		simulator.clock.advance(1);
		expect((await response).status).toBe(200);
	});

	test('slow-first-event sends the head and holds the first event back', async () => {
		const response = await chat('sim-slow-first-event-3000', stream);
		await untilWaiting();
		expect((await simulator.requests())[0]).toMatchObject({ outcome: 'pending', status: 200, events: 0 });
		simulator.clock.advance(3000);
		expect(await readStream(response)).toMatchObject({ text: expect.stringMatching(/^data: /) as unknown, isBroken: false });
	});

	test('stall is silent after its events, and gives up after ten minutes', async () => {
		const response = await chat('sim-stall-2', stream);
		await untilWaiting();
		expect((await simulator.requests())[0]).toMatchObject({ outcome: 'pending', events: 2 });
		simulator.clock.advance(600_000);
		const { text, isBroken } = await readStream(response);
		expect([dataLines(text).length, isBroken]).toEqual([2, true]);
	});

	test('hang never responds', async () => {
		const response = chat('sim-hang');
		const failure = response.catch((cause: unknown) => String(cause));
		await untilWaiting();
		simulator.clock.advance(599_999);
		expect(simulator.clock.waiting()).toBe(1);
		simulator.clock.advance(1);
		expect(await failure).toMatch('fetch failed');
	});

	test('a client that disconnects during the delay of the head ends the wait', async () => {
		const abort = new AbortController();
		const body = JSON.stringify({ model: 'sim-hang', messages: [{ role: 'user', content: 'x' }] });
		const response = fetch(`${simulator.origin}/openai/v1/chat/completions`, {
			method: 'POST',
			signal: abort.signal,
			headers: { authorization: 'Bearer k' },
			body,
		});
		const failure = response.catch((cause: unknown) => String(cause));
		await untilWaiting();
		abort.abort();
		expect(await failure).toMatch('abort');
		for (let tries = 0; simulator.clock.waiting() > 0 && tries < 1000; tries++) await new Promise((resolve) => setTimeout(resolve, 1));
		expect(simulator.clock.waiting()).toBe(0);
		expect((await simulator.bill()).total).toMatchObject({ aborted: 1, input_tokens: 0 });
	});
});

describe('connections', () => {
	test('reset: not one byte', async () => {
		const body = JSON.stringify({ model: 'sim-reset' });
		const received = await new Promise<number>((resolve) => {
			let bytes = 0;
			const socket = connect(Number(new URL(simulator.origin).port), '127.0.0.1', () => {
				socket.write(
					`POST /openai/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
				);
			});
			socket.on('data', (chunk) => (bytes += chunk.length));
			socket.on('error', () => {});
			socket.on('close', () => resolve(bytes));
		});
		expect(received).toBe(0);
		expect((await simulator.bill()).total).toMatchObject({ broken: 1, input_tokens: 0 });
	});

	test('cut-mid-event breaks inside an event', async () => {
		const response = await chat('sim-cut-mid-event-2', stream);
		const { text, isBroken } = await readStream(response);
		expect(isBroken).toBe(true);
		expect(text.split('\n\n')).toHaveLength(3);
		expect(text.endsWith('\n\n')).toBe(false);
	});

	test.each(['sim-cut-after-1', 'sim-cut-mid-event'])('%s breaks a whole body in its middle', async (model) => {
		expect(await readStream(await chat(model))).toMatchObject({ text: expect.stringMatching(/^\{"id":/) as unknown, isBroken: true });
	});

	test('end-after looks complete and is not', async () => {
		const text = await (await message('sim-end-after-4', stream)).text();
		expect(text).toContain('message_start');
		expect(text).not.toContain('message_stop');
		await expect((await chat('sim-end-after')).json()).rejects.toThrow(/JSON/);
	});
});

describe('contents', () => {
	test('error-mid-stream in each vendor’s form, and 500 for a non-streaming response', async () => {
		const openai = await (await chat('sim-error-mid-stream-2', stream)).text();
		expect(dataLines(openai)).toHaveLength(3);
		expect(dataLines(openai).at(-1)).toMatch(/^data: \{"error":/);
		const anthropic = await (await message('sim-error-mid-stream', stream)).text();
		expect(anthropic).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"Overloaded"\}\}\n\n$/);
		expect((await chat('sim-error-mid-stream')).status).toBe(500);
	});

	test('malformed-json', async () => {
		await expect((await chat('sim-malformed-json')).json()).rejects.toThrow(/JSON/);
		const lines = dataLines(await (await chat('sim-malformed-json', stream)).text());
		const isBroken = lines.map((line) => {
			if (line === 'data: [DONE]') return false;
			try {
				JSON.parse(line.slice(6));
				return false;
			} catch {
				return true;
			}
		});
		expect(isBroken.indexOf(true)).toBe(2);
		expect(isBroken.filter(Boolean)).toHaveLength(1);
	});

	test('wrong-content-type, html-200, empty, redirect', async () => {
		const plain = await chat('sim-wrong-content-type');
		expect(plain.headers.get('content-type')).toMatch(/^text\/plain/);
		expect(await plain.json()).toHaveProperty('choices');
		const html = await chat('sim-html-200');
		expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html']);
		const empty = await chat('sim-empty', stream);
		expect([empty.status, await empty.text()]).toEqual([200, '']);
		const moved = await fetch(`${simulator.origin}/openai/v1/chat/completions`, {
			method: 'POST',
			redirect: 'manual',
			headers: { authorization: 'Bearer k' },
			body: '{"model":"sim-redirect","messages":[{"role":"user","content":"x"}]}',
		});
		expect([moved.status, moved.headers.get('location')]).toEqual([307, 'https://example.com/elsewhere']);
		expect((await simulator.bill()).total).toMatchObject({ broken: 3, complete: 1 });
	});

	test('usage-missing', async () => {
		expect(await (await chat('sim-usage-missing')).json()).not.toHaveProperty('usage');
		expect(await (await chat('sim-usage-missing', { ...stream, stream_options: { include_usage: true } })).text()).not.toContain('"usage"');
		expect(await (await message('sim-usage-missing', stream)).text()).not.toContain('"usage"');
		expect((await simulator.bill()).total.output_tokens).toBeGreaterThan(0);
	});

	test('duplicate-message-start', async () => {
		const text = await (await message('sim-duplicate-message-start', stream)).text();
		expect(text.match(/event: message_start/g)).toHaveLength(2);
	});

	test('missing-index and empty-ids', async () => {
		const requested = { ...stream, tools: [tool], tool_choice: 'required' };
		const indexless = await (await chat('sim-missing-index', requested)).text();
		expect(indexless).not.toContain('"tool_calls":[{"index"');
		expect(indexless).toContain('"tool_calls":[{"id":"call_');
		expect(await (await chat('sim-empty-ids', requested)).text()).toContain('"id":"","type":"function"');
		expect(await (await message('sim-missing-index', stream)).text()).not.toContain('"index"');
	});

	test('large-events carry their text', async () => {
		const lines = dataLines(await (await chat('sim-large-events-100', stream)).text());
		expect(lines.filter((line) => line.length > 100_000)).toHaveLength(3);
		expect((await simulator.bill()).total.output_tokens).toBe(3 * 25_600);
	});
});

describe('where faults come from', () => {
	test('the header, for requests without a gateway', async () => {
		expect((await chat('gpt-4o', {}, { 'x-simulator-fault': '503' })).status).toBe(503);
	});

	test('a rule, so many times, for one key', async () => {
		await simulator.control('POST', '/faults', { key: '1234', fault: '429-retry-after-9', count: 2 });
		expect((await chat('gpt-4o', {}, { authorization: 'Bearer sk-other' })).status).toBe(200);
		const first = await chat('gpt-4o');
		expect([first.status, first.headers.get('retry-after')]).toEqual([429, '9']);
		expect((await chat('gpt-4o')).status).toBe(429);
		expect((await chat('gpt-4o')).status).toBe(200);
		expect(await simulator.control('GET', '/faults')).toMatchObject({ body: { rules: [{ remaining: 0 }] } });
		await simulator.control('DELETE', '/faults');
		expect(await simulator.control('GET', '/faults')).toMatchObject({ body: { rules: [] } });
	});

	test('the log entry lists the faults', async () => {
		await chat('sim-tokens-5-interval-1');
		expect((await simulator.requests())[0]).toMatchObject({ faults: ['outputTokens', 'intervalMs'] });
	});

	test.each([
		[{ fault: 'stal-3' }, /is an unknown fault/],
		[{ fault: 'stall', time: 3 }, /time/],
		[{ fault: 'stall', rate: 2 }, /rate/],
		[{ fault: 'stall', dialect: 'bedrock' }, /dialect/],
	])('an empty rule is rejected: %j', async (rule, message_) => {
		const { status, body } = await simulator.control('POST', '/faults', rule);
		expect(status).toBe(400);
		expect(JSON.stringify(body)).toMatch(message_);
	});
});
