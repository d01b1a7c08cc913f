/** The native client and undici must give the same results: each is the other's oracle. */
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { collectGarbage } from '../../../../test/support/collect-garbage.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../../test/support/manual-stream.ts';
import { type ScriptedConnection, startScriptedServer } from '../../../../test/support/scripted-server.ts';
import { until } from '../../../../test/support/until.ts';
import {
	bodyOf,
	causeOf,
	clientMakers,
	collect,
	request,
	responseBytes,
	startClient,
	startServer,
} from '../../../../test/support/upstream-under-test.ts';
import { readAll } from '../../../core/byte-stream.ts';
import { Rejection } from '../../../core/rejection.ts';
import type { UpstreamRequest } from '../../../core/upstream.ts';
import type { UpstreamClient, UpstreamClientOptions } from '../client/upstream-client.ts';

type Script = (connection: ScriptedConnection) => void;

interface Result {
	readonly status?: number;
	readonly headers?: object;
	readonly body?: string;
	/** Code of the error, and the phase in which it occurred. */
	readonly failure?: string;
	readonly received?: string;
}

/** Sorts the fields into one order: undici's own order is fixed, but that of equal objects may differ. */
async function resultOf(client: UpstreamClient, outgoing: UpstreamRequest): Promise<Result> {
	try {
		const { status, headers, body } = await client.send(outgoing);
		const head = { status, headers: { ...headers } };
		try {
			return { ...head, body: (await readAll(body, 100_000_000)).toString('latin1') };
		} catch (cause) {
			return { ...head, failure: `in the body: ${codeOf(cause)}` };
		}
	} catch (cause) {
		return { failure: codeOf(cause) };
	}
}

function codeOf(cause: unknown): string {
	return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}

interface Scenario {
	readonly script?: Script;
	readonly overrides?: () => Partial<UpstreamRequest>;
	readonly options?: Partial<UpstreamClientOptions>;
}

/** Results of both clients for the same server. */
async function resultsOf({ script, overrides, options }: Scenario): Promise<{ native: Result; undici: Result }> {
	const results: Result[] = [];
	for (const create of [clientMakers.native, clientMakers.undici]) {
		const server = await startServer(script);
		const result = await resultOf(startClient(options, create), request(server, overrides?.()));
		const received = server.connections.map((connection) => connection.received).join('\n--\n');
		results.push({ ...result, received: received.replaceAll(String(server.port), 'PORT') });
	}
	const [native = {}, undici = {}] = results;
	return { native, undici };
}

/** Sends once the whole request has arrived. */
const saying =
	(bytes: string, after: 'stay' | 'end' | 'reset' = 'stay'): Script =>
	(connection) => {
		if (!connection.received.endsWith('{"a":1}') && !connection.received.endsWith('\r\n\r\n')) return;
		connection.send(bytes);
		if (after === 'end') connection.socket.end();
		if (after === 'reset') setImmediate(() => connection.socket.resetAndDestroy());
	};

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

describe('both clients read the same of', () => {
	test.each<[string, string, ('stay' | 'end' | 'reset')?, Partial<UpstreamRequest>?]>([
		['a response of a length', responseBytes('hello', 'X-One: two')],
		['a response of no bytes', responseBytes('')],
		['bytes of every kind', responseBytes(String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte)))],
		['a large response', responseBytes('y'.repeat(1_000_000))],
		['chunks', `${chunked}5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`],
		['chunks with extensions and upper-case lengths', `${chunked}005;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n`],
		['trailers', `${chunked}1\r\nx\r\n0\r\nx-a: b\r\n\r\n`],
		['a body until the end of the connection', `${ok}\r\nall of it`, 'end'],
		['a response of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nold', 'end'],
		['a response of HTTP/1.0 that stays', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 3\r\n\r\nold'],
		['no content', 'HTTP/1.1 204 No Content\r\n\r\n'],
		['what has not changed', 'HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n'],
		['the head alone', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', 'end', { method: 'GET', body: null }],
		['a redirect', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/x\r\ncontent-length: 0\r\n\r\n'],
		['errors', 'HTTP/1.1 429 Too Many\r\nretry-after: 3\r\ncontent-length: 2\r\n\r\n{}'],
		['a status without a phrase', 'HTTP/1.1 299 \r\ncontent-length: 0\r\n\r\n'],
		['an interim response', `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${responseBytes('x')}`],
		['repeated and list fields', `${ok}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nVary: a\r\nvary: b\r\ncontent-length: 0\r\n\r\n`],
		[
			'fields of the connection',
			`${ok}Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nTE: x\r\nKeep-Alive: timeout=5\r\ncontent-length: 0\r\n\r\n`,
		],
		['single-byte letters', `${ok}x-bytes: caf\xe9\r\ncontent-length: 0\r\n\r\n`],
		['blanks around values', `${ok}x-a: \t b c \t\r\nx-b:\r\ncontent-length: 0\r\n\r\n`],
		['names that every object has', `${ok}constructor: a\r\n__proto__: b\r\ntoString: c\r\ncontent-length: 0\r\n\r\n`],
		['the end that the server announces', responseBytes('x', 'connection: close'), 'end'],
		['a length and chunks', `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
		['two lengths', `${ok}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`],
		['one length twice', `${ok}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`],
		['a list of lengths', `${ok}content-length: 5, 5\r\n\r\nhello`],
		['a negative length', `${ok}content-length: -5\r\n\r\nhello`],
		['another transfer encoding', `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
		['chunks in chunks', `${ok}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
		['folded lines', `${ok}x-a: b\r\n c\r\ncontent-length: 0\r\n\r\n`],
		['a blank before the colon', `${ok}x-a : b\r\ncontent-length: 0\r\n\r\n`],
		['a zero byte', `${ok}x-a: b\0c\r\ncontent-length: 0\r\n\r\n`],
		['lines that a line feed ends', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n', 'end'],
		['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'end'],
		['HTTP/2', '\0\0\x12\x04\0\0\0\0\0', 'end'],
		['nothing', '', 'end'],
		['a reset', '', 'reset'],
		['a change of the protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'end'],
		['half a head', 'HTTP/1.1 200 OK\r\nconte', 'end'],
		['half a body', `${ok}content-length: 10\r\n\r\nhello`, 'end'],
		['half a body and a reset', `${ok}content-length: 10\r\n\r\nhello`, 'reset'],
		['half a chunk', `${chunked}a\r\nhello`, 'end'],
		['no last chunk', `${chunked}5\r\nhello\r\n`, 'end'],
		['half a trailer', `${chunked}0\r\nx-a: `, 'end'],
		['a chunk without a length', `${chunked}x\r\nhello\r\n`],
		['a chunk that is longer than it says', `${chunked}4\r\nhello\r\n0\r\n\r\n`],
		['a chunk of a petabyte and more', `${chunked}fffffffffffffffff\r\nhello`],
		['a head without an end', `${ok}x-a: ${'y'.repeat(70_000)}`],
	])('%s', async (_what, bytes, after, overrides) => {
		const { native, undici } = await resultsOf({ script: saying(bytes, after), overrides: () => overrides ?? {} });
		expect(undici).toEqual(native);
	});

	test('the response to a request for the head alone', async () => {
		const script = saying('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n');
		const { native, undici } = await resultsOf({ script, overrides: () => ({ method: 'HEAD', body: null }) });
		expect({ ...undici, received: '' }).toEqual({ ...native, received: '' });
		// Undici does not reuse a connection after HEAD.
		expect(undici.received).toBe(native.received?.replace('keep-alive', 'close'));
	});

	test('a length of an unchanged response, which undici takes for that of a body', async () => {
		const { native, undici } = await resultsOf({ script: saying('HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n') });
		expect([native.status, native.body, undici.failure]).toEqual([304, '', 'in the body: provider_disconnected']);
	});

	test('an interim 100, which undici takes for a mistake of the server', async () => {
		const { native, undici } = await resultsOf({ script: saying(`HTTP/1.1 100 Continue\r\n\r\n${responseBytes('x')}`) });
		expect([native.status, undici.failure]).toEqual([200, 'provider_unreachable']);
	});
});

describe('both clients send the same', () => {
	const streamed = (pieces: readonly string[], how: 'end' | Error = 'end'): HandFedStream => {
		const body = new HandFedStream();
		void until(() => body.sink !== undefined).then(() => {
			for (const piece of pieces) body.push(piece);
			if (how === 'end') body.end();
			else body.fail(how);
		});
		return body;
	};
	const thanks: Script = (connection) => {
		const { received } = connection;
		if (received.endsWith('\r\n0\r\n\r\n') || received.endsWith('hello')) connection.send(responseBytes('thanks'));
	};

	test.each<[string, () => Partial<UpstreamRequest>, Script?]>([
		['for a body that is there', () => ({})],
		['for an empty body', () => ({ body: Buffer.alloc(0) }), (connection) => connection.send(responseBytes(''))],
		['without a body', () => ({ body: null }), (connection) => connection.send(responseBytes(''))],
		[
			'for GET',
			() => ({ method: 'GET', body: null, target: '/v1/models?after=%C3%A9' }),
			(connection) => connection.send(responseBytes('')),
		],
		['for DELETE', () => ({ method: 'DELETE', body: null }), (connection) => connection.send(responseBytes(''))],
		['for fields of single-byte letters', () => ({ headers: { 'x-name': 'caf\xe9', 'x-empty': '' } })],
		['for the parts of a body', () => ({ body: ['he', '', 'llo'].map((part) => Buffer.from(part)) }), thanks],
		[
			'for large parts',
			() => ({ body: [Buffer.alloc(3_000_000, 'x'), Buffer.from('hello'), Buffer.alloc(2_000_000, 'y'), Buffer.from('hello')] }),
			(connection) => {
				if (connection.received.endsWith('yhello')) connection.send(responseBytes('thanks'));
			},
		],
		[
			'for parts whose length is announced',
			() => ({ body: [Buffer.from('hel'), Buffer.from('lo')], headers: { 'content-length': '5' } }),
			thanks,
		],
		['for parts whose announced length is wrong', () => ({ body: [Buffer.from('hello')], headers: { 'content-length': '4' } })],
		['for parts without bytes', () => ({ body: [Buffer.alloc(0), Buffer.alloc(0)] }), (connection) => connection.send(responseBytes(''))],
		['for no parts', () => ({ body: [] }), (connection) => connection.send(responseBytes(''))],
		['for a body in pieces', () => ({ body: streamed(['hello ', 'world']) }), thanks],
		['for a body in pieces of a known length', () => ({ body: streamed(['hel', 'lo']), headers: { 'content-length': '5' } }), thanks],
		['for a body that fails', () => ({ body: streamed([], new Rejection('body_timeout')) }), thanks],
		['for an unsendable field', () => ({ headers: { 'x-a': 'b\r\nx-c: d' } })],
		['for an unsendable target', () => ({ target: '/a b' })],
		['for a field of the connection', () => ({ headers: { connection: 'close' } })],
		['for a length that is wrong', () => ({ headers: { 'content-length': '6' } })],
	])('%s', async (_what, overrides, script = saying(responseBytes('x'))) => {
		const { native, undici } = await resultsOf({ script, overrides });
		expect(undici).toEqual(native);
	});

	test.each([
		['more', ['hello', ' world']],
		['less', ['hel']],
	])('failure for a body of %s than its length', async (_what, pieces) => {
		const overrides = (): Partial<UpstreamRequest> => ({ body: streamed(pieces), headers: { 'content-length': '5' } });
		const { native, undici } = await resultsOf({ script: () => undefined, overrides });
		expect([native.failure, undici.failure]).toEqual(['provider_unreachable', 'provider_unreachable']);
	});
});

describe.each(Object.entries(clientMakers))('with %s', (_name, create) => {
	test('an error of the request that the sender notices is the sender’s, and no byte is sent', async () => {
		const server = await startServer(saying(responseBytes('x')));
		const client = startClient({}, create);
		const onSent = (): never => {
			throw new Error('defect');
		};
		expect(await causeOf(client.send(request(server, { onSent })))).toMatchObject({
			code: 'provider_unreachable',
			cause: { message: 'defect' },
		});
		expect(await bodyOf(await client.send(request(server)))).toBe('x');
		expect(server.connections.map(({ received }) => received.match(/POST/g)?.length ?? 0).reduce((sum, one) => sum + one)).toBe(1);
	});

	test('connections are reused, but not after the server ended them', async () => {
		let endsAfter = 0;
		const server = await startServer((connection) => {
			connection.send(responseBytes('x'));
			if (endsAfter-- === 1) connection.socket.end();
		});
		const client = startClient({}, create);
		for (let turn = 0; turn < 20; turn++) expect(await bodyOf(await client.send(request(server)))).toBe('x');
		expect(server.connections.length).toBeLessThanOrEqual(2);
		endsAfter = 1;
		expect(await bodyOf(await client.send(request(server)))).toBe('x');
		await until(() => server.connections.some(({ isClosed }) => isClosed));
		expect(await bodyOf(await client.send(request(server)))).toBe('x');
	});

	test('a connection with bytes after the response is not reused', async () => {
		const server = await startServer((connection) =>
			connection.send(`${responseBytes('x')}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`),
		);
		const client = startClient({}, create);
		for (let turn = 0; turn < 3; turn++) {
			const result = await resultOf(client, request(server));
			expect([result.body, result.failure]).not.toContain('evil');
		}
		expect(server.connections.length).toBeGreaterThanOrEqual(3);
	});

	const timeouts = { connectMs: 100, firstByteMs: 200, bodyStartMs: 300, idleMs: 400, totalMs: 5000 };

	test.each<[string, Script, number, string]>([
		['the first byte', () => undefined, 221, 'provider_first_byte_timeout'],
		['the start of the body', saying(chunked), 321, 'in the body: provider_idle_timeout'],
		['silence', saying(`${chunked}1\r\nx\r\n`), 421, 'in the body: provider_idle_timeout'],
	])('the time limit for %s ends the request', async (_what, script, ms, failure) => {
		const clock = new ManualClock();
		const server = await startServer(script);
		const client = startClient({ clock }, create);
		let isSent = false;
		const outgoing = request(server, { timeouts, onSent: () => void (isSent = true) });
		const result = resultOf(client, outgoing);
		let isOver = false;
		void result.then(() => void (isOver = true));
		await until(() => isSent && server.connections[0]?.received.endsWith('{"a":1}') === true);
		// The server's bytes are in transit.
		for (let waited = 0; waited < 20; waited++) await new Promise((resolve) => setImmediate(resolve));
		await until(() => {
			if (!isOver) clock.advance(ms);
			return isOver;
		});
		expect((await result).failure).toBe(failure);
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('the time limit for everything ends a request that its provider keeps alive', async () => {
		const clock = new ManualClock();
		const server = await startServer(saying(chunked));
		const outgoing = request(server, { timeouts: { ...timeouts, totalMs: 1000 } });
		const response = await startClient({ clock }, create).send(outgoing);
		const { pieces, outcome } = collect(response.body);
		for (let turn = 1; turn <= 4; turn++) {
			server.connections[0]?.send('1\r\nx\r\n');
			await until(() => Buffer.concat(pieces).length === turn);
			clock.advance(240);
		}
		clock.advance(61);
		expect(await outcome).toMatchObject({ code: 'provider_total_timeout' });
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('the time limit for the first byte begins when the body has been sent', async () => {
		const clock = new ManualClock();
		const server = await startServer();
		const body = new HandFedStream();
		const failed = causeOf(startClient({ clock }, create).send(request(server, { body, timeouts })));
		let isOver = false;
		void failed.then(() => void (isOver = true));
		await until(() => body.sink !== undefined);
		body.push('hello');
		await until(() => server.connections[0]?.received.includes('hello') === true);
		clock.advance(1000);
		for (let waited = 0; waited < 20; waited++) await new Promise((resolve) => setImmediate(resolve));
		expect(isOver).toBe(false);
		body.end();
		await until(() => server.connections[0]?.received.endsWith('0\r\n\r\n') === true);
		clock.advance(221);
		expect(await failed).toMatchObject({ code: 'provider_first_byte_timeout' });
	});

	test.each(['end', 'reset'] as const)(
		'a request that was sent is not sent again after an %s, on a connection used before',
		async (how) => {
			const server = await startServer((connection) => {
				const requested = connection.received.match(/POST/g)?.length ?? 0;
				if (requested === 1) connection.send(responseBytes('x'));
				else if (how === 'end') connection.socket.end();
				else connection.socket.resetAndDestroy();
			});
			const client = startClient({ maxConnectionsPerOrigin: 1 }, create);
			expect(await bodyOf(await client.send(request(server)))).toBe('x');
			await new Promise((resolve) => setImmediate(resolve));
			expect(await causeOf(client.send(request(server)))).toMatchObject({ code: 'provider_unreachable' });
			expect(server.connections.map(({ received }) => received.match(/POST/g)?.length)).toEqual([2]);
		},
	);

	test('the time limit for the connection ends the request', async () => {
		const clock = new ManualClock();
		const server = await startServer();
		const client = startClient({ clock }, create);
		const failed = causeOf(client.send(request({ origin: server.origin.replace('http:', 'https:') }, { timeouts })));
		await until(() => server.connections.length === 1);
		clock.advance(121);
		expect(await failed).toMatchObject({ code: 'provider_connect_timeout' });
		clock.advance(121);
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('a client that disconnects ends the request', async () => {
		const server = await startServer();
		let leave: (cause?: Rejection) => void = () => undefined;
		const failed = causeOf(startClient({}, create).send(request(server, { onClientDisconnect: (listener) => void (leave = listener) })));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		leave();
		expect(await failed).toMatchObject({ code: 'client_closed' });
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('a client that has disconnected before a connection opens sends no byte', async () => {
		const server = await startServer();
		let connect: () => void = () => undefined;
		const lookup: LookupFunction = (_hostname, _options, callback) => {
			connect = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
		};
		const client = startClient({ lookup }, create);
		let leave: (cause?: Rejection) => void = () => undefined;
		const origin = `http://slow.test:${server.port}`;
		const failed = causeOf(client.send(request({ origin }, { onClientDisconnect: (listener) => void (leave = listener) })));
		leave();
		expect(await failed).toMatchObject({ code: 'client_closed' });
		connect();
		for (let waited = 0; waited < 20; waited++) await new Promise((resolve) => setImmediate(resolve));
		expect(server.connections.map(({ received }) => received).join('')).toBe('');
	});

	test('a client that disconnects while its request waits for a connection leaves nothing of it behind', async () => {
		const server = await startServer();
		const client = startClient({ maxConnectionsPerOrigin: 1 }, create);
		const first = causeOf(client.send(request(server)));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		// In a separate function, whose frame does not retain the body.
		const body = await (async () => {
			const waiting = Buffer.alloc(1000);
			let leave: () => void = () => undefined;
			const failed = causeOf(
				client.send(request(server, { body: waiting, onClientDisconnect: (listener) => void (leave = () => listener()) })),
			);
			leave();
			expect(await failed).toMatchObject({ code: 'client_closed' });
			return new WeakRef(waiting);
		})();
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
		expect(body.deref()).toBeUndefined();
		client.close();
		expect(await first).toMatchObject({ code: 'provider_unreachable' });
	});

	test('requests beyond the connections wait, and continue in their order', async () => {
		const server = await startServer((connection) => {
			const requested = [...connection.received.matchAll(/POST (\/\d+) /g)].map(([, target]) => target);
			connection.send(responseBytes(String(requested.at(-1))));
		});
		const client = startClient({ maxConnectionsPerOrigin: 2 }, create);
		const sent: string[] = [];
		const targets = Array.from({ length: 12 }, (_, index) => `/${index}`);
		const bodies = targets.map(
			async (target) => await bodyOf(await client.send(request(server, { target, onSent: () => void sent.push(target) }))),
		);
		expect(await Promise.all(bodies)).toEqual(targets);
		expect(sent).toEqual(targets);
		expect(server.connections.length).toBeLessThanOrEqual(2);
	});

	test('in-flight and waiting requests complete after requests to many other origins', async () => {
		let respond: () => void = () => undefined;
		const server = await startServer((connection) => {
			const [, target] = [...connection.received.matchAll(/POST (\/\w+) /g)].at(-1) ?? [];
			const send = (): void => connection.send(responseBytes(String(target)));
			if (target === '/first') respond = send;
			else send();
		});
		const lookup: LookupFunction = (hostname, _options, callback) => callback(new Error(`${hostname} is nowhere`), []);
		const client = startClient({ maxConnectionsPerOrigin: 1, lookup }, create);
		const bodies = ['/first', '/second'].map(async (target) => await bodyOf(await client.send(request(server, { target }))));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		// More than the maximum number of pools.
		for (let index = 1; index <= 70; index++) {
			const failed = client.send(request({ origin: `http://127.0.1.${index}:1` }, { canReachPrivateNetwork: false }));
			await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable' });
			const allowed = client.send(request({ origin: `http://refused-${index}.test:1` }));
			await expect(allowed).rejects.toMatchObject({ code: 'provider_unreachable' });
		}
		respond();
		expect(await Promise.all(bodies)).toEqual(['/first', '/second']);
	});

	test('requests that wait fail when the client is closed', async () => {
		const server = await startServer();
		const client = startClient({ maxConnectionsPerOrigin: 1 }, create);
		const failures = ['/first', '/second'].map(async (target) => await causeOf(client.send(request(server, { target }))));
		await until(() => server.connections[0]?.received.endsWith('{"a":1}') === true);
		client.close();
		expect(await Promise.all(failures)).toMatchObject([{ code: 'provider_unreachable' }, { code: 'provider_unreachable' }]);
		expect(server.connections.map(({ received }) => received).join('')).not.toContain('/second');
	});

	test('a reader that cancels ends the connection', async () => {
		const server = await startServer(saying(`${chunked}1\r\nx\r\n`));
		const response = await startClient({}, create).send(request(server));
		const pieces: Buffer[] = [];
		const flow = response.body.start({ write: (chunk) => pieces.push(chunk) > 0, end: () => undefined, fail: () => undefined });
		await until(() => pieces.length === 1);
		flow.cancel();
		await until(() => server.connections[0]?.isClosed === true);
		expect(pieces.map(String)).toEqual(['x']);
	});

	test.each(['end', 'reset'] as const)('a response is complete or failed after an %s while its reader pauses', async (how) => {
		const size = 3_000_000;
		const server = await startServer((connection) => {
			connection.send(`${ok}\r\n${'y'.repeat(size)}`);
			if (how === 'end') connection.socket.end();
			else setTimeout(() => connection.socket.resetAndDestroy(), 5);
		});
		const response = await startClient({}, create).send(request(server));
		let received = 0;
		let outcome: unknown;
		const flow = response.body.start({
			write: (chunk) => {
				received += chunk.length;
				return false;
			},
			end: () => void (outcome = 'end'),
			fail: (cause) => void (outcome = codeOf(cause)),
		});
		if (how === 'reset') await until(() => server.connections[0]?.isClosed === true);
		await until(() => {
			flow.resume();
			return outcome !== undefined;
		});
		// A reset is never a normal end; the kernel may have lost bytes in transit.
		expect(outcome === 'end' ? received === size : outcome === 'provider_disconnected').toBe(true);
	});

	test('private addresses are rejected, however they are written', async () => {
		const server = await startServer(saying(responseBytes('x')));
		const lookup: LookupFunction = (_hostname, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
		const client = startClient({ lookup }, create);
		for (const host of ['127.0.0.1', '2130706433', '0x7f.1', 'rebound.test']) {
			const failed = client.send(request({ origin: `http://${host}:${server.port}` }, { canReachPrivateNetwork: false }));
			await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable', cause: { code: 'ADDRESS_REFUSED' } });
		}
		expect(server.connections).toHaveLength(0);
		// Requests with and without access to private networks do not share connections.
		expect(await bodyOf(await client.send(request(server)))).toBe('x');
		await expect(client.send(request(server, { canReachPrivateNetwork: false }))).rejects.toMatchObject({ code: 'provider_unreachable' });
	});

	test('a response that arrives before the request is sent completely is delivered, and its connection is not reused', async () => {
		const server = await startServer((connection) => {
			if (!connection.received.includes('early')) connection.send(responseBytes('early'));
		});
		const body = new HandFedStream();
		const client = startClient({}, create);
		const sent = client.send(request(server, { body }));
		await until(() => body.sink !== undefined);
		body.push('part');
		expect(await bodyOf(await sent)).toBe('early');
		await until(() => server.connections[0]?.isClosed === true);
	});

	test('closing the client ends in-flight requests', async () => {
		const server = await startServer(saying(`${chunked}1\r\nx\r\n`));
		const client = startClient({}, create);
		const { pieces, outcome } = collect((await client.send(request(server))).body);
		await until(() => pieces.length === 1);
		client.close();
		expect(await outcome).toMatchObject({ code: 'provider_disconnected' });
	});

	test('a real HTTP server is supported, with many concurrent requests', async () => {
		const server = createServer((incoming, outgoing) => {
			incoming.on('data', () => undefined).on('end', () => outgoing.end(`answer to ${incoming.url}`));
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		onTestFinished(() => {
			server.closeAllConnections();
			server.close();
		});
		const client = startClient({}, create);
		const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const bodies = await Promise.all(
			Array.from({ length: 100 }, async (_, index) => await bodyOf(await client.send(request({ origin }, { target: `/${index}` })))),
		);
		expect(bodies).toEqual(Array.from({ length: 100 }, (_, index) => `answer to /${index}`));
	});
});

describe('both clients read damaged responses alike', () => {
	const samples = [
		responseBytes('{"ok":true}', 'X-Request-Id: abc', 'Set-Cookie: a=b'),
		`${chunked}5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nx-trailer: z\r\n\r\n`,
		'HTTP/1.1 429 Slow Down\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 3\r\n\r\nno!',
		`${ok}\r\nuntil the end`,
	];
	const edits = fc.array(
		fc.record({
			at: fc.nat({ max: 160 }),
			remove: fc.nat({ max: 3 }),
			insert: fc.constantFrom(
				'',
				'\r',
				'\n',
				'\r\n',
				' ',
				'\t',
				':',
				',',
				'0',
				'5',
				'f',
				'\0',
				'\x7f',
				'\xff',
				';',
				'content-length: 3\r\n',
				'transfer-encoding: chunked\r\n',
			),
		}),
		{ maxLength: 3 },
	);

	test('or one of them rejects it', { timeout: 60_000 }, async () => {
		const cases = fc.record({ sample: fc.constantFrom(...samples), edits, cutAt: fc.nat({ max: 200 }) });
		const server = await startScriptedServer();
		onTestFinished(() => server.close());
		let bothSucceeded = 0;
		await fc.assert(
			fc.asyncProperty(cases, async ({ sample, edits: changes, cutAt }) => {
				let bytes = sample;
				for (const { at, remove, insert } of changes) bytes = bytes.slice(0, at) + insert + bytes.slice(at + remove);
				const script: Script = (connection) => {
					connection.send(bytes.slice(0, cutAt));
					setImmediate(() => {
						connection.send(bytes.slice(cutAt));
						connection.socket.end();
					});
				};
				const { native, undici } = await resultsOf({ script });
				const isWhole = (result: Result): boolean => result.body !== undefined;
				if (!isWhole(native) || !isWhole(undici)) return;
				bothSucceeded++;
				expect(undici).toEqual(native);
			}),
			{ numRuns: 300, seed: 20_261_125 },
		);
		expect(bothSucceeded).toBeGreaterThan(30);
	});
});
