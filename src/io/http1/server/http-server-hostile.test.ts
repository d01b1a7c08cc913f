import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { connectRaw, serve } from '../../../../test/support/raw-http-server.ts';
import { sendAfterResponse } from '../../../../test/support/send-after-response.ts';
import { type StartedHttpServer, startHttpServer } from '../../../../test/support/start-http-server.ts';
import { until } from '../../../../test/support/until.ts';
import { readAll } from '../../../core/byte-stream.ts';
import type { Handler } from '../../../core/handler.ts';

const suites = join(import.meta.dirname, '../../../../test/suites');

const echo: Handler = async (request) => ({ status: 200, headers: {}, body: await readAll(request.body, 1_000_000) });

interface ProbeCase {
	readonly id: string;
	readonly category: string;
	readonly scored: boolean;
	readonly ok: readonly string[];
	readonly warn?: readonly string[];
	readonly then?: 'close';
	readonly raw: string;
}

describe('Http11Probe', () => {
	const cases = JSON.parse(readFileSync(join(suites, 'http11probe/requests.json'), 'utf8')) as ProbeCase[];
	const served: string[] = [];
	let started: StartedHttpServer;
	beforeAll(async () => {
		started = await startHttpServer(async (request) => {
			const body = await readAll(request.body, 1_000_000);
			served.push(request.id);
			return { status: 200, headers: {}, body };
		});
	});
	afterAll(() => started.server.destroy());

	/** Blanks before a value are legal and removed before a handler sees it; the next hop receives a length that the gateway wrote. */
	const legalThoughWarned = new Set(['SMUG-CL-EXTRA-LEADING-SP']);

	test('has all its cases', () => {
		expect(cases).toHaveLength(64);
	});

	test.each(cases)('$id', async (probe) => {
		served.length = 0;
		const raw = new RawClient(started.port);
		onTestFinished(() => raw.destroy());
		raw.send(Buffer.from(probe.raw, 'base64').toString('latin1').replaceAll('localhost:8080', `localhost:${started.port}`));
		const isFinal = (): boolean => raw.statuses.some((status) => status >= 200);
		await until(() => isFinal() || raw.isClosed || probe.ok.includes('timeout'));
		const outcomes = outcomesOf(raw);
		const isWarningFine = probe.category !== 'Smuggling' || legalThoughWarned.has(probe.id);
		const allowed = isWarningFine ? [...probe.ok, ...(probe.warn ?? [])] : probe.ok;
		expect(
			outcomes.some((outcome) => allowed.includes(outcome)),
			`${outcomes.join()} is not among ${allowed.join()}: ${raw.text}`,
		).toBe(true);
		if (probe.then === 'close' || outcomes.includes('400')) await raw.untilClosed();
		expect(raw.statuses.filter((status) => status >= 200).length).toBeLessThanOrEqual(1);
		expect(served.length).toBe(raw.statuses.includes(200) ? 1 : 0);
	});

	function outcomesOf(raw: RawClient): string[] {
		const status = raw.statuses.find((code) => code >= 200);
		if (status === undefined) return [raw.isClosed ? 'close' : 'timeout'];
		const aliases: Record<number, string[]> = { 408: ['timeout'], 413: ['400'], 431: ['400'] };
		return [String(status), `${Math.trunc(status / 100)}xx`, ...(status === 101 ? [] : ['!101']), ...(aliases[status] ?? [])];
	}
});

describe('bytes that can be read in two ways', () => {
	const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
	const heads: [string, string][] = [
		['length and encoding', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
		['an encoding with a tail', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
		['two encodings', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
		['another spelling', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: cHunked\r\n\r\n0\r\n\r\n'],
		['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
		['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'],
		['an underscore', 'POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 9\r\n\r\n'],
		['a body of GET', `GET / HTTP/1.1\r\nHost: a\r\nContent-Length: ${smuggled.length}\r\n\r\n`],
		['HTTP/1.0 chunked', 'POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
		['a folded line', 'GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n'],
		['a bare line feed', 'GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n'],
		['an absolute target', 'GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n'],
		['CONNECT', 'CONNECT b:443 HTTP/1.1\r\nHost: b\r\n\r\n'],
		['an upgrade', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
		['TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'],
		['garbage', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
		['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n'],
		['half a version', 'GET / HTTP/1\r\nHost: a\r\n\r\n'],
	];
	test.each(heads)('%s: one response, then the end', async (_what, head) => {
		const paths: string[] = [];
		const started = await serve(async (request) => {
			paths.push(request.path);
			return await echo(request);
		});
		const raw = await connectRaw(started)
			.send(head + smuggled)
			.untilClosed();
		expect(raw.statuses).toEqual([400]);
		expect(raw.text).toContain('http_malformed: ');
		expect(paths).toEqual([]);
		expect(started.requestLines().map((line) => line['code'])).toEqual(['http_malformed']);
	});

	test('and earlier responses are still sent', async () => {
		const started = await serve(echo);
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello');
		raw.send(`GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${smuggled}`);
		await raw.untilClosed();
		expect(raw.statuses).toEqual([200, 400]);
		expect(raw.text).toContain('hello');
	});

	test('a response is not affected by garbage after its request', async () => {
		let release: () => void = () => undefined;
		const started = await serve(async () => {
			await new Promise<void>((resolve) => (release = resolve));
			return { status: 200, headers: {}, body: 'mine' };
		});
		const raw = connectRaw(started).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n\0\0\0');
		await until(() => started.server.inFlight === 1);
		release();
		await raw.untilClosed();
		expect(raw.statuses).toEqual([200]);
		expect(raw.text).toMatch(/connection: close[^]*mine$/i);
	});

	test('more pipelined requests than any client sends close the connection, if node:http reads them', async () => {
		const started = await serve(async () => await new Promise(() => undefined), { hasFastPath: false });
		const raw = await connectRaw(started).send(smuggled.repeat(150)).untilClosed();
		expect(raw.statuses).toEqual([]);
		expect(started.server.inFlight).toBe(100);
	});

	test('a malformed chunk fails the reader of the body', async () => {
		const started = await serve(echo);
		const raw = connectRaw(started).send(
			`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n${smuggled}`,
		);
		await raw.untilClosed();
		expect(raw.statuses).toEqual([400]);
		expect(raw.text).toContain('http_malformed: ');
	});

	test('fields after a body are rejected', async () => {
		const started = await serve(echo);
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: b\r\n\r\n');
		await raw.untilClosed();
		expect(raw.statuses).toEqual([400]);
		expect(raw.text).toContain('http_malformed: ');
	});

	test.each([
		['HTTP/0.9', 'GET /\r\n\r\n'],
		['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
	])('%s is another version', async (_version, head) => {
		const raw = await connectRaw(await serve(echo))
			.send(head)
			.untilClosed();
		expect(raw.statuses).toEqual([505]);
		expect(raw.text).toContain('http_version_unsupported: ');
	});

	test('discards the rest of a head that is too large, so that its client receives the response', async () => {
		const { received, error } = await sendAfterResponse((await serve(echo)).port);
		expect(received).toMatch(/^HTTP\/1\.1 431 [^]*headers_too_large/);
		expect(error).toBeUndefined();
	});

	test.each([
		['too many bytes', `X: ${'y'.repeat(20_000)}\r\n`, 'header fields are too large'],
		['too many fields', 'X: y\r\n'.repeat(150), 'more than 100 header fields'],
	])('a head of %s', async (_what, fields, message) => {
		const raw = await connectRaw(await serve(echo))
			.send(`GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
			.untilClosed();
		expect(raw.statuses).toEqual([431]);
		expect(raw.text).toContain('headers_too_large: ');
		expect(raw.text).toContain(message);
		expect(raw.text).not.toContain('yyyy');
	});

	test('an unknown expectation', async () => {
		const raw = await connectRaw(await serve(echo))
			.send('GET / HTTP/1.1\r\nHost: a\r\nExpect: a-cake\r\n\r\n')
			.untilClosed();
		expect(raw.statuses).toEqual([417]);
		expect(raw.text).toContain('expectation_unknown: ');
	});
});

describe('slow clients', () => {
	const limits = { headersTimeoutMs: 60 };

	test.each([
		['that say nothing', ''],
		['that never end their head', 'GET / HTTP/1.1\r\nHost: a\r\nX: '],
	])('%s are disconnected', async (_what, bytes) => {
		const raw = connectRaw(await serve(echo, { limits })).send(bytes);
		await raw.untilClosed();
		expect(raw.text).toBe('');
	});

	test('that never end their body get a response, and are disconnected', async () => {
		const clock = new ManualClock();
		const started = await serve(echo, { clock });
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello');
		await until(() => started.server.inFlight === 1);
		clock.advance(59_000);
		await new Promise((resolve) => setImmediate(resolve));
		expect(raw.statuses).toEqual([]);
		clock.advance(2000);
		await raw.untilClosed();
		expect(raw.statuses).toEqual([408]);
		expect(started.requestLines()[0]).toMatchObject({ status: 408, code: 'body_timeout' });
	});

	test('do not delay others', async () => {
		const started = await serve(echo, { limits });
		const slow = Array.from({ length: 50 }, () => connectRaw(started).send('GET / HTTP/1.1\r\nHost: a\r\nX: '));
		const good = connectRaw(started);
		for (let turn = 0; turn < 20; turn++) {
			good.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n${String(turn).padStart(2, '0')}`);
			await until(() => good.statuses.length > turn);
		}
		await until(() => slow.every((raw) => raw.isClosed));
		expect(good.statuses).toEqual(Array<number>(20).fill(200));
	});
});

describe('a client that resets the connection', () => {
	const head = 'POST / HTTP/1.1\r\nHost: b\r\n';
	test.each([
		['nothing', ''],
		['CONNECT', 'CONNECT b:443 HTTP/1.1\r\nHost: b\r\n\r\n'],
		['an upgrade', 'GET / HTTP/1.1\r\nHost: b\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
		['no HTTP', 'hello\r\n\r\n'],
		['half a head', head],
		['half a body', `${head}Content-Length: 10\r\n\r\nhello`],
		['half of a chunk', `${head}Transfer-Encoding: chunked\r\n\r\na\r\nhello`],
		['a question whether to go on', `${head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`],
		['several requests', `GET / HTTP/1.1\r\nHost: b\r\n\r\n${head}Content-Length: 0\r\n\r\n${head}Content-Length: 5\r\n\r\nhe`],
	])('after %s, at once or soon, affects no other client', async (_what, bytes) => {
		for (const hasFastPath of [true, false]) {
			const started = await serve(echo, { hasFastPath });
			for (const waitMs of [0, 0, 0, 1, 2, 5]) {
				const socket = connect(started.port, '127.0.0.1');
				socket.on('error', () => undefined);
				await once(socket, 'connect');
				socket.write(bytes);
				if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
				socket.resetAndDestroy();
			}
			await until(() => started.server.openConnections === 0);
			expect((await fetch(`http://127.0.0.1:${started.port}/`)).status).toBe(200);
		}
	});
});

describe('JSONTestSuite', () => {
	const lines = readFileSync(join(suites, 'json/cases.jsonl'), 'utf8').trim().split('\n');
	const bodies = lines.map((line) => {
		const { body, gen } = JSON.parse(line) as { body?: string; gen?: [string, number][] };
		return body === undefined ? Buffer.from((gen ?? []).map(([part, count]) => part.repeat(count)).join('')) : Buffer.from(body, 'base64');
	});

	test('arrives byte for byte', async () => {
		expect(bodies).toHaveLength(318);
		const received: Buffer[] = [];
		const started = await serve(async (request) => {
			received.push(await readAll(request.body, 1_000_000));
			return { status: 204, headers: {}, body: null };
		});
		const raw = connectRaw(started);
		for (const body of bodies) raw.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`).send(body);
		await until(() => received.length === bodies.length);
		expect(received.every((body, index) => body.equals(bodies[index] ?? Buffer.alloc(0)))).toBe(true);
	});
});
