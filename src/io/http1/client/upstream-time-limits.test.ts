import type { LookupFunction } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../../test/support/manual-stream.ts';
import { until } from '../../../../test/support/until.ts';
import {
	causeOf,
	chunkedHead,
	collect,
	request,
	responses,
	startClient,
	startServer,
} from '../../../../test/support/upstream-under-test.ts';

describe('time limits', () => {
	const timeouts = { connectMs: 100, firstByteMs: 300, idleMs: 200, totalMs: 1000 };

	test('for a connection, also while other requests use all of them', async () => {
		const clock = new ManualClock();
		const server = await startServer();
		const client = startClient({ clock, maxConnectionsPerOrigin: 1 });
		client.send(request(server)).catch(() => undefined);
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		const sent = client.send(request(server, { timeouts }));
		const outcome = causeOf(sent);
		clock.advance(120);
		expect(await outcome).toMatchObject({ code: 'provider_connect_timeout', status: 504 });
	});

	test('for a connection whose name is never resolved', async () => {
		const lookups: (() => void)[] = [];
		const lookup: LookupFunction = (_hostname, _options, callback) => void lookups.push(() => callback(null, '127.0.0.1', 4));
		const clock = new ManualClock();
		const client = startClient({ clock, lookup });
		const server = await startServer();
		const sent = client.send(request({ origin: `http://slow.test:${server.port}` }, { timeouts }));
		const outcome = causeOf(sent);
		await until(() => lookups.length === 1);
		clock.advance(120);
		expect(await outcome).toMatchObject({ code: 'provider_connect_timeout' });
		expect(clock.pending).toBe(0);
		lookups[0]?.();
		await new Promise((resolve) => setTimeout(resolve, 5));
		expect(server.connections).toHaveLength(0);
	});

	test('for the first byte', async () => {
		const clock = new ManualClock();
		const server = await startServer(responses('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200'));
		const client = startClient({ clock });
		const sent = client.send(request(server, { timeouts }));
		const outcome = causeOf(sent);
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		clock.advance(280);
		await new Promise((resolve) => setImmediate(resolve));
		expect(server.connections[0]?.isClosed).toBe(false);
		clock.advance(40);
		expect(await outcome).toMatchObject({ code: 'provider_first_byte_timeout', status: 504 });
		await until(() => server.connections[0]?.isClosed === true);
		expect(client.log.lines).toMatchObject([{ level: 'warn', event: 'upstream failed', fields: { code: 'provider_first_byte_timeout' } }]);
	});

	test('for the first byte begin when a body in pieces has been sent', async () => {
		const clock = new ManualClock();
		const server = await startServer();
		const body = new HandFedStream();
		const outcome = causeOf(startClient({ clock }).send(request(server, { body, timeouts })));
		await until(() => body.sink !== undefined);
		body.push('hello');
		await until(() => server.connections[0]?.received.includes('hello') === true);
		clock.advance(500);
		expect(server.connections[0]?.isClosed).toBe(false);
		body.end();
		await until(() => server.connections[0]?.received.endsWith('\r\n0\r\n\r\n') === true);
		clock.advance(320);
		expect(await outcome).toMatchObject({ code: 'provider_first_byte_timeout' });
	});

	test('for silence within the response', async () => {
		const clock = new ManualClock();
		const server = await startServer(responses(chunkedHead));
		const response = await startClient({ clock }).send(request(server, { timeouts }));
		const { pieces, outcome } = collect(response.body);
		for (let turn = 1; turn <= 3; turn++) {
			clock.advance(180);
			server.connections[0]?.send('1\r\nx\r\n');
			await until(() => pieces.length === turn);
		}
		clock.advance(220);
		expect(await outcome).toMatchObject({ code: 'provider_idle_timeout' });
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('for the start of a body, which may take longer than silence within it', async () => {
		const clock = new ManualClock();
		const server = await startServer(responses(chunkedHead));
		const response = await startClient({ clock }).send(request(server, { timeouts: { ...timeouts, bodyStartMs: 600 } }));
		const { pieces, outcome } = collect(response.body);
		clock.advance(580);
		server.connections[0]?.send('1\r\nx\r\n');
		await until(() => pieces.length === 1);
		clock.advance(220);
		expect(await outcome).toMatchObject({ code: 'provider_idle_timeout' });
	});

	test('for silence do not run while the reader pauses', async () => {
		const clock = new ManualClock();
		const server = await startServer(responses(`${chunkedHead}1\r\nx\r\n`));
		const response = await startClient({ clock }).send(request(server, { timeouts: { ...timeouts, totalMs: 100_000 } }));
		let received = '';
		const flow = response.body.start({
			write: (chunk) => {
				received += chunk.toString();
				return false;
			},
			end: () => void (received += '.'),
			fail: (cause) => void (received += String(cause)),
		});
		await until(() => received === 'x');
		server.connections[0]?.send('1\r\ny\r\n');
		flow.resume();
		await until(() => received === 'xy');
		clock.advance(60_000);
		flow.resume();
		await new Promise((resolve) => setImmediate(resolve));
		server.connections[0]?.send('0\r\n\r\n');
		await until(() => received.length > 2);
		expect(received).toBe('xy.');
	});

	test('for silence do not start with a piece that arrives while the reader pauses', async () => {
		const clock = new ManualClock();
		const server = await startServer(responses(chunkedHead));
		const response = await startClient({ clock }).send(request(server, { timeouts: { ...timeouts, totalMs: 100_000 } }));
		const events: string[] = [];
		const flow = response.body.start({
			// Pauses once and takes the bytes already in transit.
			write: (chunk) => events.push(chunk.toString()) > 1,
			end: () => events.push('.'),
			fail: (cause) => events.push(String(cause)),
		});
		server.connections[0]?.send('1\r\nx\r\n1\r\ny\r\n');
		await until(() => events.length === 2);
		clock.advance(60_000);
		flow.resume();
		server.connections[0]?.send('0\r\n\r\n');
		await until(() => events.length === 3);
		expect(events).toEqual(['x', 'y', '.']);
	});

	test('for the complete response, however active it is', async () => {
		const clock = new ManualClock();
		const server = await startServer(responses(chunkedHead));
		const response = await startClient({ clock }).send(request(server, { timeouts }));
		const { pieces, outcome } = collect(response.body);
		for (let turn = 1; turn <= 6; turn++) {
			clock.advance(150);
			server.connections[0]?.send('1\r\nx\r\n');
			await until(() => pieces.length === turn);
		}
		clock.advance(120);
		expect(await outcome).toMatchObject({ code: 'provider_total_timeout' });
	});

	test('of 50 ms apply within 100 ms of real time', async () => {
		const server = await startServer();
		const sentMs = performance.now();
		const sent = startClient().send(request(server, { timeouts: { ...timeouts, firstByteMs: 50 } }));
		// Uses a timer of this thread, like the limit does: a busy machine delays both.
		const tooLate = new Promise((resolve) => setTimeout(resolve, 150, 'too late'));
		await expect(Promise.race([sent, tooLate])).rejects.toMatchObject({ code: 'provider_first_byte_timeout' });
		expect(performance.now() - sentMs).toBeGreaterThanOrEqual(50);
	});
});
