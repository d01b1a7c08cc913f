import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../../test/support/manual-stream.ts';
import { until } from '../../../../test/support/until.ts';
import {
	bodyOf,
	chunkedHead,
	request,
	responseBytes,
	responses,
	startClient,
	startServer,
} from '../../../../test/support/upstream-under-test.ts';
import { readAll } from '../../../core/byte-stream.ts';

describe('a request to another server', () => {
	test('arrives unchanged, and so does the response', async () => {
		const server = await startServer(responses(responseBytes('{"b":2}', 'X-One: two', 'Content-Encoding: gzip')));
		const response = await startClient().send(request(server));
		expect(response.status).toBe(200);
		expect(response.headers).toEqual({ 'content-length': '7', 'x-one': 'two', 'content-encoding': 'gzip' });
		expect(await bodyOf(response)).toBe('{"b":2}');
		expect(server.connections[0]?.received).toBe(
			`POST /v1/messages?beta=true HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\n` +
				'content-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}',
		);
	});

	test('sends the parts of a body in sequence, under their total length', async () => {
		const server = await startServer(responses(responseBytes('thanks')));
		const body = ['{"a":', '', '1}'].map((part) => Buffer.from(part));
		expect(await bodyOf(await startClient().send(request(server, { body })))).toBe('thanks');
		expect(server.connections[0]?.received).toMatch(/\r\ncontent-length: 7\r\n\r\n\{"a":1\}$/);
	});

	test('follows no redirect', async () => {
		const server = await startServer(responses('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/x\r\ncontent-length: 0\r\n\r\n'));
		const response = await startClient().send(request(server));
		expect(response).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1/x' } });
		expect(server.connections).toHaveLength(1);
	});

	test('reuses a connection', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient();
		for (let turn = 0; turn < 20; turn++) await bodyOf(await client.send(request(server)));
		// After a response, a connection is held back for one tick of the event loop; a request in that tick uses the other one.
		expect(server.connections.length).toBeLessThanOrEqual(2);
	});

	test('sends a body in pieces, at the pace that the server takes', async () => {
		const server = await startServer((connection) => {
			if (connection.received.endsWith('\r\n0\r\n\r\n')) connection.send(responseBytes('thanks'));
		});
		const body = new HandFedStream();
		const sent = startClient().send(request(server, { body }));
		await until(() => body.sink !== undefined);
		body.push('hello ');
		body.push('world');
		body.end();
		expect(await bodyOf(await sent)).toBe('thanks');
		expect(server.connections[0]?.received).toContain('transfer-encoding: chunked\r\n\r\n6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n');
	});

	test('sends a body in pieces under the length that its headers announce', async () => {
		const server = await startServer((connection) => {
			if (connection.received.endsWith('hello')) connection.send(responseBytes('thanks'));
		});
		const body = new HandFedStream();
		const sent = startClient().send(request(server, { body, headers: { 'content-length': '5' } }));
		await until(() => body.sink !== undefined);
		body.push('hello');
		body.end();
		expect(await bodyOf(await sent)).toBe('thanks');
		expect(server.connections[0]?.received).toContain('content-length: 5\r\n\r\nhello');
	});

	test('whose body fails is not completed, and fails with the same cause', async () => {
		const server = await startServer();
		const body = new HandFedStream();
		const sent = startClient().send(request(server, { body }));
		await until(() => body.sink !== undefined);
		body.push('hello');
		await until(() => server.connections[0]?.received.includes('hello') === true);
		const cause = new Error('client left');
		body.fail(cause);
		await expect(sent).rejects.toMatchObject({ cause });
		await until(() => server.connections[0]?.isClosed === true);
		expect(server.connections[0]?.received).not.toContain('\r\n0\r\n');
	});

	test('never opens more connections than allowed; further requests wait', async () => {
		const server = await startServer();
		const client = startClient({ maxConnectionsPerOrigin: 3 });
		const sent = Array.from({ length: 8 }, async () => await bodyOf(await client.send(request(server))));
		await until(() => server.connections.filter((connection) => connection.received !== '').length === 3);
		let responseCount = 0;
		while (responseCount < 8) {
			for (const connection of server.connections) {
				if (!connection.received.endsWith('{"a":1}')) continue;
				connection.received = '';
				connection.send(responseBytes('x'));
				responseCount++;
			}
			await new Promise((resolve) => setImmediate(resolve));
		}
		await Promise.all(sent);
		expect(server.connections).toHaveLength(3);
	});
});

describe('a response', () => {
	test('loses fields of the connection and keeps the others', async () => {
		const server = await startServer(
			responses(
				'HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nProxy-Authenticate: Basic\r\nTE: x\r\n' +
					'Trailer: x\r\nTransfer-Encoding: chunked\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nVary: a\r\nvary: b\r\n' +
					'X-Bytes: caf\xe9\r\n\r\n1\r\nx\r\n0\r\n\r\n',
			),
		);
		const response = await startClient().send(request(server));
		expect(response.headers).toEqual({ 'set-cookie': ['a=1', 'b=2'], vary: 'a, b', 'x-bytes': 'caf\xe9' });
		expect(await bodyOf(response)).toBe('x');
	});

	test('is not an interim one', async () => {
		const server = await startServer(responses(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${responseBytes('x')}`));
		const response = await startClient().send(request(server));
		expect(response.status).toBe(200);
	});

	test('arrives in its own pieces, each at once', async () => {
		const server = await startServer(responses(chunkedHead));
		const response = await startClient().send(request(server));
		const pieces: string[] = [];
		let isEnded = false;
		response.body.start({ write: (chunk) => pieces.push(chunk.toString()) > 0, end: () => void (isEnded = true), fail: () => undefined });
		server.connections[0]?.send('5\r\nfirst\r\n');
		await until(() => pieces.length === 1);
		server.connections[0]?.send('6\r\nsecond\r\n0\r\n\r\n');
		await until(() => isEnded);
		expect(pieces).toEqual(['first', 'second']);
	});

	test('that was complete before it was read is complete for its reader', async () => {
		const server = await startServer(responses(responseBytes('y'.repeat(300_000))));
		const response = await startClient().send(request(server));
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(await bodyOf(response)).toHaveLength(300_000);
	});

	test('waits for a reader that pauses', async () => {
		const size = 20_000_000;
		let taken = 0;
		const server = await startServer((connection) => {
			connection.send(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
			const piece = Buffer.alloc(100_000);
			const sendNext = (): void => {
				taken += piece.length;
				if (taken < size) connection.socket.write(piece, sendNext);
			};
			connection.socket.write(piece, sendNext);
		});
		const response = await startClient().send(request(server));
		let received = 0;
		let isEnded = false;
		const flow = response.body.start({
			write: (chunk) => {
				received += chunk.length;
				return false;
			},
			end: () => void (isEnded = true),
			fail: () => undefined,
		});
		for (let before = -1; before !== taken; ) {
			before = taken;
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		expect(received).toBeGreaterThan(0);
		expect(received).toBeLessThan(300_000);
		expect(taken).toBeLessThan(size);
		await until(() => {
			flow.resume();
			return isEnded;
		});
		expect(received).toBe(size);
	});

	test.each([
		['waited', '5\r\nthird\r\n0\r\n\r\n', ''],
		['comes later', '', '5\r\nthird\r\n0\r\n\r\n'],
	])('whose end %s is delivered in order, and once, to a reader that resumes while it takes a piece', async (_what, sooner, later) => {
		const server = await startServer(responses(`${chunkedHead}5\r\nfirst\r\n6\r\nsecond\r\n${sooner}`));
		const { body } = await startClient().send(request(server));
		const events: string[] = [];
		const flow = body.start({
			write(piece) {
				flow.resume();
				events.push(piece.toString());
				return true;
			},
			end: () => events.push('.'),
			fail: () => events.push('failed'),
		});
		await until(() => events.length > 0);
		server.connections[0]?.send(later);
		await until(() => events.includes('.'));
		await new Promise((resolve) => setImmediate(resolve));
		expect(events.join('')).toBe('firstsecondthird.');
	});

	test('of tens of thousands of buffered pieces does not block the event loop', async () => {
		const count = 60_000;
		const server = await startServer(responses(`${chunkedHead}${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`));
		const { body } = await startClient().send(request(server));
		await new Promise((resolve) => setTimeout(resolve, 100));
		const before = process.cpuUsage().user;
		expect(await readAll(body, count)).toHaveLength(count);
		expect(process.cpuUsage().user - before).toBeLessThan(500_000);
	});

	test('whose reader cancels closes its connection at once: no time passes', async () => {
		const server = await startServer(responses(chunkedHead));
		const response = await startClient({ clock: new ManualClock() }).send(request(server));
		const flow = response.body.start({ write: () => true, end: () => undefined, fail: () => undefined });
		flow.cancel();
		await until(() => server.connections[0]?.isClosed === true);
		expect(server.connections).toHaveLength(1);
	});

	test('whose reader cancels opens no further connection, unless a request waits for one', async () => {
		const server = await startServer(responses(`${chunkedHead}1\r\nx\r\n`));
		const client = startClient({ maxConnectionsPerOrigin: 1 });
		const leave = async (): Promise<void> => {
			const { body } = await client.send(request(server));
			body.start({ write: () => true, end: () => undefined, fail: () => undefined }).cancel();
		};
		await leave();
		await until(() => server.connections[0]?.isClosed === true);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(server.connections).toHaveLength(1);
		await Promise.all([leave(), leave(), leave()]);
		expect(server.connections).toHaveLength(4);
		await until(() => server.connections.every(({ isClosed }) => isClosed));
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(server.connections).toHaveLength(4);
	});

	test('whose reader throws fails the reader and ends', async () => {
		const server = await startServer(responses(`${chunkedHead}1\r\nx\r\n`));
		const client = startClient();
		const response = await client.send(request(server));
		const bug = new TypeError('bug');
		const cause = await new Promise((resolve) => {
			response.body.start({
				write: () => {
					throw bug;
				},
				end: () => undefined,
				fail: resolve,
			});
		});
		expect(cause).toBe(bug);
		await until(() => server.connections[0]?.isClosed === true);
	});
});

describe('a client that disconnects', () => {
	test('ends its request before the response begins, at once: no time passes', async () => {
		const server = await startServer();
		let leave: () => void = () => undefined;
		const client = startClient({ clock: new ManualClock() });
		const sent = client.send(request(server, { onClientDisconnect: (listener) => (leave = listener) }));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		leave();
		await expect(sent).rejects.toMatchObject({ code: 'client_closed' });
		await until(() => server.connections[0]?.isClosed === true);
		expect(client.log.lines).toEqual([]);
	});

	test('before it could be sent is never sent', async () => {
		const server = await startServer();
		const sent = startClient().send(request(server, { onClientDisconnect: (listener) => listener() }));
		await expect(sent).rejects.toMatchObject({ code: 'client_closed' });
		expect(server.connections).toHaveLength(0);
	});

	test('while it waits for a connection is never sent, and does not affect others', async () => {
		const server = await startServer();
		const client = startClient({ maxConnectionsPerOrigin: 1 });
		let leave: () => void = () => undefined;
		const first = client.send(request(server));
		const second = client.send(request(server, { target: '/second', onClientDisconnect: (listener) => (leave = listener) }));
		const third = client.send(request(server, { target: '/third' }));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		leave();
		await expect(second).rejects.toMatchObject({ code: 'client_closed' });
		server.connections[0]?.send(responseBytes('1'));
		expect(await bodyOf(await first)).toBe('1');
		await until(() => server.connections[0]?.received.includes('/third') === true);
		server.connections[0]?.send(responseBytes('3'));
		expect(await bodyOf(await third)).toBe('3');
		expect(server.connections).toHaveLength(1);
		expect(server.connections[0]?.received).not.toContain('/second');
	});

	test('after the response began leaves it to its reader', async () => {
		const server = await startServer(responses(`${chunkedHead}1\r\nx\r\n`));
		let leave: () => void = () => undefined;
		const response = await startClient().send(request(server, { onClientDisconnect: (listener) => (leave = listener) }));
		leave();
		server.connections[0]?.send('1\r\ny\r\n0\r\n\r\n');
		expect(await bodyOf(response)).toBe('xy');
	});
});
