import { createServer, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import type { RawClient } from '../../../../test/support/raw-client.ts';
import { connectRaw, serve } from '../../../../test/support/raw-http-server.ts';
import { until } from '../../../../test/support/until.ts';
import { readAll, streamOf } from '../../../core/byte-stream.ts';
import type { Handler } from '../../../core/handler.ts';
import { DeadlineSweep } from '../../deadline-sweep.ts';
import { type Accepted, adoptSocketWithSharedBuffer, SocketReads } from '../shared-read-buffer.ts';
import { FastPathConnection } from './fast-path-connection.ts';
import { FastPathRequest } from './fast-path-request.ts';
import { ConnectionLines, type FastPathResponse } from './fast-path-response.ts';
import { ServerConnection } from './server-connection.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

const post = (body: string): string => `POST /${body} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const echo: Handler = async (request) => ({ status: 200, headers: {}, body: await readAll(request.body, 1_000_000) });

const ways: [string, (socket: Socket) => Accepted][] = [
	['that reads in the room', adoptSocketWithSharedBuffer],
	['with `data` events', (socket) => ({ socket, reads: undefined })],
];

describe.each(ways)('a connection %s', (_way, accept) => {
	interface Observed {
		readonly accepted: { request: FastPathRequest; response: FastPathResponse }[];
		/** Bytes read from connections that were handed over. */
		readonly handedOver: Buffer[];
		readonly clock: ManualClock;
		readonly raw: RawClient;
	}

	async function open(): Promise<Observed> {
		const clock = new ManualClock();
		const deadlines = new DeadlineSweep(clock, 20);
		const accepted: Observed['accepted'] = [];
		const handedOver: Buffer[] = [];
		const connections: FastPathConnection[] = [];
		const server = createServer({ allowHalfOpen: true }, (given) => {
			const { socket, reads } = accept(given);
			connections.push(
				new FastPathConnection(new ServerConnection(socket, deadlines), reads, {
					clock,
					deadlines,
					lines: new ConnectionLines(clock, 75_000),
					maxHeaderBytes: 1000,
					headersTimeoutMs: 10_000,
					requestTimeoutMs: 20_000,
					keepAliveMs: 75_000,
					accept: (_connection, request, response) => accepted.push({ request, response }),
					onDisconnect: () => undefined,
					handOver: (handed) => handed.on('data', (piece: Buffer) => handedOver.push(piece)),
				}),
			);
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		onTestFinished(() => void server.close());
		const address = server.address();
		return { clock, accepted, handedOver, raw: connectRaw({ port: typeof address === 'object' ? (address?.port ?? 0) : 0 }) };
	}

	async function respondLast({ accepted, raw }: Observed): Promise<void> {
		const { request, response } = accepted.at(-1) ?? expect.fail('nothing accepted');
		const before = raw.statuses.length;
		response.writeHead(204, []);
		response.end();
		request.resume();
		await until(() => raw.statuses.length > before);
	}

	test('is not handed over while its requests are simple', async () => {
		const seen = await open();
		for (const body of ['one', 'two', 'three']) {
			seen.raw.send(post(body));
			await until(() => seen.accepted.at(-1)?.request.url === `/${body}`);
			await respondLast(seen);
		}
		expect(seen.handedOver).toEqual([]);
	});

	test('is not handed over for its last request', async () => {
		const seen = await open();
		seen.raw.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n');
		await until(() => seen.accepted.length === 1);
		expect([seen.accepted[0]?.request.isLast, seen.handedOver]).toEqual([true, []]);
	});

	test('is handed over with the first bytes of a request that is not simple, and all that follow', async () => {
		const seen = await open();
		seen.raw.send(get);
		await until(() => seen.accepted.length === 1);
		seen.raw.send('DELETE / HTTP/1.1\r\nHo');
		await respondLast(seen);
		await until(() => seen.handedOver.length > 0);
		seen.raw.send('st: a\r\n\r\n');
		await until(() => Buffer.concat(seen.handedOver).length > 25);
		expect(Buffer.concat(seen.handedOver).toString()).toBe('DELETE / HTTP/1.1\r\nHost: a\r\n\r\n');
		expect(seen.accepted).toHaveLength(1);
	});

	test.each([
		['its first byte', '', 10_000],
		['the rest of a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbegin', 20_000],
	])('waits for %s up to its limit', async (_what, bytes, limitMs) => {
		const seen = await open();
		seen.raw.send(bytes);
		await until(() => bytes === '' || seen.accepted.length === 1);
		await new Promise((resolve) => setTimeout(resolve, 20));
		seen.clock.advance(limitMs - 100);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(seen.raw.isClosed).toBe(false);
		seen.clock.advance(200);
		await seen.raw.untilClosed();
	});

	test('waits no longer for the next request when the body of the last ends after its response', async () => {
		const seen = await open();
		seen.raw.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbegin');
		await until(() => seen.accepted.length === 1);
		await respondLast(seen);
		seen.raw.send('+end');
		await until(() => seen.accepted[0]?.request.readableEnded === true);
		seen.clock.advance(74_900);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(seen.raw.isClosed).toBe(false);
		seen.clock.advance(200);
		await seen.raw.untilClosed();
	});

	test('waits for the next request up to its limit', async () => {
		const seen = await open();
		seen.raw.send(get);
		await until(() => seen.accepted.length === 1);
		// Independent of the response time.
		seen.clock.advance(1_000_000);
		await respondLast(seen);
		await new Promise((resolve) => setTimeout(resolve, 20));
		seen.clock.advance(74_900);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(seen.raw.isClosed).toBe(false);
		seen.clock.advance(200);
		await seen.raw.untilClosed();
	});
});

test.each([1000, 70_000, 130_000])('a client that disconnects is noticed while its body of %s bytes is not read', async (bytes) => {
	const disconnected = Promise.withResolvers<void>();
	const started = await serve(async (request) => {
		request.onClientDisconnect(() => disconnected.resolve());
		await disconnected.promise;
		return { status: 200, headers: {}, body: null };
	});
	const raw = connectRaw(started).send(post('x'.repeat(bytes)).replace('/'.padEnd(bytes + 1, 'x'), '/'));
	await until(() => started.server.inFlight === 1);
	await new Promise((resolve) => setTimeout(resolve, 20));
	raw.socket.resetAndDestroy();
	await expect(disconnected.promise).resolves.toBeUndefined();
});

describe('pipelined requests', () => {
	test('get their responses in order, whichever parser reads them', async () => {
		const started = await serve(echo);
		const raw = connectRaw(started);
		raw.send(
			`${post('first')}${post('second')}POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nthird\r\n0\r\n\r\n${post('fourth')}`,
		);
		await raw.untilReceived('fourth');
		expect(raw.text.match(/first|second|third|fourth/g)).toEqual(['first', 'second', 'third', 'fourth']);
		expect(raw.statuses).toEqual([200, 200, 200, 200]);
	});

	test('wait in the kernel once there are many', async () => {
		let release: () => void = () => undefined;
		const waiting = new Promise<void>((resolve) => (release = resolve));
		const started = await serve(async (request) => {
			await waiting;
			return await echo(request);
		});
		const raw = connectRaw(started).send(post('x'));
		const many = 200_000;
		raw.send(get.repeat(many));
		await until(() => started.server.inFlight === 1);
		await new Promise((resolve) => setTimeout(resolve, 100));
		expect(raw.socket.writableLength).toBeGreaterThan(0);
		expect(started.server.inFlight).toBe(1);
		release();
		await until(() => raw.socket.writableLength === 0);
	});
});

test('bytes after a request with a response are not skipped if they are not a request', async () => {
	const paths: string[] = [];
	let readOn: (() => void) | undefined;
	const started = await serve(async ({ path, body }) => {
		paths.push(path);
		const flow = body.start({ write: () => false, end: () => undefined, fail: () => undefined });
		readOn ??= () => flow.resume();
		return await Promise.resolve({ status: 200, headers: {}, body: 'soon' });
	});
	const raw = connectRaw(started);
	await raw.send('POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbegin').untilReceived('soon');
	for (const bytes of ['+', 'end', '\0', 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n']) {
		raw.send(bytes);
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	for (let turn = 0; turn < 3; turn++) {
		readOn?.();
		await new Promise((resolve) => setImmediate(resolve));
	}
	await raw.untilClosed();
	expect([raw.statuses, paths]).toEqual([[200, 400], ['/first']]);
});

test('a client that asks to close its connection gets its response, the end, and no byte after it', async () => {
	const paths: string[] = [];
	const started = await serve(async (request) => {
		paths.push(request.path);
		return await echo(request);
	});
	const last = 'POST /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlast';
	const raw = await connectRaw(started).send(post('first')).send(`${last}${get}`).untilClosed();
	expect([raw.statuses, paths]).toEqual([
		[200, 200],
		['/first', '/last'],
	]);
	expect(raw.text).toMatch(/first[^]*connection: close[^]*last$/i);
	expect(raw.isEnded).toBe(true);
});

test('memory is lent to a reader that copies, and every byte arrives, with pauses and requests that follow', async () => {
	const large = Buffer.from(Array.from({ length: 2_000_000 }, (_, index) => (index * 7 + (index >> 8)) % 256));
	const memories = new Set<ArrayBufferLike>();
	let pieces = 0;
	const started = await serve(
		({ body, announcedLength = 0 }) =>
			new Promise((resolve, reject) => {
				const whole = Buffer.alloc(announcedLength);
				let length = 0;
				const flow = body.start({
					copiesChunks: true,
					write(chunk) {
						length += chunk.copy(whole, length);
						memories.add(chunk.buffer);
						pieces++;
						if (pieces % 5 !== 0) return true;
						setImmediate(() => flow.resume());
						return false;
					},
					end: () => resolve({ status: 200, headers: {}, body: String(whole.equals(large)) }),
					fail: reject,
				});
			}),
	);
	const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${large.length}\r\n\r\n`;
	const raw = connectRaw(started);
	// The third begins in the read in which the second ends.
	raw.send(head).send(large);
	await raw.untilReceived('true');
	raw.send(Buffer.concat([Buffer.from(head), large, Buffer.from(head), large.subarray(0, 1000)]));
	await until(() => raw.statuses.length === 2);
	raw.send(large.subarray(1000));
	await until(() => raw.statuses.length === 3);
	expect(raw.text.match(/true|false/g)).toEqual(['true', 'true', 'true']);
	expect(pieces).toBeGreaterThan(50);
	expect(memories.size).toBeLessThan(pieces / 2);
});

test('memory is not lent for retained bytes: pieces that wait, and bytes after the body', async () => {
	let state = 7;
	const random = (below: number): number => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
	for (let round = 0; round < 30; round++) {
		const body = Buffer.from(Array.from({ length: 400_000 }, () => random(256)));
		const follows = Buffer.from('GET /next HTTP/1.1');
		const sent = Buffer.concat([body, follows]);
		const reads = new SocketReads(() => true);
		const socket = new Socket();
		onTestFinished(() => void socket.destroy());
		const head = { method: 'POST', url: '/', rawHeaders: [], headers: {}, contentLength: body.length, bytes: 0 } as const;
		const request = new FastPathRequest(socket, reads, head, () => undefined);
		const whole = Buffer.alloc(body.length);
		let length = 0;
		const rests: Buffer[] = [];
		reads.take = (bytes) => {
			const read = request.push(bytes);
			if (read < bytes.length) rests.push(bytes.subarray(read));
		};
		request.lendChunks();
		request.on('data', (chunk) => {
			length += chunk.copy(whole, length);
			if (random(3) === 0) request.pause();
		});
		for (let at = 0; at < sent.length; ) {
			const count = sent.copy(reads.buffer, 0, at, at + 1 + random(65_536));
			reads.callback(count);
			at += count;
			// Simulates a read of another socket.
			reads.buffer.fill(255);
			if (random(2) === 0) request.resume();
			await new Promise<void>((resolve) => queueMicrotask(resolve));
		}
		while (!request.readableEnded) {
			request.resume();
			await new Promise<void>((resolve) => queueMicrotask(resolve));
		}
		expect(whole.equals(body), `round ${round}`).toBe(true);
		expect(Buffer.concat(rests).equals(follows), `what follows in round ${round}`).toBe(true);
	}
});

test('a body of tiny pieces is buffered until it is read, and then arrives as one', async () => {
	const socket = new Socket();
	onTestFinished(() => void socket.destroy());
	const head = { method: 'POST', url: '/', rawHeaders: [], headers: {}, contentLength: 60_001, bytes: 0 } as const;
	let hasEnded = false;
	const request = new FastPathRequest(socket, undefined, head, () => (hasEnded = true));
	for (let index = 0; index < 60_000; index++) request.push(Buffer.from('x'));
	expect(request.readableLength).toBe(60_000);
	const sizes: number[] = [];
	request.on('data', (chunk) => sizes.push(chunk.length));
	await new Promise((resolve) => setImmediate(resolve));
	expect(request.push(Buffer.from('yz'))).toBe(1);
	expect([sizes, request.readableLength, request.complete, hasEnded]).toEqual([[60_000, 1], 0, true, true]);
});

test('every piece of every size arrives, at once or streamed, by one connection', async () => {
	const sizes = [0, 1, 100, 16_000, 16_384, 16_385, 70_000, 300_000];
	const started = await serve(async (request) => {
		const bytes = await readAll(request.body, 1_000_000);
		return { status: 200, headers: {}, body: request.path === '/stream' ? streamOf([bytes, Buffer.from('!'), bytes]) : bytes };
	});
	for (const path of ['/whole', '/stream']) {
		for (const size of sizes) {
			const body = Buffer.alloc(size, 'abc');
			const response = await fetch(started.origin + path, { method: 'POST', body });
			const expected = path === '/stream' ? Buffer.concat([body, Buffer.from('!'), body]) : body;
			expect(Buffer.from(await response.arrayBuffer()).equals(expected), `${path} ${size}`).toBe(true);
		}
	}
});

test.each([
	['x-a', 'b\r\nset-cookie: c'],
	['x a', 'b'],
	['x-a\r\nset-cookie', 'c'],
	['x-a', 'b\0'],
	['x-a', '\u0100'],
])('a field that would break the head is an internal error, not a response: %j', async (name, value) => {
	const started = await serve(async () => await Promise.resolve({ status: 200, headers: { [name]: value }, body: 'text' }));
	const raw = await connectRaw(started).send(get).untilReceived('internal_error');
	expect(raw.statuses).toEqual([500]);
	expect(raw.text).not.toContain('set-cookie');
});

test('a connection may stay idle slightly longer than announced', async () => {
	const clock = new ManualClock();
	const started = await serve(echo, { clock, limits: { keepAliveMs: 5000 } });
	const raw = await connectRaw(started).send(post('word')).untilReceived('word');
	expect(raw.text).toContain('Keep-Alive: timeout=5\r\n');
	await new Promise((resolve) => setTimeout(resolve, 20));
	clock.advance(5900);
	await new Promise((resolve) => setTimeout(resolve, 20));
	expect(raw.isClosed).toBe(false);
	clock.advance(200);
	await raw.untilClosed();
});

test('an idle connection closes on a drain, whichever parser has read its requests', async () => {
	const started = await serve(echo);
	const resting = await connectRaw(started).send(post('word')).untilReceived('word');
	const other = await connectRaw(started).send('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n').untilReceived('200 OK');
	const fresh = connectRaw(started);
	await until(() => started.server.openConnections === 3);
	started.server.drain();
	for (const raw of [resting, other, fresh]) await raw.untilClosed();
	expect(started.server.openConnections).toBe(0);
});
