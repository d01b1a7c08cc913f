import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkHead, type RequestHead } from './http-sanity.ts';

function head(overrides: Partial<RequestHead> = {}, ...fields: string[]): RequestHead {
	return { method: 'POST', target: '/v1/messages', httpVersion: '1.1', rawHeaders: ['Host', 'gateway.test:8787', ...fields], ...overrides };
}

const accepted: [string, RequestHead][] = [
	['an ordinary call', head({}, 'Content-Length', '12', 'Authorization', 'Bearer x', 'Content-Type', 'application/json')],
	['a chunked body', head({}, 'Transfer-Encoding', 'chunked')],
	['no body', head({ method: 'GET', target: '/' })],
	['a GET that announces nothing', head({ method: 'GET' }, 'Content-Length', '0')],
	['a DELETE with a body', head({ method: 'DELETE' }, 'Content-Length', '2')],
	['HTTP/1.0 without a host, as old health checks send', head({ method: 'GET', target: '/', httpVersion: '1.0', rawHeaders: [] })],
	['an address in brackets', head({ rawHeaders: ['host', '[::1]:8787'] })],
	['a host with an underscore', head({ rawHeaders: ['host', 'tollgate_gateway:8787'] })],
	['a harmless name with an underscore', head({}, 'my_header', '1')],
	['an offer of h2c, which is not taken up', head({}, 'Connection', 'Upgrade, HTTP2-Settings', 'Upgrade', 'h2c', 'HTTP2-Settings', 'AAM')],
	['a query with every printable character but #', head({ target: `/x?${characters(0x21, 0x7e).replace('#', '')}` })],
	['a hundred fields', head({ rawHeaders: ['Host', 'a', ...manyFields(99)] })],
];

const rejected: [string, RequestHead, string?][] = [
	['HTTP/2.0 in the request line', head({ httpVersion: '2.0' }), 'http_version_unsupported'],
	['HTTP/0.9', head({ httpVersion: '0.9' }), 'http_version_unsupported'],
	['TRACE', head({ method: 'TRACE' })],
	['CONNECT', head({ method: 'CONNECT', target: 'example.com:443' })],
	['an absolute target', head({ target: 'http://gateway.test/v1/messages' })],
	['an authority as target', head({ target: 'gateway.test:443' })],
	['an asterisk', head({ method: 'OPTIONS', target: '*' })],
	['an empty target', head({ target: '' })],
	['a fragment', head({ target: '/v1#messages' })],
	['a space', head({ target: '/v1 messages' })],
	['a tab', head({ target: '/v1\tmessages' })],
	['a NUL', head({ target: '/v1\0' })],
	['a line end', head({ target: '/v1\nHost: b' })],
	['DEL', head({ target: '/v1\x7f' })],
	['a byte above ASCII', head({ target: '/caf\xe9' })],
	['no host', head({ rawHeaders: [] })],
	['an empty host', head({ rawHeaders: ['Host', ''] })],
	['two hosts', head({}, 'hOST', 'b')],
	['a list of hosts', head({ rawHeaders: ['Host', 'a, b'] })],
	['a host with a user', head({ rawHeaders: ['Host', 'user@a'] })],
	['a host with a path', head({ rawHeaders: ['Host', 'a/b'] })],
	['a host that is a URL', head({ rawHeaders: ['Host', 'http://a'] })],
	['a port that is none', head({ rawHeaders: ['Host', 'a:http'] })],
	['a bad host under HTTP/1.0', head({ httpVersion: '1.0', rawHeaders: ['Host', 'a b'] })],
	['length and encoding', head({}, 'Content-Length', '4', 'Transfer-Encoding', 'chunked')],
	['two lengths that agree', head({}, 'Content-Length', '4', 'content-length', '4')],
	['two encodings', head({}, 'Transfer-Encoding', 'chunked', 'transfer-encoding', 'chunked')],
	['two authorizations', head({}, 'Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer b')],
	['gzip before chunked', head({}, 'Transfer-Encoding', 'gzip, chunked')],
	['another spelling of chunked', head({}, 'Transfer-Encoding', 'Chunked')],
	['an empty encoding', head({}, 'Transfer-Encoding', '')],
	['chunked under HTTP/1.0', head({ httpVersion: '1.0' }, 'Transfer-Encoding', 'chunked')],
	...['+4', '-4', '0x4', '4, 4', '004', '00', '1_0', '4 ', '', '9'.repeat(16)].map((value): [string, RequestHead] => [
		`a length of "${value}"`,
		head({}, 'Content-Length', value),
	]),
	...['GET', 'HEAD', 'OPTIONS'].map((method): [string, RequestHead] => [`${method} with a body`, head({ method }, 'Content-Length', '4')]),
	['GET with a chunked body', head({ method: 'GET' }, 'Transfer-Encoding', 'chunked')],
	['a WebSocket', head({ method: 'GET' }, 'Connection', 'Upgrade', 'Upgrade', 'websocket')],
	...[
		'Content_Length',
		'transfer_encoding',
		'X_Forwarded_For',
		'x-forwarded_proto',
		'proxy_authorization',
		'x_gateway_provider',
		'x_api_key',
		'api_key',
		'Content_Type',
		'x_real_ip',
	].map((name): [string, RequestHead] => [`the header ${name}`, head({}, name, '1')]),
	['more than a hundred fields', head({}, ...manyFields(100)), 'headers_too_large'],
];

describe('a request head', () => {
	test.each(accepted)('with %s is accepted', (_what, given) => {
		expect(checkHead(given)).toBeUndefined();
	});

	test.each(rejected)('with %s is rejected', (_what, given, code = 'http_malformed') => {
		expect(checkHead(given)?.code).toBe(code);
	});

	test('that is accepted names one host, frames its body in one way and has a plain path', () => {
		const anyField = fc.tuple(
			fc.constantFrom('Host', 'host', 'Content-Length', 'content-length', 'Transfer-Encoding', 'Authorization', 'X', 'content_length'),
			fc.oneof(fc.constantFrom('a', 'chunked', '0', '7', 'Chunked', 'a,b'), fc.string({ maxLength: 6 })),
		);
		fc.assert(
			fc.property(
				fc.constantFrom('GET', 'POST', 'TRACE'),
				fc.oneof(fc.constantFrom('/', '/a?b', '*'), fc.string()),
				fc.constantFrom('1.0', '1.1', '2.0'),
				fc.array(anyField, { maxLength: 5 }),
				(method, target, httpVersion, fields) => {
					if (checkHead({ method, target, httpVersion, rawHeaders: fields.flat() }) !== undefined) return;
					const values = (name: string): string[] =>
						fields.filter(([given]) => given.toLowerCase().replace('_', '-') === name).map(([, value]) => value);
					expect(values('host').length).toBe(httpVersion === '1.1' ? 1 : values('host').length & 1);
					expect(values('content-length').length + values('transfer-encoding').length).toBeLessThanOrEqual(1);
					expect(values('authorization').length).toBeLessThanOrEqual(1);
					expect(target).toMatch(/^\/[^\s#]*$/);
				},
			),
			{ numRuns: 2000 },
		);
	});
});

function characters(from: number, to: number): string {
	return String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, index) => from + index));
}

function manyFields(count: number): string[] {
	return Array.from({ length: count }, () => ['x', '1']).flat();
}
