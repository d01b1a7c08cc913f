import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type LookupFunction, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { until } from '../../../../test/support/until.ts';
import { bodyOf, causeOf, request, responseBytes, startServer } from '../../../../test/support/upstream-under-test.ts';
import type { UpstreamProxy } from '../../../core/upstream.ts';
import { systemClock } from '../../system-clock.ts';
import type { UpstreamClientOptions } from '../client/upstream-client.ts';
import { createHttpClient } from '../http-client.ts';

const folder = join(import.meta.dirname, '../../../../test/fixtures/tls');
const ca = readFileSync(join(folder, 'certificate.pem'), 'utf8');
const material = { cert: ca, key: readFileSync(join(folder, 'key.pem')) };
const authorization = `Basic ${btoa('user:hush-hush')}`;

/** Host names of the tests resolve to this machine. */
const lookup: LookupFunction = (_hostname, options, callback) => {
	if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
	else callback(null, '127.0.0.1', 4);
};

async function listen(server: Server): Promise<number> {
	const sockets = new Set<Socket>();
	server.on('connection', (socket) => sockets.add(socket));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	return (server.address() as AddressInfo).port;
}

interface StartedProxy {
	readonly proxy: UpstreamProxy;
	/** Method, target and credentials of each received request. */
	readonly requested: [string | undefined, string | undefined, string | undefined][];
}

/** A proxy that connects to ports of this machine, whatever the host. */
async function startProxy(
	how: { readonly isTls?: boolean; readonly status?: number; readonly isSilent?: boolean } = {},
): Promise<StartedProxy> {
	const requested: StartedProxy['requested'] = [];
	const note = ({ method, url, headers }: IncomingMessage): void => void requested.push([method, url, headers['proxy-authorization']]);
	const server = how.isTls === true ? createTlsServer(material) : createServer();
	server.on('request', (incoming, outgoing) => {
		note(incoming);
		if (how.status !== undefined) outgoing.writeHead(how.status).end();
		else outgoing.end(`forwarded ${incoming.headers.host}`);
	});
	server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
		note(incoming);
		socket.on('error', () => undefined);
		if (how.isSilent === true) return;
		if (how.status !== undefined) {
			socket.end(`HTTP/1.1 ${how.status} No\r\ncontent-length: 0\r\n\r\n`);
			return;
		}
		const inner = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
			socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
			socket.pipe(inner).pipe(socket);
		});
		inner.on('error', () => socket.destroy());
	});
	const port = await listen(server);
	return { requested, proxy: { origin: how.isTls === true ? `https://tls.test:${port}` : `http://127.0.0.1:${port}`, authorization } };
}

async function startTlsOrigin(): Promise<{ origin: string; seen: IncomingMessage[] }> {
	const seen: IncomingMessage[] = [];
	const server = createTlsServer(material, (incoming, outgoing) => {
		seen.push(incoming);
		incoming.resume().on('end', () => outgoing.end('safe'));
	});
	return { origin: `https://tls.test:${await listen(server)}`, seen };
}

function startClient(overrides: Partial<UpstreamClientOptions> = {}) {
	const log = createRecordingLog();
	const client = createHttpClient('native', {
		clock: systemClock,
		log,
		maxConnectionsPerOrigin: 10,
		isAllowedAddress: (address) => !address.startsWith('127.'),
		lookup,
		ca,
		...overrides,
	});
	onTestFinished(() => client.close());
	return { ...client, log };
}

describe('a request through a proxy', () => {
	test.each([false, true])('uses a tunnel if its origin has TLS, and uses it again (TLS to the proxy: %s)', async (isTls) => {
		const { proxy, requested } = await startProxy({ isTls });
		const { origin, seen } = await startTlsOrigin();
		const client = startClient();
		for (let turn = 0; turn < 3; turn++) expect(await bodyOf(await client.send(request({ origin }, { proxy })))).toBe('safe');
		expect(requested.length).toBeLessThanOrEqual(2);
		expect(requested[0]).toEqual(['CONNECT', new URL(origin).host, authorization]);
		// The proxy's credentials are sent to the proxy only.
		expect(seen.map(({ headers }) => headers['proxy-authorization'])).toEqual([undefined, undefined, undefined]);
		expect(seen[0]?.headers.host).toBe(new URL(origin).host);
	});

	test('names its origin to the proxy if that has no TLS', async () => {
		const { proxy, requested } = await startProxy();
		const origin = 'http://llm.test:8000';
		expect(await bodyOf(await startClient().send(request({ origin }, { proxy })))).toBe('forwarded llm.test:8000');
		expect(requested).toEqual([['POST', `${origin}/v1/messages?beta=true`, authorization]]);
	});

	test.each([
		['https://tls.test:1', 407],
		['https://tls.test:1', 403],
		['https://tls.test:1', 502],
		['http://llm.test', 407],
	])('to %s fails when the proxy returns %i, and does not disclose its credentials', async (origin, status) => {
		const { proxy } = await startProxy({ status });
		const client = startClient();
		const cause = await causeOf(client.send(request({ origin }, { proxy })));
		expect(cause).toMatchObject({ code: 'provider_unreachable', cause: { code: 'PROXY_REJECTED' } });
		expect(client.log.lines[0]?.fields['reason']).toContain(`${proxy.origin} returned ${status}`);
		expect(JSON.stringify(client.log.lines)).not.toMatch(/hush|Basic/);
		expect(JSON.stringify(client.log.lines)).not.toContain(authorization.slice(6));
	});

	test('fails when there is no proxy', async () => {
		const disconnected = await startServer();
		await disconnected.close();
		const failed = startClient().send(request({ origin: 'https://tls.test:1' }, { proxy: { origin: disconnected.origin, authorization } }));
		await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable' });
	});

	test('waits for the proxy no longer than for a connection', async () => {
		const clock = new ManualClock();
		const { proxy, requested } = await startProxy({ isSilent: true });
		const timeouts = { connectMs: 100, firstByteMs: 1000, idleMs: 1000, totalMs: 5000 };
		const failed = causeOf(startClient({ clock }).send(request({ origin: 'https://tls.test:1' }, { proxy, timeouts })));
		await until(() => requested.length === 1);
		clock.advance(121);
		expect(await failed).toMatchObject({ code: 'provider_connect_timeout' });
	});

	test('with a certificate of another name: provider_unreachable, and no byte is sent', async () => {
		const { proxy } = await startProxy();
		const { origin, seen } = await startTlsOrigin();
		const failed = startClient().send(request({ origin: origin.replace('tls.test', 'other.test') }, { proxy }));
		await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable' });
		expect(seen).toEqual([]);
	});

	test("requires a certificate of the origin's address, not of the proxy", async () => {
		const { proxy } = await startProxy();
		const { origin, seen } = await startTlsOrigin();
		const named = { ...proxy, origin: proxy.origin.replace('127.0.0.1', 'tls.test') };
		const failed = startClient().send(request({ origin: origin.replace('tls.test', '127.0.0.1') }, { proxy: named }));
		await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } });
		expect(seen).toEqual([]);
	});

	test.each(['https://127.0.0.1:1', 'http://127.0.0.1:1', 'https://2130706433:1'])(
		'to %s is rejected, because the proxy would connect to its own network',
		async (origin) => {
			const { proxy, requested } = await startProxy();
			const failed = startClient().send(request({ origin }, { proxy, canReachPrivateNetwork: false }));
			await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable', cause: { code: 'ADDRESS_REFUSED' } });
			expect(requested).toEqual([]);
		},
	);

	test('reaches a proxy at a private address without the allowance, and lets it resolve the name', async () => {
		const { proxy, requested } = await startProxy();
		const { origin } = await startTlsOrigin();
		expect(await bodyOf(await startClient().send(request({ origin }, { proxy, canReachPrivateNetwork: false })))).toBe('safe');
		expect(requested).toHaveLength(1);
	});

	test('shares no connection with requests of other credentials or of none', async () => {
		const { proxy, requested } = await startProxy();
		const { origin } = await startTlsOrigin();
		const client = startClient();
		const other = { ...proxy, authorization: 'Basic b3RoZXI=' };
		for (const one of [proxy, other, undefined]) await bodyOf(await client.send(request({ origin }, { proxy: one })));
		expect(requested.map(([, , credentials]) => credentials)).toEqual([authorization, other.authorization]);
	});
});

test('a client that is closed while undici is loaded sends no byte', async () => {
	const server = await startServer((connection) => connection.send(responseBytes('x')));
	const client = createHttpClient('undici', {
		clock: systemClock,
		log: createRecordingLog(),
		maxConnectionsPerOrigin: 1,
		isAllowedAddress: () => true,
	});
	const failed = causeOf(client.send(request(server)));
	client.close();
	expect(await failed).toMatchObject({ code: 'provider_unreachable' });
	expect(server.connections).toEqual([]);
});
