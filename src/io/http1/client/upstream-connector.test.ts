import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bodyOf, request, responseBytes, responses, startClient, startServer } from '../../../../test/support/upstream-under-test.ts';

describe('TLS', () => {
	const folder = join(import.meta.dirname, '../../../../test/fixtures/tls');
	const ca = readFileSync(join(folder, 'certificate.pem'), 'utf8');
	const lookup: LookupFunction = (_hostname, options, callback) => {
		if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
		else callback(null, '127.0.0.1', 4);
	};

	async function startTlsServer(): Promise<{ port: number; sessions: boolean[]; names: unknown[] }> {
		const sessions: boolean[] = [];
		const names: unknown[] = [];
		const server = createServer({ cert: ca, key: readFileSync(join(folder, 'key.pem')) }, (incoming, outgoing) => {
			const socket = incoming.socket as TLSSocket;
			sessions.push(socket.isSessionReused());
			names.push(socket.servername);
			outgoing.setHeader('connection', 'close');
			outgoing.end('safe');
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		onTestFinished(() => void server.close());
		return { port: (server.address() as AddressInfo).port, sessions, names };
	}

	test('uses the name of the origin, and its session is used again', async () => {
		const server = await startTlsServer();
		const client = startClient({ lookup, ca });
		const origin = `https://tls.test:${server.port}`;
		for (let turn = 0; turn < 3; turn++) expect(await bodyOf(await client.send(request({ origin })))).toBe('safe');
		expect(server.names).toEqual(['tls.test', 'tls.test', 'tls.test']);
		expect(server.sessions).toEqual([false, true, true]);
	});

	test.each([
		['a certificate of another name', 'other.test', ca],
		['a certificate that nobody vouches for', 'tls.test', undefined],
	])('with %s: provider_unreachable, and no byte is sent', async (_what, name, authority) => {
		const server = await startTlsServer();
		const client = startClient({ lookup, ...(authority !== undefined && { ca: authority }) });
		const sent = client.send(request({ origin: `https://${name}:${server.port}` }));
		await expect(sent).rejects.toMatchObject({ code: 'provider_unreachable' });
		expect(server.names).toEqual([]);
	});

	test('reaches no private address either', async () => {
		const server = await startTlsServer();
		const client = startClient({ lookup, ca });
		const sent = client.send(request({ origin: `https://tls.test:${server.port}` }, { canReachPrivateNetwork: false }));
		await expect(sent).rejects.toMatchObject({ cause: { code: 'ADDRESS_REFUSED' } });
	});
});

describe('addresses that are not public', () => {
	const outside = { canReachPrivateNetwork: false };
	const resolvesTo =
		(...addresses: string[]): LookupFunction =>
		(_hostname, options, callback) => {
			const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
			if (options.all === true) callback(null, found);
			else callback(null, found[0]?.address ?? '', found[0]?.family);
		};

	test.each(['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.1'])('are rejected when written as %s', async (host) => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient();
		const sent = client.send(request({ origin: `http://${host}:${server.port}` }, outside));
		await expect(sent).rejects.toMatchObject({ code: 'provider_unreachable', cause: { code: 'ADDRESS_REFUSED' } });
		expect(server.connections).toHaveLength(0);
		expect(client.log.lines[0]?.fields['reason']).toContain('allow_private_network');
	});

	test('are rejected in brackets', async () => {
		const sent = startClient().send(request({ origin: 'http://[::1]:9' }, outside));
		await expect(sent).rejects.toMatchObject({ cause: { code: 'ADDRESS_REFUSED' } });
	});

	test('are rejected when a name resolves to them, at any time', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient({ lookup: resolvesTo('127.0.0.1', '::1') });
		for (let turn = 0; turn < 2; turn++) {
			const sent = client.send(request({ origin: `http://rebound.test:${server.port}` }, outside));
			await expect(sent).rejects.toMatchObject({ cause: { code: 'ADDRESS_REFUSED' } });
		}
		expect(server.connections).toHaveLength(0);
	});

	test('are skipped when a name resolves to others too', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient({ lookup: resolvesTo('127.0.0.2', '127.0.0.1'), isAllowedAddress: (address) => address === '127.0.0.1' });
		const response = await client.send(request({ origin: `http://both.test:${server.port}` }, outside));
		expect(await bodyOf(response)).toBe('x');
		expect(server.connections[0]?.socket.localAddress).toBe('127.0.0.1');
	});

	test('are reached with the allowance, whose connections no other request uses', async () => {
		const server = await startServer(responses(responseBytes('x')));
		const client = startClient();
		expect(await bodyOf(await client.send(request(server)))).toBe('x');
		await expect(client.send(request(server, outside))).rejects.toMatchObject({ code: 'provider_unreachable' });
		expect(server.connections).toHaveLength(1);
	});
});
