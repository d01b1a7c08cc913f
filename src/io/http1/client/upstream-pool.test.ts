/** Connection reuse: the connection that a request receives, and connections that are not reused. */
import type { LookupFunction } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../../test/support/manual-stream.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import type { ScriptedConnection, ScriptedServer } from '../../../../test/support/scripted-server.ts';
import { until } from '../../../../test/support/until.ts';
import {
	bodyOf,
	causeOf,
	chunkedHead,
	request,
	responseBytes,
	responses,
	startClient,
	startServer,
} from '../../../../test/support/upstream-under-test.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';

const clientSays = async (client: ReturnType<typeof startClient>, server: ScriptedServer): Promise<string> =>
	bodyOf(await client.send(request(server)));

describe('a connection is reused', () => {
	test('by the next request, however soon', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient();
		for (let turn = 0; turn < 20; turn++) expect(await clientSays(client, server)).toBe('x');
		expect(server.connections).toHaveLength(1);
	});

	test('after a response whose reader had to be resumed repeatedly', async () => {
		const size = 2_000_000;
		const server = await startServer(responses(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size)}`));
		const client = startClient();
		for (let turn = 0; turn < 3; turn++) {
			const { body } = await client.send(request(server));
			let received = 0;
			await new Promise<void>((resolve, reject) => {
				const flow = body.start({
					write(piece) {
						received += piece.length;
						setImmediate(() => flow.resume());
						return false;
					},
					end: resolve,
					fail: reject,
				});
			});
			expect(received).toBe(size);
		}
		expect(server.connections).toHaveLength(1);
	});

	test.each([
		['4 s at most', '', 4000],
		['two seconds less than the server says', 'Keep-Alive: timeout=12', 10_000],
		['a minute at most', 'Keep-Alive: timeout=500', 60_000],
	])('while it has been idle %s', async (_what, field, restMs) => {
		const clock = new ManualClock();
		const server = await startServer(responses(responseBytes('x', ...(field === '' ? [] : [field]))));
		const client = startClient({ clock });
		await clientSays(client, server);
		clock.advance(restMs - 40);
		await clientSays(client, server);
		expect(server.connections).toHaveLength(1);
		clock.advance(restMs + 40);
		await until(() => server.connections[0]?.isClosed === true);
		await clientSays(client, server);
		expect(server.connections).toHaveLength(2);
	});
});

/** After each of these responses, the next request must receive its own response, `fresh`, on a new connection. */
const lasts: [string, string][] = [
	['the server ends it', responseBytes('x', 'Connection: close')],
	['the server ends it too soon', responseBytes('x', 'Keep-Alive: timeout=2')],
	['the server speaks HTTP/1.0', responseBytes('x').replace('1.1', '1.0')],
	['the answer ended with it', 'HTTP/1.1 200 OK\r\n\r\nx'],
	['more came than the answer', `${responseBytes('x')}${responseBytes('stale')}`],
	['more came than an answer without a body', `HTTP/1.1 204 No Content\r\n\r\nx${responseBytes('stale')}`],
	['more came than the last chunk', `${chunkedHead}1\r\nx\r\n0\r\n\r\n${responseBytes('stale')}`],
];

describe('a connection is not reused', () => {
	test.each(lasts)('when %s', async (_what, first) => {
		const server = await startServer((connection) => {
			if (server.connections[0] !== connection) connection.send(responseBytes('fresh'));
			else if (first.startsWith('HTTP/1.1 200 OK\r\n\r\n')) connection.socket.end(first);
			else connection.send(first);
		});
		const client = startClient();
		await clientSays(client, server);
		expect(await clientSays(client, server)).toBe('fresh');
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('when bytes arrive while it is idle', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient();
		await clientSays(client, server);
		server.connections[0]?.send(responseBytes('stale'));
		await until(() => server.connections[0]?.isClosed === true);
		expect(await clientSays(client, server)).toBe('x');
		expect(server.connections).toHaveLength(2);
	});

	test('when its response came before the end of the request', async () => {
		const server = await startServer(responses(responseBytes('early')));
		const client = startClient();
		const body = new HandFedStream();
		const sent = client.send(request(server, { body }));
		await until(() => body.sink !== undefined);
		body.push('hello');
		expect(await bodyOf(await sent)).toBe('early');
		await until(() => body.isCancelled && server.connections[0]?.isClosed === true);
		expect(await clientSays(client, server)).toBe('early');
		expect(server.connections).toHaveLength(2);
	});

	test('when its response came before all bytes of the request were sent', async () => {
		const server = await startServer((connection) => {
			if (server.connections[0] !== connection) connection.send(responseBytes('fresh'));
			else if (!connection.socket.isPaused()) {
				connection.socket.pause();
				connection.send(responseBytes('early'));
			}
		});
		const client = startClient();
		const sent = client.send(request(server, { body: Buffer.alloc(30_000_000, 'x') }));
		expect(await bodyOf(await sent)).toBe('early');
		expect(await clientSays(client, server)).toBe('fresh');
	});

	test('when its reader cancelled', async () => {
		const server = await startServer((connection) =>
			connection.send(server.connections.length === 1 ? `${chunkedHead}1\r\nx\r\n` : responseBytes('fresh')),
		);
		const client = startClient();
		const { body } = await client.send(request(server));
		body.start({ write: () => true, end: () => undefined, fail: () => undefined }).cancel();
		expect(await clientSays(client, server)).toBe('fresh');
		expect(server.connections).toHaveLength(2);
	});
});

/** Each of two requests that use one connection in sequence must receive its own response. */
describe('a request that waits for a connection whose response completes', () => {
	const head = 'HTTP/1.1 200 OK\r\ncontent-length: 65000\r\n\r\n';
	const burst = (behind: (connection: ScriptedConnection) => void) => (connection: ScriptedConnection) => {
		if (connection.received.includes('/second')) connection.send(responseBytes('own'));
		else behind(connection);
	};
	test.each([
		// The response ends at the end of a socket read; surplus bytes arrive with the next one.
		[
			'and says more than it should',
			burst((connection) => connection.send(`${head}${'x'.repeat(65_000)}${responseBytes('stale').repeat(2)}`)),
		],
		['and says more at the end of a read', burst((connection) => connection.send(`${head}${'x'.repeat(65_000)}`.padEnd(65_536, 'y')))],
		['and ends', burst((connection) => connection.socket.end(responseBytes('x')))],
	])('%s gets another connection', async (_what, script) => {
		const server = await startServer(script);
		const client = startClient({ maxConnectionsPerOrigin: 1 });
		const [first, second] = [client.send(request(server)), client.send(request(server, { target: '/second' }))];
		await bodyOf(await first);
		expect(await bodyOf(await second)).toBe('own');
		expect(server.connections).toHaveLength(2);
	});

	/** Servers that close idle connections close all of them at once; the close arrives while a request is being written. */
	async function withStaleConnections(count: number): Promise<{ server: ScriptedServer; client: ReturnType<typeof startClient> }> {
		const server = await startServer((connection) => {
			if (connection.received.includes('/hold')) return;
			connection.send(responseBytes('x'));
		});
		const client = startClient();
		const buffered = Array.from({ length: count }, () => client.send(request(server, { target: '/hold' })));
		await until(() => server.connections.filter(({ received }) => received.endsWith('{"a":1}')).length === count);
		for (const connection of server.connections) connection.send(responseBytes('held'));
		for (const response of await Promise.all(buffered)) await bodyOf(response);
		await new Promise((resolve) => setImmediate(resolve));
		// Written by this process, so the bytes are in the kernel before the next tick reads. The most recently used connection is used first,
		// so it is read first.
		for (const connection of server.connections.toReversed()) connection.socket.write(responseBytes('stale'));
		return { server, client };
	}

	test.each([1, 3])('is sent on a fresh connection if %i idle ones prove to be stale before it is sent', async (count) => {
		const { server, client } = await withStaleConnections(count);
		let begun = 0;
		const sent = client.send(request(server, { target: '/next', onSent: () => void begun++ }));
		expect(await bodyOf(await sent)).toBe('x');
		expect(begun).toBe(1);
		expect(server.connections.filter(({ received }) => received.includes('/next'))).toHaveLength(1);
	});

	test('is not sent if no connection can be opened after all', async () => {
		const { server, client } = await withStaleConnections(1);
		const stopped = server.close();
		let begun = 0;
		const outcome = causeOf(client.send(request(server, { onSent: () => void begun++ })));
		expect(await outcome).toMatchObject({ code: 'provider_unreachable' });
		expect(begun).toBe(0);
		await stopped;
	});
});

describe('a body of an announced length', () => {
	test.each([
		['more', 'hello!', 'longer'],
		['less', 'hell', 'shorter'],
	])('that has %s is not completed', async (_what, text, why) => {
		const server = await startServer();
		const body = new HandFedStream();
		const outcome = causeOf(startClient().send(request(server, { body, headers: { 'content-length': '5' } })));
		await until(() => body.sink !== undefined);
		body.push(text);
		body.end();
		expect(await outcome).toMatchObject({
			code: 'provider_unreachable',
			cause: { message: `The request body is ${why} than its header says` },
		});
		await until(() => server.connections.every(({ isClosed }) => isClosed));
		expect(server.connections[0]?.received ?? '').not.toContain('hello');
	});
});

describe('waiting requests', () => {
	const requestedName = (connection: ScriptedConnection): boolean => connection.received.endsWith('{"a":1}');

	test('continue when a connection is lost', async () => {
		const server = await startServer();
		const client = startClient({ maxConnectionsPerOrigin: 1 });
		const first = causeOf(client.send(request(server)));
		const second = client.send(request(server));
		await until(() => server.connections.some(requestedName));
		server.connections[0]?.socket.resetAndDestroy();
		expect(await first).toMatchObject({ code: 'provider_unreachable' });
		await until(() => server.connections.length === 2 && server.connections.every(requestedName));
		server.connections[1]?.send(responseBytes('x'));
		expect(await bodyOf(await second)).toBe('x');
	});

	test('each fail with the error that there is no connection', async () => {
		const server = await startServer();
		await server.close();
		const client = startClient({ maxConnectionsPerOrigin: 2 });
		const outcomes = await Promise.all(Array.from({ length: 7 }, () => causeOf(client.send(request(server)))));
		expect(outcomes.map((cause) => (cause as { code?: string }).code)).toEqual(Array.from({ length: 7 }, () => 'provider_unreachable'));
	});

	test('are not rejected for the time limit of another', async () => {
		const lookups: (() => void)[] = [];
		const lookup: LookupFunction = (_hostname, _options, callback) => {
			lookups.push(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));
		};
		const clock = new ManualClock();
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient({ clock, lookup });
		const origin = `http://slow.test:${server.port}`;
		const send = (connectMs: number): ReturnType<typeof client.send> =>
			client.send(request({ origin }, { timeouts: { connectMs, firstByteMs: 2000, idleMs: 2000, totalMs: 9000 } }));
		const hasty = causeOf(send(100));
		const patient = send(3000);
		await until(() => lookups.length === 2);
		clock.advance(120);
		expect(await hasty).toMatchObject({ code: 'provider_connect_timeout' });
		await until(() => lookups.length === 3);
		lookups[2]?.();
		expect(await bodyOf(await patient)).toBe('x');
	});

	test('receive the errors that their sender caused', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient({ maxConnectionsPerOrigin: 1 });
		const internalError = new Error('defect');
		const onSent = (): never => {
			throw internalError;
		};
		const body = { start: onSent };
		for (const wrong of [{ onSent }, { body }, { onSent }]) {
			expect(await causeOf(client.send(request(server, wrong)))).toMatchObject({ code: 'provider_unreachable', cause: internalError });
		}
		expect(await clientSays(client, server)).toBe('x');
	});

	test('send no byte when their sender withdraws them at the start of sending, and write no log line', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const log = createRecordingLog();
		const client = startClient({ maxConnectionsPerOrigin: 1, log });
		expect(await clientSays(client, server)).toBe('x');
		const voided = new UpstreamError('records_unavailable');
		const onSent = (): never => {
			throw voided;
		};
		expect(await causeOf(client.send(request(server, { target: '/taken-back', onSent })))).toBe(voided);
		expect(await clientSays(client, server)).toBe('x');
		expect(server.connections.map(({ received }) => received).join('')).not.toContain('taken-back');
		expect(log.lines).toEqual([]);
	});

	test('fail with the client, and open no connection any more', async () => {
		const server = await startServer();
		const client = startClient({ maxConnectionsPerOrigin: 1 });
		const outcomes = [1, 2, 3].map(() => causeOf(client.send(request(server))));
		await until(() => server.connections.some(requestedName));
		client.close();
		for (const outcome of outcomes) expect(await outcome).toMatchObject({ code: 'provider_unreachable' });
		await until(() => server.connections.every(({ isClosed }) => isClosed));
		expect(server.connections).toHaveLength(1);
	});

	test('leave no connection attempt behind when the client closes', async () => {
		// Accepts connections and sends nothing during the handshake.
		const server = await startServer();
		const client = startClient({ clock: new ManualClock() });
		const outcome = causeOf(client.send(request({ origin: server.origin.replace('http:', 'https:') })));
		await until(() => server.connections.length === 1);
		client.close();
		expect(await outcome).toMatchObject({ code: 'provider_unreachable' });
		await until(() => server.connections[0]?.isClosed === true);
	});
});
