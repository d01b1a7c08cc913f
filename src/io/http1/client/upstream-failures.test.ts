import type { LookupFunction } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type ScriptedConnection, startScriptedServer } from '../../../../test/support/scripted-server.ts';
import { until } from '../../../../test/support/until.ts';
import {
	causeOf,
	chunkedHead,
	collect,
	request,
	responseBytes,
	responses,
	startClient,
	startServer,
} from '../../../../test/support/upstream-under-test.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';

describe('network failures', () => {
	const unreachable: [string, (connection: ScriptedConnection) => void][] = [
		['a connection that ends before the head', (connection) => connection.socket.end()],
		['a reset before the head', (connection) => connection.socket.resetAndDestroy()],
		['half a head', (connection) => connection.socket.end('HTTP/1.1 200 OK\r\ncontent-')],
		['an answer that is no HTTP', (connection) => connection.send('SSH-2.0-OpenSSH_9.9\r\n')],
		['a head without end', (connection) => connection.send(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`)],
		['two lengths', (connection) => connection.send('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx')],
		['an upgrade that nobody asked for', (connection) => connection.send('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n')],
	];
	test.each(unreachable)('%s: provider_unreachable', async (_what, script) => {
		const client = startClient();
		const sent = client.send(request(await startServer(script)));
		await expect(sent).rejects.toMatchObject({ code: 'provider_unreachable', status: 502 });
		await expect(sent).rejects.toHaveProperty('cause');
		expect(client.log.lines).toMatchObject([{ event: 'upstream failed', fields: { code: 'provider_unreachable' } }]);
	});

	test('a connection that the server rejects: provider_unreachable, with its reason in the log', async () => {
		const server = await startScriptedServer();
		await server.close();
		const client = startClient();
		await expect(client.send(request(server))).rejects.toMatchObject({ code: 'provider_unreachable', cause: { code: 'ECONNREFUSED' } });
		expect(client.log.lines[0]?.fields['reason']).toContain('ECONNREFUSED');
	});

	test('a name that does not resolve: provider_unreachable', async () => {
		const lookup: LookupFunction = (hostname, _options, callback) =>
			callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }), '');
		const sent = startClient({ lookup }).send(request({ origin: 'http://nowhere.test' }));
		await expect(sent).rejects.toMatchObject({ code: 'provider_unreachable', cause: { code: 'ENOTFOUND' } });
	});

	test('a server without TLS: provider_unreachable', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const sent = startClient().send(request({ origin: server.origin.replace('http:', 'https:') }));
		await expect(sent).rejects.toMatchObject({ code: 'provider_unreachable' });
	});

	const disconnected: [string, (connection: ScriptedConnection) => void][] = [
		['an end within a chunked body', (connection) => connection.socket.end()],
		['a reset within it', (connection) => connection.socket.resetAndDestroy()],
		['a chunk that is none', (connection) => connection.send('zzz\r\n')],
	];
	test.each(disconnected)('%s: the received bytes are delivered, then provider_disconnected', async (_what, disturb) => {
		const server = await startServer(responses(`${chunkedHead}5\r\nhello\r\n`));
		const response = await startClient().send(request(server));
		const { pieces, outcome } = collect(response.body);
		await until(() => pieces.length === 1);
		for (const connection of server.connections) disturb(connection);
		expect(await outcome).toMatchObject({ code: 'provider_disconnected' });
		expect(Buffer.concat(pieces).toString()).toBe('hello');
	});

	test('a body that fails before it is read still delivers the received bytes', async () => {
		const server = await startServer((connection) => connection.socket.end(`${chunkedHead}5\r\nhello\r\n`));
		const response = await startClient().send(request(server));
		await until(() => server.connections[0]?.isClosed === true);
		await new Promise((resolve) => setTimeout(resolve, 5));
		const { pieces, outcome } = collect(response.body);
		expect(await outcome).toMatchObject({ code: 'provider_disconnected' });
		expect(Buffer.concat(pieces).toString()).toBe('hello');
	});

	test('a body that fails while its reader pauses delivers the earlier bytes before it fails', async () => {
		const server = await startServer((connection) => connection.socket.end(`${chunkedHead}5\r\nhello\r\n5\r\nworld\r\n`));
		const response = await startClient().send(request(server));
		await until(() => server.connections[0]?.isClosed === true);
		await new Promise((resolve) => setTimeout(resolve, 5));
		let received = '';
		const cause = await new Promise((resolve) => {
			response.body.start({
				write: (chunk) => {
					received += chunk.toString();
					return false;
				},
				end: () => resolve(undefined),
				fail: resolve,
			});
		});
		expect(cause).toMatchObject({ code: 'provider_disconnected' });
		expect(received).toBe('helloworld');
	});

	test('less than the announced length: provider_disconnected', async () => {
		const server = await startServer((connection) => connection.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello'));
		const response = await startClient().send(request(server));
		expect(await collect(response.body).outcome).toMatchObject({ code: 'provider_disconnected' });
	});

	test('an internal error is not reported as an error of the provider', async () => {
		const server = await startServer();
		const sent = startClient().send(request(server, { headers: { 'x-key': 'a\nb' } }));
		await expect(sent).rejects.toThrow('The header "x-key" is invalid');
		await expect(sent).rejects.not.toBeInstanceOf(UpstreamError);
	});

	test('closing the client ends in-flight requests', async () => {
		const server = await startServer();
		const client = startClient();
		const outcome = causeOf(client.send(request(server)));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		client.close();
		expect(await outcome).toMatchObject({ code: 'provider_unreachable' });
	});
});
