import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { connectRaw, serve } from '../../../../test/support/raw-http-server.ts';
import { startHttpServer } from '../../../../test/support/start-http-server.ts';
import { until } from '../../../../test/support/until.ts';
import { readAll, streamOf } from '../../../core/byte-stream.ts';
import { ConnectionReset, type Handler, type HttpRequest, type HttpResponse } from '../../../core/handler.ts';
import { Rejection } from '../../../core/rejection.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';

const text = (body: HttpResponse['body'], more: Partial<HttpResponse> = {}): HttpResponse => ({
	status: 200,
	headers: { 'content-type': 'text/plain' },
	body,
	...more,
});

const echo: Handler = async (request) => text(await readAll(request.body, 1_000_000));

const post = (body: string, ...fields: string[]): string =>
	['POST /v1/messages HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...fields, '', body].join('\r\n');

describe('a request', () => {
	test('reaches the handler with its target split, its peer and its body', async () => {
		const seen: HttpRequest[] = [];
		const started = await serve(async (request) => {
			seen.push({ ...request });
			return await echo(request);
		});
		const response = await fetch(`${started.origin}/v1/chat?key=1?2`, { method: 'POST', body: 'hello', headers: { 'X-One': 'two' } });
		expect(await response.text()).toBe('hello');
		expect(seen[0]).toMatchObject({ method: 'POST', path: '/v1/chat', query: 'key=1?2', announcedLength: 5, peerAddress: '127.0.0.1' });
		expect(seen[0]?.headers['x-one']).toBe('two');
		expect(response.headers.get('x-request-id')).toBe(seen[0]?.id);
		expect(response.headers.get('request-id')).toBe(seen[0]?.id);
	});

	test('announces the length of its body if it is known', async () => {
		const lengths: (number | undefined)[] = [];
		const started = await serve(async (request) => {
			lengths.push(request.announcedLength);
			return await echo(request);
		});
		const raw = connectRaw(started);
		raw.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
		raw.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
		raw.send(post('hello'));
		await raw.untilReceived('hello');
		expect(lengths).toEqual([0, undefined, 5]);
		expect(raw.text).toContain('\r\n\r\nabcHTTP/1.1 200');
	});

	test('keeps its connection for the next ones', async () => {
		const started = await serve(echo);
		const raw = connectRaw(started);
		for (const word of ['first', 'second', 'third']) await raw.send(post(word)).untilReceived(word);
		expect(raw.statuses).toEqual([200, 200, 200]);
		expect(raw.text).toContain('Keep-Alive: timeout=75');
		expect(started.server.openConnections).toBe(1);
	});

	test('that awaits permission to send its body gets it when the body is read', async () => {
		const started = await serve(echo);
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
		await raw.untilReceived('100 Continue\r\n\r\n');
		await raw.send('hello').untilReceived('hello');
		expect(raw.statuses).toEqual([100, 200]);
	});

	test('that awaits permission out of order sends its body without', async () => {
		let release: () => void = () => undefined;
		const started = await serve(async (request) => {
			if (request.method === 'DELETE') await new Promise<void>((resolve) => (release = resolve));
			return await echo(request);
		});
		const raw = connectRaw(started).send('DELETE / HTTP/1.1\r\nHost: a\r\n\r\n').send(post('hello', 'Expect: 100-continue'));
		await until(() => started.server.inFlight === 2);
		release();
		await raw.untilReceived('hello');
		expect(raw.statuses).toEqual([200, 200]);
		expect(raw.text).toMatch(/\r\n\r\nhello$/);
	});

	test('that is rejected before its body is read is not asked to send it', async () => {
		const started = await serve(async () => await Promise.reject(new Rejection('token_missing')));
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
		await raw.untilClosed();
		expect(raw.statuses).toEqual([401]);
		expect(raw.text).toMatch(/connection: close/i);
	});

	test('leaves no unread bytes on a connection that stays open', async () => {
		const started = await serve(async () => await Promise.resolve(text('enough')));
		const raw = connectRaw(started);
		await raw.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\nbegin').untilReceived('enough');
		await raw.send(Buffer.alloc(5995, 'x')).send(post('again')).untilReceived('enoughHTTP/1.1 200');
		expect(raw.statuses).toEqual([200, 200]);
	});

	test('gets its response in order although the end of an unread body comes with it', async () => {
		const started = await serve(async ({ path }) => await Promise.resolve(text(`${path}.`)));
		const raw = connectRaw(started);
		await raw.send('POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nbegin').untilReceived('/a.');
		raw.send('+rest'.concat('GET /b HTTP/1.1\r\nHost: a\r\n\r\n', 'POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab'));
		await raw.untilReceived('/c.');
		await raw.send('cGET /d HTTP/1.1\r\nHost: a\r\n\r\n').untilReceived('/d.');
		expect(raw.text.match(/\/[a-d]\./g)).toEqual(['/a.', '/b.', '/c.', '/d.']);
	});

	test('with a large unread body gets the complete response before the connection closes', async () => {
		const started = await serve(async () => await Promise.reject(new Rejection('body_too_large')));
		const raw = connectRaw(started);
		// Behaves like a client that reads a response only after it has sent everything.
		raw.socket.pause();
		raw.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n`);
		for (let sent = 0; sent < 9; sent++) raw.send(Buffer.alloc(1_000_000));
		await until(() => raw.socket.writableLength === 0);
		raw.socket.resume();
		await raw.untilClosed();
		expect(raw.statuses).toEqual([413]);
		expect(raw.text).toContain('body_too_large: ');
		expect(raw.text).toMatch(/connection: close/i);
	});

	test.each([
		['at the cap', 1_000_000, 200],
		['one byte over it', 1_000_001, 413],
	])('with a chunked body %s', async (_where, bytes, status) => {
		const started = await serve(echo);
		const raw = connectRaw(started).send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
		raw
			.send(`${bytes.toString(16)}\r\n`)
			.send(Buffer.alloc(bytes, 'y'))
			.send('\r\n0\r\n\r\n');
		await until(() => raw.statuses.length > 0);
		expect(raw.statuses).toEqual([status]);
	});
});

describe('a response', () => {
	test('has the length of its complete body, whatever its headers say', async () => {
		const started = await serve(
			async () => await Promise.resolve(text('grün', { headers: { 'content-length': '99', 'x-none': undefined } })),
		);
		const response = await fetch(started.origin);
		expect(await response.text()).toBe('grün');
		expect(response.headers.get('content-length')).toBe('5');
		expect(response.headers.has('x-none')).toBe(false);
	});

	test('to HEAD has no body', async () => {
		const bodies = [text('hello'), text(streamOf([Buffer.from('hello')])), text(null)];
		const started = await serve(async () => await Promise.resolve(bodies.shift() ?? text('hello')));
		const raw = connectRaw(started);
		for (let index = 1; index <= 3; index++) {
			raw.send('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n');
			await until(() => raw.statuses.length === index);
		}
		await raw.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').untilReceived('hello');
		expect(raw.text.match(/hello/g)).toHaveLength(1);
	});

	test('carries repeated fields and never those of the connection', async () => {
		const headers = { 'set-cookie': ['a=1', 'b=2'], connection: 'upgrade', 'transfer-encoding': 'gzip', 'keep-alive': 'timeout=1' };
		const started = await serve(async () => await Promise.resolve(text('x', { headers })));
		const raw = await connectRaw(started).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').untilReceived('\r\n\r\nx');
		expect(raw.text.match(/set-cookie: \w=\d/g)).toEqual(['set-cookie: a=1', 'set-cookie: b=2']);
		expect(raw.text).not.toMatch(/upgrade|gzip|timeout=1\r/);
	});

	test("keeps the handler's own date", async () => {
		const headers = { date: 'Thu, 01 Jan 2026 00:00:00 GMT' };
		const started = await serve(async () => await Promise.resolve(text('x', { headers })));
		expect((await fetch(started.origin)).headers.get('date')).toBe(headers.date);
	});

	test.each([0, 99, 1000, Number.NaN])('with the status %s is an internal error', async (status) => {
		const started = await serve(async () => await Promise.resolve(text('x', { status })));
		expect((await fetch(started.origin)).status).toBe(500);
		expect(started.log.lines.map((line) => line.event)).toContain('internal error');
	});

	test('closes its connection when the handler asks for it', async () => {
		const started = await serve(async () => await Promise.resolve(text('bye', { closesConnection: true })));
		const raw = await connectRaw(started).send(post('x')).send(post('y')).untilClosed();
		expect(raw.text.match(/bye/g)).toHaveLength(1);
	});

	test.each([
		['a line end', 'a\r\nset-cookie: evil=1'],
		['a NUL', 'a\0b'],
		['a character beyond one byte', 'a→b'],
	])('with %s in a header is an internal error and does not disclose it', async (_what, value) => {
		const started = await serve(async () => await Promise.resolve(text('secret', { headers: { 'x-model': value } })));
		const response = await fetch(started.origin);
		expect(response.status).toBe(500);
		expect(response.headers.has('set-cookie')).toBe(false);
		expect(await response.json()).toMatchObject({ type: 'error', request_id: response.headers.get('x-request-id') });
		expect(started.log.lines.map((line) => line.event)).toContain('internal error');
	});
});

describe('a handler that throws', () => {
	const thrown: [string, () => unknown, number, string][] = [
		['a refusal', () => new Rejection('path_unknown'), 404, 'path_unknown'],
		['a fault', () => new UpstreamError('provider_first_byte_timeout'), 504, 'provider_first_byte_timeout'],
		['our own bug', () => new TypeError('password is hunter2'), 500, 'internal_error'],
		['what is no error', () => 'hunter2', 500, 'internal_error'],
	];
	test.each(thrown)('%s', async (_what, cause, status, code) => {
		const started = await serve(async () => await Promise.reject(cause()));
		const response = await fetch(started.origin);
		expect(response.status).toBe(status);
		expect(await response.text()).not.toContain('hunter2');
		await until(() => started.requestLines().length === 1);
		expect(started.requestLines()[0]).toMatchObject({ status, code, outcome: status < 500 ? 'rejected' : 'failed' });
		expect(started.log.lines.some((line) => line.event === 'internal error')).toBe(code === 'internal_error');
	});

	test('before it returns a promise', async () => {
		const started = await serve(() => {
			throw new Rejection('overloaded');
		});
		expect((await fetch(started.origin)).status).toBe(503);
	});

	test('a reset, and the client sees no response', async () => {
		const started = await serve(async () => await Promise.reject(new ConnectionReset()));
		const raw = await connectRaw(started).send(post('x')).untilClosed();
		expect(raw.text).toBe('');
	});
});

describe('the line of a request', () => {
	test('records the outcome, without the query', async () => {
		const record = { team: 'blue', model: 'gpt', provider: 'provider_b', firstByteMs: 12.34, code: 'x' };
		const started = await serve(async (request) => text(await readAll(request.body, 100), { record }));
		await fetch(`${started.origin}/v1/chat?token=secret`, { method: 'POST', body: 'hello' });
		await until(() => started.requestLines().length === 1);
		expect(started.requestLines()[0]).toMatchObject({
			level: 'info',
			method: 'POST',
			path: '/v1/chat',
			status: 200,
			outcome: 'complete',
			requestBytes: 5,
			responseBytes: 5,
			peer: '127.0.0.1',
			...record,
			firstByteMs: 12.3,
		});
		expect(JSON.stringify(started.log.lines)).not.toContain('secret');
	});

	test('is written at level debug for health checks that succeed', async () => {
		let status = 200;
		const started = await serve(async () => await Promise.resolve(text('ok', { status })));
		await fetch(`${started.origin}/healthz`);
		status = 503;
		await fetch(`${started.origin}/healthz`);
		await until(() => started.requestLines().length === 2);
		expect(started.requestLines().map((line) => line['level'])).toEqual(['debug', 'info']);
	});
});

describe('the server', () => {
	test('reports why it cannot listen', async () => {
		const started = await serve(echo);
		await expect(startHttpServer(echo, { listen: { host: '127.0.0.1', port: started.port } })).rejects.toMatchObject({
			code: 'EADDRINUSE',
		});
	});

	test('drains: idle connections close at once, in-flight requests close theirs, then it is idle', async () => {
		let release: (response: HttpResponse) => void = () => undefined;
		const started = await serve(async (request) =>
			request.path === '/slow' ? await new Promise<HttpResponse>((resolve) => (release = resolve)) : text('quick'),
		);
		const resting = await connectRaw(started).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').untilReceived('quick');
		const busy = connectRaw(started).send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
		await until(() => started.server.inFlight === 1);
		started.server.drain();
		await resting.untilClosed();
		let isIdle = false;
		void started.server.idle().then(() => (isIdle = true));
		expect(isIdle).toBe(false);
		release(text('at last'));
		await busy.untilClosed();
		expect(busy.text).toMatch(/connection: close[^]*at last/i);
		await until(() => isIdle);
		await expect(fetch(started.origin)).rejects.toThrow('fetch failed');
	});

	test('is not idle while a handler runs for a client that has disconnected', async () => {
		let release: (response: HttpResponse) => void = () => undefined;
		const started = await serve(async () => await new Promise<HttpResponse>((resolve) => (release = resolve)));
		const raw = connectRaw(started).send(post('x'));
		await until(() => started.server.inFlight === 1);
		raw.destroy();
		await until(() => started.server.openConnections === 0);
		expect(started.server.inFlight).toBe(1);
		release(text('too late'));
		await started.server.idle();
		expect(started.server.inFlight).toBe(0);
		expect(started.requestLines()).toMatchObject([{ outcome: 'client_closed', status: 499 }]);
	});

	test('rejects connections beyond its limit, and logs that once', async () => {
		const started = await serve(echo, { limits: { maxConnections: 2 } });
		const buffered = [connectRaw(started).send(post('a')), connectRaw(started).send(post('b'))];
		await until(() => buffered.every((raw) => raw.statuses.length === 1));
		for (let index = 0; index < 3; index++) await connectRaw(started).send(post('c')).untilClosed();
		expect(started.log.lines.filter((line) => line.event === 'connections rejected')).toHaveLength(1);
		expect(started.server.openConnections).toBe(2);
	});

	test('ends a connection after its number of requests', async () => {
		const started = await serve(echo, { limits: { maxRequestsPerConnection: 2 } });
		const raw = connectRaw(started);
		await raw.send(post('first')).untilReceived('first');
		await raw.send(post('second')).untilClosed();
		expect(raw.statuses).toEqual([200, 200]);
	});

	test('leaves no timer and no connection behind', async () => {
		const clock = new ManualClock();
		const started = await serve(echo, { clock });
		const raw = await connectRaw(started).send(post('hello')).untilReceived('hello');
		raw.destroy();
		await connectRaw(started).send('GET * HTTP/1.1\r\nHost: a\r\n\r\n').untilClosed();
		await until(() => started.server.openConnections === 0);
		clock.advance(5000);
		expect(clock.pending).toBe(0);
	});
});
