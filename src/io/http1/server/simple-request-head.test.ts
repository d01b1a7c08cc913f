import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { type StartedHttpServer, startHttpServer } from '../../../../test/support/start-http-server.ts';
import { readAll } from '../../../core/byte-stream.ts';
import { checkHead } from './http-sanity.ts';
import { readSimpleRequestHead } from './simple-request-head.ts';

const limit = 16_384;

function read(text: string, maxBytes = limit): ReturnType<typeof readSimpleRequestHead> {
	return readSimpleRequestHead(Buffer.from(text, 'latin1'), maxBytes);
}

describe('a simple head', () => {
	test('is read with its fields', () => {
		const head = 'POST /v1/messages?a=b HTTP/1.1\r\nHost: a:1\r\nX-Empty:\r\nContent-Length:  12 \r\nConnection: Keep-Alive\r\n\r\n';
		expect(read(`${head}{"model":`)).toEqual({
			method: 'POST',
			url: '/v1/messages?a=b',
			rawHeaders: ['Host', 'a:1', 'X-Empty', '', 'Content-Length', '12', 'Connection', 'Keep-Alive'],
			headers: { host: 'a:1', 'x-empty': '', connection: 'Keep-Alive' },
			contentLength: 12,
			bytes: head.length,
		});
		expect(read('GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toMatchObject({ method: 'GET', contentLength: 0 });
	});

	test('may be as long as the limit, and no longer', () => {
		const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
		expect(read(head, head.length)).toBeDefined();
		expect(read(head, head.length - 1)).toBeUndefined();
	});
});

/** Each of these must keep a head off the fast path. */
const unusual: Record<string, string> = {
	'an unfinished head': 'GET / HTTP/1.1\r\nHost: a\r\n',
	'another method': 'DELETE / HTTP/1.1\r\nHost: a\r\n\r\n',
	HEAD: 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n',
	'a method in lower case': 'get / HTTP/1.1\r\nHost: a\r\n\r\n',
	'HTTP/1.0': 'GET / HTTP/1.0\r\nHost: a\r\n\r\n',
	'HTTP/1.10': 'GET / HTTP/1.10\r\nHost: a\r\n\r\n',
	'no version': 'GET /\r\nHost: a\r\n\r\n',
	'a target with a space': 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n',
	'two spaces before the version': 'GET /  HTTP/1.1\r\nHost: a\r\n\r\n',
	'an absolute target': 'GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n',
	'an empty line first': '\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
	'a lone line feed': 'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n',
	'a lone carriage return': 'GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n',
	'a folded line': 'GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n',
	'a tab': 'GET / HTTP/1.1\r\nHost:\ta\r\n\r\n',
	'a byte above ASCII': 'GET / HTTP/1.1\r\nHost: a\r\nX-A: \xe9\r\n\r\n',
	'a null byte': 'GET / HTTP/1.1\r\nHost: a\r\nX-A: \0\r\n\r\n',
	'a space before the colon': 'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
	'a field without a colon': 'GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n',
	'a field without a name': 'GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n',
	'an underscore in a name': 'GET / HTTP/1.1\r\nHost: a\r\ncontent_length: 1\r\n\r\n',
	'a repeated field': 'GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 1\r\n\r\n',
	'a chunked body': 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
	'an expectation': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n',
	'an upgrade': 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n',
	'a name that node:http makes a list of': 'GET / HTTP/1.1\r\nHost: a\r\nSet-Cookie: a=b\r\n\r\n',
	'an old name for connection': 'GET / HTTP/1.1\r\nHost: a\r\nProxy-Connection: close\r\n\r\n',
	'a list in connection': 'GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, x-a\r\n\r\n',
	'a length with a sign': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n',
	'a length with a leading zero': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 01\r\n\r\n',
	'a list of lengths': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n',
	'two lengths': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n',
	'no length in its field': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n',
};

test.each(Object.entries(unusual))('%s is left to node:http', (_what, text) => {
	expect(read(text)).toBeUndefined();
});

describe('whatever is read here', () => {
	let started: StartedHttpServer;
	beforeAll(async () => {
		started = await startHttpServer(
			async (request) => {
				const body = await readAll(request.body, 1000);
				const { method, path, query, announcedLength } = request;
				const { 'content-length': length, ...headers } = request.headers;
				const seen = { method, path, query, headers, announcedLength, body: body.toString('latin1') };
				return { status: 200, headers: {}, body: JSON.stringify(seen) };
			},
			{ hasFastPath: false },
		);
	});
	afterAll(() => started.server.destroy());

	const piece = fc.oneof(
		fc.constantFrom('GET', 'POST', 'PUT', ' ', '/', '/v1/x?y=1', ' HTTP/1.1', ' HTTP/1.0', '\r\n', '\r', '\n', '\t', ':', ': ', '_', '-'),
		fc.constantFrom(
			'Host: a',
			'Host',
			'Content-Length: 3',
			'content-length: 0',
			'Content-Length: 03',
			'X-A: b',
			'x-a:',
			'Cookie: a=b',
			'Set-Cookie: a',
		),
		fc.constantFrom(
			'Connection: keep-alive',
			'Connection: close',
			'Transfer-Encoding: chunked',
			'constructor: x',
			'toString: 1',
			'__proto__: 1',
		),
		fc.string({ minLength: 1, maxLength: 6 }),
	);
	const common = fc
		.record({
			start: fc.constantFrom('GET / HTTP/1.1', 'POST /v1/messages?x HTTP/1.1', 'POST /%00#a HTTP/1.1'),
			fields: fc.array(
				fc.constantFrom('X-A: b', 'X-B:c', 'x-c:  d  e ', 'Accept: */*', 'Content-Length: 3', 'Content-Length: 0', 'constructor: x'),
				{
					maxLength: 6,
				},
			),
		})
		.map(({ start, fields }) => [start, 'Host: a', ...fields, '', ''].join('\r\n'));
	/** A simple head with a few pieces inserted, or replacing some of its bytes. */
	const head = fc.tuple(common, fc.array(fc.tuple(fc.nat(100), fc.nat(4), piece), { maxLength: 2 })).map(([text, changes]) =>
		changes.reduce((changed, [at, drop, put]) => {
			const from = at % changed.length;
			return changed.slice(0, from) + put + changed.slice(from + drop);
		}, text),
	);

	test('node:http reads alike', async () => {
		let accepted = 0;
		await fc.assert(
			fc.asyncProperty(head, async (text) => {
				const ours = read(text);
				if (ours === undefined) return;
				accepted++;
				const client = new RawClient(started.port);
				const whole = text.slice(0, ours.bytes) + 'x'.repeat(ours.contentLength);
				client.send(`${whole}GET /next HTTP/1.1\r\nHost: next\r\nConnection: close\r\n\r\n`);
				await client.untilClosed();
				client.destroy();
				// The server rejects the same parsed heads, whichever parser read them.
				const rejection = checkHead({ method: ours.method, target: ours.url, httpVersion: '1.1', rawHeaders: ours.rawHeaders });
				expect(client.statuses[0]).toBe(rejection?.status ?? 200);
				if (rejection === undefined) {
					const [path, ...query] = ours.url.split('?');
					const { method, headers, contentLength: announcedLength } = ours;
					const seen = { method, path, query: query.join('?'), headers, announcedLength, body: 'x'.repeat(announcedLength) };
					expect(JSON.parse(/\{[^]*?\}(?=HTTP\/1\.1)/.exec(client.text)?.[0] ?? '')).toEqual(seen);
					expect(client.statuses).toEqual([200, 200]);
				}
			}),
			{ numRuns: 3000 },
		);
		expect(accepted).toBeGreaterThan(500);
	});
});
