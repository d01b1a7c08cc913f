import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedResponse, type ResponseHead, readResponseHead } from './response-head.ts';

const read = (lines: readonly string[], method = 'POST'): ResponseHead => readResponseHead([...lines, '', ''].join('\r\n'), method);

describe('the head of a response', () => {
	test('is read with its fields except those of the connection', () => {
		const head = read(['HTTP/1.1 200 OK', 'Content-Type:application/json', 'X-Empty:', 'X-Spaced: \t a  b \t', 'Content-Length: 12']);
		const headers = { 'content-type': 'application/json', 'x-empty': '', 'x-spaced': 'a  b', 'content-length': '12' };
		expect(head).toEqual({ status: 200, headers, framing: 12, restMs: undefined });
	});

	test.each(['HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1 200 Caf\xe9 (all right)'])('may begin with %j', (line) => {
		expect(read([line, 'content-length: 0']).status).toBe(200);
	});

	test('keeps bytes that count as whitespace elsewhere', () => {
		expect(read(['HTTP/1.1 200 OK', 'x-a: \xa0voil\xc3\xa0 ']).headers).toEqual({ 'x-a': '\xa0voil\xc3\xa0' });
	});

	test('has names in lower case, common ones and similar ones', () => {
		const common = ['date', 'cf-ray', 'content-type', 'retry-after', 'x-request-id', 'cf-cache-status', 'x-ratelimit-limit-tokens'];
		const signs = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".split('');
		const looksLike = fc
			.tuple(fc.constantFrom(...common), fc.array(fc.tuple(fc.nat(30), fc.constantFrom(...signs)), { maxLength: 3 }), fc.boolean())
			.map(([name, changes, isLarge]) => {
				const characters = (isLarge ? name.toUpperCase() : name).split('');
				for (const [place, sign] of changes) characters[place % characters.length] = sign;
				return characters.join('');
			});
		fc.assert(
			fc.property(looksLike, (name) => {
				expect(read(['HTTP/1.1 200 OK', `${name}: v`]).headers).toEqual({ [name.toLowerCase()]: 'v' });
			}),
			{ numRuns: 2000 },
		);
		for (const from of signs) {
			for (const to of signs) {
				const [name, other] = [`x-should-retr${from}`, `x-should-retr${to}`];
				const { headers } = read(['HTTP/1.1 200 OK', `${name}: 1`, `${other}: 2`]);
				expect(Object.keys(headers)).toEqual([...new Set([name.toLowerCase(), other.toLowerCase()])]);
			}
		}
	});

	test('may have fields with the names of inherited members', () => {
		const { headers } = read(['HTTP/1.1 200 OK', 'constructor: a', 'constructor: b', '__proto__: c', 'hasOwnProperty: d']);
		expect(headers).toEqual({ constructor: 'a, b', hasownproperty: 'd' });
		expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
	});
});

const framings: [string, readonly string[], string, ResponseHead['framing']][] = [
	['a length', ['HTTP/1.1 200 OK', 'content-length: 7'], 'POST', 7],
	['chunks', ['HTTP/1.1 200 OK', 'Transfer-Encoding: Chunked'], 'POST', 'chunked'],
	['neither', ['HTTP/1.1 200 OK'], 'POST', 'until_end'],
	['no body to a HEAD', ['HTTP/1.1 200 OK', 'content-length: 7'], 'HEAD', 0],
	['no body with 204', ['HTTP/1.1 204 No Content'], 'POST', 0],
	['no body with 304', ['HTTP/1.1 304 Not Modified', 'content-length: 7'], 'GET', 0],
	['no body before the answer', ['HTTP/1.1 103 Early Hints'], 'POST', 0],
];
test.each(framings)('%s', (_what, lines, method, framing) => {
	expect(read(lines, method).framing).toBe(framing);
});

const rests: [string, readonly string[], number | undefined][] = [
	['HTTP/1.1 says nothing', [], undefined],
	['the server says how long', ['keep-alive: timeout=5, max=100'], 5000],
	['the server ends it', ['connection: Close'], 0],
	['the server ends it among others', ['connection: x-a, close', 'keep-alive: timeout=5'], 0],
];
test.each(rests)('the idle time of the connection: %s', (_what, lines, restMs) => {
	expect(read(['HTTP/1.1 200 OK', 'content-length: 0', ...lines]).restMs).toBe(restMs);
});

test.each([['HTTP/1.0 200 OK', 'content-length: 0', 'connection: keep-alive'], ['HTTP/1.1 200 OK']])(
	'a connection whose end is ambiguous with that of the response is not reused: %s',
	(...lines) => {
		expect(read(lines).restMs).toBe(0);
	},
);

const malformed: Record<string, readonly string[]> = {
	'another protocol': ['HTTP/2 200 OK'],
	'a version that is none': ['HTTP/1.10 200 OK'],
	'a status of two figures': ['HTTP/1.1 20 OK'],
	'a status below 100': ['HTTP/1.1 099 OK'],
	'no space before the reason': ['HTTP/1.1 200OK'],
	'a space before the status line': [' HTTP/1.1 200 OK'],
	'a lone line feed': ['HTTP/1.1 200 OK', 'a: b\nc: d'],
	'a lone carriage return': ['HTTP/1.1 200 OK', 'a: b\rc: d'],
	'a null byte': ['HTTP/1.1 200 OK', 'a: \0'],
	'a folded line': ['HTTP/1.1 200 OK', 'a: b', ' c: d'],
	'a field without a colon': ['HTTP/1.1 200 OK', 'nothing'],
	'a field without a name': ['HTTP/1.1 200 OK', ': b'],
	'a space before the colon': ['HTTP/1.1 200 OK', 'a : b'],
	'two lengths': ['HTTP/1.1 200 OK', 'content-length: 1', 'content-length: 2'],
	'a list of lengths': ['HTTP/1.1 200 OK', 'content-length: 1, 1'],
	'a length with a sign': ['HTTP/1.1 200 OK', 'content-length: +1'],
	'a length with a byte above ASCII': ['HTTP/1.1 200 OK', 'content-length: \xa01'],
	'no length in its field': ['HTTP/1.1 200 OK', 'content-length:'],
	'a length beyond counting': ['HTTP/1.1 200 OK', `content-length: ${'9'.repeat(16)}`],
	'a length and chunks': ['HTTP/1.1 200 OK', 'content-length: 1', 'transfer-encoding: chunked'],
	'an encoding that nobody asked for': ['HTTP/1.1 200 OK', 'transfer-encoding: gzip, chunked'],
	'chunks of chunks': ['HTTP/1.1 200 OK', 'transfer-encoding: chunked', 'transfer-encoding: chunked'],
};
test.each(Object.entries(malformed))('%s is not a response', (_what, lines) => {
	expect(() => read(lines)).toThrow(MalformedResponse);
});
