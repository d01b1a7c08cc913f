import { describe, expect, test } from 'vitest';
import { collectGarbage } from '../../../../test/support/collect-garbage.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../../test/support/manual-stream.ts';
import type { RawClient } from '../../../../test/support/raw-client.ts';
import { connectRaw, serve } from '../../../../test/support/raw-http-server.ts';
import type { HttpServerOverrides, StartedHttpServer } from '../../../../test/support/start-http-server.ts';
import { until } from '../../../../test/support/until.ts';
import { readAll } from '../../../core/byte-stream.ts';
import { type ByteFlow, ConnectionReset, type HttpResponse } from '../../../core/handler.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

interface StreamedResponse {
	readonly started: StartedHttpServer;
	readonly raw: RawClient;
	readonly stream: HandFedStream;
}

/** A server that responds with a stream fed by the test, and a client that has sent its request. */
async function respondWithStream(headers: HttpResponse['headers'] = {}, overrides?: HttpServerOverrides): Promise<StreamedResponse> {
	const stream = new HandFedStream();
	const started = await serve(async () => await Promise.resolve({ status: 200, headers, body: stream }), overrides);
	const raw = connectRaw(started).send(get);
	await until(() => stream.sink !== undefined);
	return { started, raw, stream };
}

/** Writes pieces until the sink pauses the source. */
function fill(stream: HandFedStream): number {
	let pieces = 0;
	while (!stream.isPaused) {
		stream.push(Buffer.alloc(65_536, 'x'));
		pieces++;
		if (pieces > 1000) throw new Error('The sink never asked for silence');
	}
	return pieces;
}

/** Writes pieces until the kernel's buffers are full, too. */
async function fillToTheBrim(...streams: HandFedStream[]): Promise<void> {
	for (let calmTurns = 0; calmTurns < 3; calmTurns++) {
		await new Promise((resolve) => setTimeout(resolve, 5));
		for (const stream of streams) if (fill(stream) > 0) calmTurns = 0;
	}
}

describe('a streaming response', () => {
	test('sends its head before its first piece, and each piece as it comes', async () => {
		const { raw, stream } = await respondWithStream({ 'content-type': 'text/event-stream' });
		await raw.untilReceived('text/event-stream');
		stream.push('data: 1\n\n');
		await raw.untilReceived('data: 1');
		stream.push('data: 2\n\n');
		await raw.untilReceived('data: 2');
		stream.end();
		await raw.untilReceived('\r\n0\r\n\r\n');
		expect(raw.text.split('\r\n\r\n')[0]).toMatch(/transfer-encoding: chunked/i);
	});

	test('leaves in one write when its pieces are available at once', async () => {
		let flow: ByteFlow | undefined;
		const body = {
			start: (sink: Parameters<HandFedStream['start']>[0]): ByteFlow => {
				queueMicrotask(() => {
					sink.write(Buffer.from('all'));
					sink.end();
				});
				flow = { resume: () => undefined, cancel: () => undefined };
				return flow;
			},
		};
		const started = await serve(async () => await Promise.resolve({ status: 200, headers: { 'content-length': '3' }, body }));
		const raw = connectRaw(started);
		let reads = 0;
		raw.socket.on('data', () => reads++);
		await raw.send(get).untilReceived('\r\n\r\nall');
		expect(reads).toBe(1);
	});

	test('that fails is cut visibly for its client, after the bytes sent before', async () => {
		const { started, raw, stream } = await respondWithStream();
		stream.push('begin');
		stream.fail(new UpstreamError('provider_disconnected'));
		await raw.untilClosed();
		expect(raw.text).toContain('begin');
		expect(raw.text).not.toContain('\r\n0\r\n');
		expect(started.requestLines()[0]).toMatchObject({ outcome: 'broken', code: 'provider_disconnected', status: 200, responseBytes: 5 });
	});

	test('that fails with a reset ends without another byte', async () => {
		const { started, raw, stream } = await respondWithStream();
		stream.push('begin');
		await raw.untilReceived('begin');
		stream.fail(new ConnectionReset());
		await raw.untilClosed();
		expect(raw.isEnded).toBe(false);
		expect(started.requestLines()[0]).toMatchObject({ outcome: 'broken', code: 'connection_reset' });
	});

	test.each([
		['less', 'abc', true],
		['more', 'abcdefg', false],
	])('of %s than its length never lets the client take the next response for its rest', async (_what, piece, ends) => {
		const { started, raw, stream } = await respondWithStream({ 'content-length': '5' });
		stream.push(piece);
		if (ends) stream.end();
		await raw.untilClosed();
		expect(started.requestLines()[0]).toMatchObject({ outcome: 'broken', code: 'internal_error' });
		expect(stream.isCancelled).toBe(!ends);
	});

	test('whose client disconnects is cancelled at once: no time passes', async () => {
		const { started, raw, stream } = await respondWithStream({}, { clock: new ManualClock() });
		stream.push('begin');
		await raw.untilReceived('begin');
		raw.destroy();
		await until(() => stream.isCancelled);
		expect(stream.push('more')).toBe(false);
		stream.end();
		expect(started.requestLines()).toMatchObject([{ outcome: 'client_closed', status: 200 }]);
	});

	test('that came after its client has disconnected is cancelled at once', async () => {
		const stream = new HandFedStream();
		let release: () => void = () => undefined;
		const started = await serve(async () => {
			await new Promise<void>((resolve) => (release = resolve));
			return { status: 200, headers: {}, body: stream };
		});
		const raw = connectRaw(started).send(get);
		await until(() => started.server.inFlight === 1);
		raw.destroy();
		await until(() => started.server.openConnections === 0);
		release();
		await until(() => stream.isCancelled);
		await started.server.idle();
		expect(stream.push('late')).toBe(false);
		expect(started.requestLines()).toMatchObject([{ outcome: 'client_closed', responseBytes: 0 }]);
	});

	test('is cut without a crash when its source throws', async () => {
		const started = await serve(async (request) => ({
			status: 200,
			headers: {},
			body: {
				start() {
					throw new TypeError(`bug in ${request.path}`);
				},
			},
		}));
		const raw = await connectRaw(started).send(get).untilClosed();
		expect(raw.text).not.toContain('bug');
		expect(started.log.lines.map((line) => line.event)).toContain('internal error');
	});
});

test('a stream that outlives the beginning of a drain closes its connection', async () => {
	const { started, raw, stream } = await respondWithStream();
	await raw.untilReceived('keep-alive');
	started.server.drain();
	stream.push('last words');
	stream.end();
	await raw.untilClosed();
	expect(raw.text).toMatch(/last words\r\n0\r\n\r\n$/);
});

describe('a client that disconnects', () => {
	test('before its response is reported to the handler, also to listeners added later', async () => {
		const events: string[] = [];
		let ask: () => void = () => undefined;
		const started = await serve(async (request) => {
			request.onClientDisconnect(() => events.push('early'));
			ask = () => request.onClientDisconnect(() => events.push('late'));
			return await new Promise<HttpResponse>(() => undefined);
		});
		const raw = connectRaw(started).send(get);
		await until(() => started.server.inFlight === 1);
		raw.destroy();
		await until(() => events.length === 1);
		ask();
		expect(events).toEqual(['early', 'late']);
	});

	test('by closing only its side, too', async () => {
		const record = { clientId: 'agent' };
		const started = await serve(
			(request) =>
				new Promise<HttpResponse>((resolve) =>
					request.onClientDisconnect(() => resolve({ status: 200, headers: {}, body: 'too late', record })),
				),
		);
		const raw = connectRaw(started).send(get);
		await until(() => started.server.inFlight === 1);
		raw.socket.end();
		await until(() => started.requestLines().length === 1);
		// Its log line reports the handler's record, without a response.
		expect(started.requestLines()).toMatchObject([{ outcome: 'client_closed', status: 499, code: 'client_closed', ...record }]);
	});

	test('is reported to every listener, even after one that throws', async () => {
		let isNotified = false;
		const started = await serve(async (request) => {
			request.onClientDisconnect(() => {
				throw new TypeError('bug');
			});
			request.onClientDisconnect(() => (isNotified = true));
			return await new Promise<HttpResponse>(() => undefined);
		});
		const raw = connectRaw(started).send(get);
		await until(() => started.server.inFlight === 1);
		raw.destroy();
		await until(() => isNotified);
		expect(started.log.lines.map((line) => line.event)).toContain('internal error');
	});

	test("in the middle of its body fails the body's reader", async () => {
		let cause: unknown;
		const started = await serve(async (request) => {
			await readAll(request.body, 1000).catch((error: unknown) => (cause = error));
			return { status: 200, headers: {}, body: null };
		});
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello');
		await until(() => started.server.inFlight === 1);
		raw.destroy();
		await until(() => cause !== undefined);
		expect(cause).toMatchObject({ code: 'client_closed' });
		await started.server.idle();
		expect(started.requestLines()).toMatchObject([{ outcome: 'client_closed', status: 499, requestBytes: 5 }]);
	});

	test('is not reported after its response', async () => {
		let isNotified = false;
		const started = await serve(async (request) => {
			request.onClientDisconnect(() => (isNotified = true));
			return await Promise.resolve({ status: 200, headers: {}, body: 'done' });
		});
		const raw = await connectRaw(started).send(get).untilReceived('done');
		raw.destroy();
		await until(() => started.server.openConnections === 0);
		expect(isNotified).toBe(false);
	});
});

describe('a client that does not read', () => {
	const cap = 262_144;

	test('pauses the source at the limit, and resumes it when it reads', async () => {
		const { raw, stream } = await respondWithStream();
		raw.socket.pause();
		await new Promise((resolve) => setImmediate(resolve));
		const sent = fill(stream) * 65_536;
		expect(sent).toBeGreaterThanOrEqual(cap);
		expect(stream.resumes).toBe(0);
		raw.socket.resume();
		await until(() => stream.resumes === 1);
		stream.end();
		await raw.untilReceived('\r\n0\r\n\r\n');
		expect(raw.receivedBytes).toBeGreaterThan(sent);
	});

	test('is disconnected after a minute', async () => {
		const clock = new ManualClock();
		const { started, raw, stream } = await respondWithStream({}, { clock });
		raw.socket.pause();
		await fillToTheBrim(stream);
		clock.advance(59_000);
		expect(stream.isCancelled).toBe(false);
		clock.advance(2000);
		await until(() => stream.isCancelled);
		expect(started.requestLines()[0]).toMatchObject({ outcome: 'broken', code: 'client_closed' });
		await until(() => started.server.openConnections === 0);
	});

	test('buffers no more than its limit, and affects no other client', async () => {
		const sources: HandFedStream[] = [];
		const started = await serve(async (request) => {
			if (request.path === '/quick') return { status: 200, headers: {}, body: 'quick' };
			const stream = new HandFedStream();
			sources.push(stream);
			return await Promise.resolve({ status: 200, headers: {}, body: stream });
		});
		const stalled = Array.from({ length: 20 }, () => connectRaw(started).send(get));
		for (const raw of stalled) raw.socket.pause();
		await until(() => sources.filter((stream) => stream.sink !== undefined).length === 20);
		collectGarbage();
		await new Promise((resolve) => setTimeout(resolve, 20));
		const before = process.memoryUsage().arrayBuffers;
		await fillToTheBrim(...sources);
		// Kernel buffers are released on another thread, shortly after the collection.
		const retainedBytes = (): number => {
			collectGarbage();
			return process.memoryUsage().arrayBuffers - before;
		};
		await until(() => retainedBytes() < 20 * (cap + 2 * 65_536), 'a bounded buffer');
		expect(sources.every((stream) => stream.isPaused)).toBe(true);
		const quick = await connectRaw(started).send('GET /quick HTTP/1.1\r\nHost: a\r\n\r\n').untilReceived('quick');
		expect(quick.statuses).toEqual([200]);
	});

	test('of a large complete response is disconnected after a minute, one that reads gets all of it', async () => {
		const clock = new ManualClock();
		const body = Buffer.alloc(20_000_000, 'z');
		const started = await serve(async () => await Promise.resolve({ status: 200, headers: {}, body }), { clock });
		const reading = connectRaw(started).send(get);
		await until(() => started.requestLines().length === 1);
		await until(() => reading.receivedBytes > body.length);
		expect(reading.text).toContain('content-length: 20000000');
		const idle = connectRaw(started).send(get);
		idle.socket.pause();
		await until(() => started.server.inFlight === 1);
		await until(() => {
			clock.advance(1000);
			return started.requestLines().length === 2;
		});
		expect(clock.monotonicMs()).toBeGreaterThan(60_000);
		expect(started.requestLines().map((line) => line['outcome'])).toEqual(['complete', 'broken']);
		await until(() => started.server.openConnections <= 1);
	});
});

describe('a request body', () => {
	test('waits when its reader pauses, and continues when it resumes', async () => {
		let received = 0;
		let flow: ByteFlow | undefined;
		const started = await serve(
			async (request) =>
				await new Promise((resolve, reject) => {
					flow = request.body.start({
						write: (chunk) => {
							received += chunk.length;
							return false;
						},
						end: () => resolve({ status: 200, headers: {}, body: String(received) }),
						fail: reject,
					});
				}),
		);
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n');
		raw.send(Buffer.alloc(8_000_000));
		await until(() => received > 0);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(received).toBeLessThan(200_000);
		const pump = setInterval(() => flow?.resume(), 0);
		await raw.untilReceived('8000000');
		clearInterval(pump);
	});

	test('whose reader throws fails that request alone', async () => {
		const started = await serve(
			async (request) =>
				await new Promise((_resolve, reject) => {
					request.body.start({
						write: () => {
							throw new TypeError('bug');
						},
						end: () => undefined,
						fail: reject,
					});
				}),
		);
		const response = await fetch(started.origin, { method: 'POST', body: 'hello' });
		expect(response.status).toBe(500);
		expect(started.log.lines.find((line) => line.event === 'internal error')?.fields['error']).toBeInstanceOf(TypeError);
	});
});
