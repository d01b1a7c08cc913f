import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connectRaw, serve } from '../../../../test/support/raw-http-server.ts';
import { until } from '../../../../test/support/until.ts';
import { readAll } from '../../../core/byte-stream.ts';
import { HeaderBlockCache } from './header-block-cache.ts';
import { readSimpleRequestHead } from './simple-request-head.ts';

const limit = 16_384;

const post = (length: string, token = 'abc', more = ''): string =>
	`POST /v1/messages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\ncontent-length: ${length}\r\nX-B: c${more}\r\n\r\n`;
const get = (length?: string): string =>
	`GET /v1/models HTTP/1.1\r\nHost: a\r\n${length === undefined ? '' : `Content-Length:${length}\r\n`}\r\n`;

function reader(maxBytes = limit) {
	const heads = new HeaderBlockCache(maxBytes);
	return (text: string) => heads.read(Buffer.from(text, 'latin1'));
}

describe('a repeated head', () => {
	test('is detected from the third time on, whatever the length of its body', () => {
		const read = reader();
		expect([read(post('1')), read(post('20'))].map((head) => head?.isRepeated)).toEqual([undefined, undefined]);
		const third = read(`${post('3')}abc`);
		expect(third).toMatchObject({ method: 'POST', url: '/v1/messages', contentLength: 3, bytes: post('3').length });
		expect(third?.isRepeated).toBe(true);
		const fourth = read(post('123456789012345'));
		expect(fourth).toMatchObject({ contentLength: 123_456_789_012_345, bytes: post('123456789012345').length });
		expect(fourth?.isRepeated).toBe(true);
		expect(fourth?.headers).toBe(third?.headers);
	});

	test('is detected without a length', () => {
		const read = reader();
		for (let round = 0; round < 2; round++) read(get());
		expect(read(get())?.isRepeated).toBe(true);
	});

	test.each([
		['another token', post('1', 'abd')],
		['a longer token', post('1', 'abcd')],
		['one field more', post('1', 'abc', '\r\nX-D: e')],
		['another case', post('1').replace('X-B', 'x-b')],
		['another target', post('1').replace('/v1/messages', '/v1/messaged')],
	])('with %s is a different one', (_what, other) => {
		const read = reader();
		for (let round = 0; round < 3; round++) read(post('1'));
		const head = read(other);
		expect(head).toEqual(readSimpleRequestHead(Buffer.from(other), limit));
		expect(head?.isRepeated).toBeUndefined();
		expect(read(other)?.isRepeated).toBe(true);
	});

	test.each([
		['a leading zero', post('01')],
		['a length of zeros as long as the number', post('0000000000000001')],
		['a sign', post('+1')],
		['no length', post('')],
		['a list', post('1, 1')],
		['sixteen digits', post('1234567890123456')],
		['an end that is missing', post('1').slice(0, -1)],
		['a beginning', post('1').slice(0, 10)],
		['nothing', ''],
	])('with %s is left to node:http', (_what, other) => {
		const read = reader();
		for (let round = 0; round < 3; round++) expect(read(post('1'))).toBeDefined();
		expect(read(other)).toBeUndefined();
	});

	test('of a request that may have no body is detected with the same length only', () => {
		const read = reader();
		for (let round = 0; round < 3; round++) read(get('0'));
		expect(read(get('0'))?.isRepeated).toBe(true);
		// Not a cache hit, because the server has to see and reject it.
		expect(read(get('5'))?.isRepeated).toBeUndefined();
	});

	test('is not detected once it is longer than the limit', () => {
		const read = reader(post('9').length);
		for (let round = 0; round < 3; round++) expect(read(post('9'))).toBeDefined();
		expect(read(post('10'))).toBeUndefined();
	});

	test('is not cached if it is very long, nor for a client whose heads differ', () => {
		const long = reader();
		for (let round = 0; round < 5; round++) expect(long(post('1', 'x'.repeat(4096)))).toMatchObject({ contentLength: 1 });
		expect(long(post('1', 'x'.repeat(4096)))?.isRepeated).toBeUndefined();
		const changing = reader();
		for (let round = 0; round < 5; round++) changing(post('1', `${round}`));
		for (let round = 0; round < 3; round++) expect(changing(post('1'))?.isRepeated).toBeUndefined();
		const mostlySame = reader();
		for (let round = 0; round < 5; round++) {
			mostlySame(post('1', `${round}`));
			for (let again = 0; again < 2; again++) mostlySame(post('1'));
			expect(mostlySame(post('1'))?.isRepeated).toBe(true);
		}
	});
});

test('the bytes of a connection are read as if each request came alone', () => {
	const length = fc.constantFrom(
		'0',
		'1',
		'7',
		'10',
		'42',
		'999999',
		'01',
		'',
		' 5',
		'5 ',
		'+5',
		'5a',
		'123456789012345',
		'1234567890123456',
	);
	const head = fc.oneof(
		length.map((digits) => post(digits)),
		length.map((digits) => get(digits)),
		fc.constant(get()),
		fc.tuple(length, fc.constantFrom('abc', 'abd')).map(([digits, token]) => post(digits, token, '\r\nX-Content-Length: 3')),
	);
	const cut = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.nat(200) });
	const taken = fc.tuple(head, fc.constantFrom('', '1', '{"a":1}', 'GET / HTTP/1.1\r\nHost: b\r\n\r\n'), cut);
	let recurred = 0;
	fc.assert(
		fc.property(fc.array(taken, { maxLength: 12 }), (all) => {
			const read = reader();
			for (const [text, behind, end] of all) {
				const bytes = `${text}${behind}`.slice(0, end);
				const got = read(bytes);
				const alone = readSimpleRequestHead(Buffer.from(bytes, 'latin1'), limit);
				if (got === undefined || alone === undefined) {
					expect(got).toBe(alone);
					continue;
				}
				const { isRepeated, ...rest } = got;
				if (isRepeated === true) recurred++;
				// The server does not read `rawHeaders` of a repeated head, so their length may differ.
				expect(rest).toEqual(isRepeated === undefined ? alone : { ...alone, rawHeaders: expect.anything() as unknown });
			}
		}),
		{ numRuns: 3000 },
	);
	expect(recurred).toBeGreaterThan(500);
});

test('a server responds to repeated heads as it does to the first', async () => {
	const seen: object[] = [];
	const started = await serve(async ({ announcedLength, headers, body }) => {
		seen.push(headers);
		const text = (await readAll(body, 1000)).toString();
		return { status: 200, headers: {}, body: `<${headers['authorization'] as string} ${announcedLength} ${text}>` };
	});
	const client = connectRaw(started);
	const bodies = ['a', 'bb', 'ccc', 'd'.repeat(12), '', 'e'];
	for (const [index, body] of bodies.entries()) {
		client.send(post(`${body.length}`) + body);
		await until(() => client.statuses.length === index + 1);
	}
	// Two requests in one packet, the second with another token.
	client.send(`${post('2')}ff${post('2', 'abd')}gg`);
	await until(() => client.statuses.length === bodies.length + 2);
	expect(client.text.match(/<.*>/g)).toEqual([
		...bodies.map((body) => `<Bearer abc ${body.length} ${body}>`),
		'<Bearer abc 2 ff>',
		'<Bearer abd 2 gg>',
	]);
	// A repeated head returns the same object as before.
	const known = seen[2];
	expect(seen.map((headers) => headers === known)).toEqual([false, true, true, true, true, true, true, false]);
});
