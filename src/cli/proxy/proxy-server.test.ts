import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TrustedHosts } from './foreign-request.ts';
import { createProxyServer } from './proxy-server.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface Received {
	readonly url: string | undefined;
	readonly headers: IncomingHttpHeaders;
	readonly body: Buffer;
}

let servers: Server[];
let received: Received[];
let warnings: string[];
let issued: number;

beforeEach(() => {
	servers = [];
	received = [];
	warnings = [];
	issued = 1;
});
afterEach(() => {
	for (const server of servers) {
		server.closeAllConnections();
		server.close();
	}
});

async function listen(server: Server): Promise<string> {
	servers.push(server.listen(0, '127.0.0.1'));
	await once(server, 'listening');
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a gateway that records each request and responds to it. */
function startGateway(respond: Listener = (_request, response) => response.end('{}')): Promise<string> {
	return listen(
		createServer((incoming, response) => {
			void buffer(incoming).then((body) => {
				received.push({ url: incoming.url, headers: incoming.headers, body });
				respond(incoming, response);
			});
		}),
	);
}

async function startProxy(
	gateway: string,
	trustedHosts: TrustedHosts = { isLoopbackOnly: true, names: ['host.docker.internal'] },
	accessToken = (): Promise<string> => Promise.resolve(`token-${issued}`),
): Promise<string> {
	const invalidate = (): void => void (issued += 1);
	const warn = (text: string): void => void warnings.push(text);
	return listen(createProxyServer({ gateway: new URL(gateway), tokens: { accessToken, invalidate }, trustedHosts, warn }));
}

const post = (url: string, body: string | Uint8Array<ArrayBuffer> = '{}', headers: Record<string, string> = {}): Promise<Response> =>
	fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

/** Sends a request with any path and `Host`, which `fetch` sets itself. */
async function sendRaw(url: string, path: string, headers: Record<string, string>): Promise<{ status: number | undefined; body: string }> {
	const outgoing = request(url, { path, headers, agent: false }).end();
	const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
	return { status: response.statusCode, body: (await buffer(response)).toString() };
}

describe('a request', () => {
	it('has the access token in place of every credential, and is otherwise unchanged', async () => {
		const gateway = await startGateway();
		const proxy = await startProxy(`${gateway}/llm/`);
		const credentials = { authorization: 'Bearer sk-1', 'x-api-key': 'sk-2', 'api-key': 'sk-3', 'x-goog-api-key': 'sk-4', cookie: 'a=b' };
		await post(`${proxy}/v1/messages?beta=true&x=%2F`, '{"model": "m"}', { ...credentials, 'anthropic-beta': 'a,b' });
		expect(received).toHaveLength(1);
		expect(received[0]).toMatchObject({ url: '/llm/v1/messages?beta=true&x=%2F', body: Buffer.from('{"model": "m"}') });
		const headers = received[0]?.headers;
		expect(headers).toMatchObject({
			authorization: 'Bearer token-1',
			host: new URL(gateway).host,
			'anthropic-beta': 'a,b',
			'content-length': '14',
		});
		expect(JSON.stringify(headers)).not.toContain('sk-');
		expect(headers).not.toHaveProperty('cookie');
	});

	it('has no body if it had none', async () => {
		await fetch(`${await startProxy(await startGateway())}/v1/models`);
		expect(received[0]?.headers).not.toHaveProperty('transfer-encoding');
		expect(received[0]?.headers).not.toHaveProperty('content-length');
	});

	it.each([100, 4_194_304, 9_000_000])('of %i bytes without a length arrives whole', async (size) => {
		const proxy = await startProxy(await startGateway());
		const body = Buffer.alloc(size, 'abcdefg');
		const outgoing = request(proxy, { method: 'POST', agent: false });
		outgoing.write(body.subarray(0, 50));
		outgoing.end(body.subarray(50));
		const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
		expect(response.statusCode).toBe(200);
		expect(received[0]?.body.equals(body)).toBe(true);
	});

	it('is sent again if the gateway closes an idle connection that it takes', async () => {
		const used = new WeakSet<Socket>();
		const gateway = await startGateway((incoming, response) => {
			if (used.has(incoming.socket)) incoming.socket.destroy();
			else response.end('{}');
			used.add(incoming.socket);
		});
		const proxy = await startProxy(gateway);
		for (const expected of [1, 3]) {
			expect((await post(proxy)).status).toBe(200);
			expect(received).toHaveLength(expected);
		}
		expect(warnings).toEqual([]);
	});

	it('drops the fields of its connection', async () => {
		const proxy = await startProxy(await startGateway());
		await sendRaw(proxy, '/', { connection: 'close, x-private', 'x-private': '1', te: 'trailers', 'proxy-authorization': 'Basic a' });
		const { headers = {} } = received[0] ?? {};
		for (const name of ['x-private', 'te', 'proxy-authorization']) expect(headers).not.toHaveProperty(name);
	});
});

describe('a response', () => {
	it('is streamed event by event', async () => {
		let finish = (): void => undefined;
		const gateway = await startGateway((_request, response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
			finish = () => response.end('data: 2\n\n');
		});
		const response = await post(`${await startProxy(gateway)}/v1/messages`);
		const reader = response.body?.getReader();
		expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 1\n\n');
		finish();
		expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 2\n\n');
		expect((await reader?.read())?.done).toBe(true);
	});

	it('keeps status, fields and body of an error', async () => {
		const gateway = await startGateway((_request, response) => {
			response.writeHead(429, { 'retry-after': '31', 'x-should-retry': 'false', 'x-request-id': 'req_1' }).end('{"allowed":false}');
		});
		const response = await post(`${await startProxy(gateway)}/v1/messages`);
		expect([response.status, await response.text()]).toEqual([429, '{"allowed":false}']);
		expect(Object.fromEntries(response.headers)).toMatchObject({ 'retry-after': '31', 'x-should-retry': 'false', 'x-request-id': 'req_1' });
	});

	it('that breaks off breaks off for the client too', async () => {
		const gateway = await startGateway((incoming, response) => {
			response.writeHead(200).write('data: 1\n\n', () => setImmediate(() => incoming.socket.destroy()));
		});
		const response = await post(`${await startProxy(gateway)}/v1/messages?key=hidden`);
		await expect(response.text()).rejects.toThrow('terminated');
		await expect.poll(() => warnings).toEqual([expect.stringMatching(/^POST \/v1\/messages: /)]);
	});

	it('is aborted when the client disconnects, without a warning', async () => {
		let closed: Promise<unknown> | undefined;
		const gateway = await startGateway((_request, response) => {
			closed = once(response, 'close');
			response.writeHead(200).write('data: 1\n\n');
		});
		const controller = new AbortController();
		const response = await fetch(await startProxy(gateway), { method: 'POST', body: '{}', signal: controller.signal });
		await response.body?.getReader().read();
		controller.abort();
		await closed;
		expect(warnings).toEqual([]);
	});

	it('to a request that the client gave up is aborted before it begins', async () => {
		let closed: Promise<unknown> | undefined;
		const gateway = await startGateway((_request, response) => {
			closed = once(response, 'close');
		});
		const controller = new AbortController();
		const sent = fetch(await startProxy(gateway), { method: 'POST', body: '{}', signal: controller.signal }).catch(() => undefined);
		await expect.poll(() => received.length).toBe(1);
		controller.abort();
		await Promise.all([closed, sent]);
		expect(warnings).toEqual([]);
	});
});

describe('a 401 of the gateway', () => {
	it('renews the token and sends the request again', async () => {
		const gateway = await startGateway((incoming, response) => {
			response.writeHead(incoming.headers.authorization === 'Bearer token-2' ? 200 : 401).end(incoming.headers.authorization);
		});
		const response = await post(`${await startProxy(gateway)}/v1/messages`, '{"a":1}');
		expect([response.status, await response.text()]).toEqual([200, 'Bearer token-2']);
		expect(received.map(({ body }) => body.toString())).toEqual(['{"a":1}', '{"a":1}']);
	});

	it('is returned if the new token is rejected too', async () => {
		const gateway = await startGateway((_request, response) => response.writeHead(401).end('<html>'));
		const response = await post(await startProxy(gateway));
		expect([response.status, await response.text(), received.length]).toEqual([401, '<html>', 2]);
	});

	it('is returned if the body is too large to be kept', async () => {
		const gateway = await startGateway((_request, response) => response.writeHead(401).end());
		const response = await post(await startProxy(gateway), new Uint8Array(5_000_000));
		expect([response.status, received.length]).toEqual([401, 1]);
	});
});

describe('a request that a web page can have sent', () => {
	const lan = { isLoopbackOnly: false, names: [] };
	it.each([
		['a foreign host name', { host: 'attacker.example:8786' }, undefined],
		['a name that begins like a loopback name', { host: 'localhost.attacker.example' }, undefined],
		['an address of the network, on loopback', { host: '192.168.1.7:8786' }, undefined],
		['a foreign host name, on the network', { host: 'attacker.example' }, lan],
		['an origin', { origin: 'https://attacker.example' }, undefined],
		['an opaque origin', { origin: 'null' }, undefined],
		['fetch metadata', { 'sec-fetch-site': 'cross-site' }, undefined],
	])('is rejected: %s', async (_name, headers, trusted) => {
		const proxy = await startProxy(await startGateway(), trusted);
		const { status, body } = await sendRaw(proxy, '/v1/models', headers);
		expect(status).toBe(403);
		expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { type: 'permission_error', code: 'foreign_request' } });
		expect(received).toEqual([]);
	});

	it.each([
		['localhost:9999', undefined],
		['[::1]:8786', undefined],
		['127.0.0.1', undefined],
		['Host.Docker.Internal:8786', undefined],
		['192.168.1.7:8786', lan],
		['[fd00::7]:8786', lan],
	])('is not one with the host %s', async (host, trusted) => {
		const proxy = await startProxy(await startGateway(), trusted);
		expect((await sendRaw(proxy, '/v1/models', { host })).status).toBe(200);
	});
});

describe('the proxy itself responds', () => {
	it('with 502 if the gateway cannot be reached', async () => {
		const response = await post(await startProxy('http://127.0.0.1:1'));
		expect(response.status).toBe(502);
		expect(await response.json()).toMatchObject({
			error: { code: 'gateway_unreachable', message: expect.stringContaining('ECONNREFUSED') as unknown },
		});
		expect(warnings).toHaveLength(1);
	});

	it('with 502 and the reason if it has no access token', async () => {
		const failing = (): Promise<string> => Promise.reject(new Error('The token endpoint returned HTTP 401, invalid_client'));
		const response = await post(await startProxy(await startGateway(), undefined, failing));
		expect(response.status).toBe(502);
		const message = expect.stringContaining('invalid_client') as unknown;
		expect(await response.json()).toMatchObject({ error: { code: 'access_token_unavailable', message } });
		expect(received).toEqual([]);
	});

	it('with 400 to a client that takes it for an HTTP proxy', async () => {
		const proxy = await startProxy(await startGateway());
		for (const host of ['127.0.0.1', 'api.openai.com']) {
			const { status, body } = await sendRaw(proxy, 'http://api.openai.com/v1/models', { host });
			expect([status, body]).toEqual([400, expect.stringContaining('base URL')]);
		}
		expect(received).toEqual([]);
	});
});
