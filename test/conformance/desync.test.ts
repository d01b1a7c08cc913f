/**
 * Requests that two hops could split differently, in the tiers of AWS's desync mitigation. Ambiguous and severe requests return 400 and
 * close the connection, so that the next request on that connection gets no response.
 */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { describeOwn, useSubject } from './subject.ts';

const second = 'GET /healthz HTTP/1.1\r\nHost: second\r\n\r\n';

/** Bytes of `POST /` with these fields and this body. */
const post = (fields: string, body = '', line = 'POST / HTTP/1.1'): string => `${line}\r\nHost: first\r\n${fields}\r\n${body}`;
const get = (fields: string, body = '', line = 'GET / HTTP/1.1'): string => post(fields, body, line);
const chunked = (body: string, fields = 'Transfer-Encoding: chunked\r\n'): string => post(fields, body);

const dangerous: readonly (readonly [string, string])[] = [
	['both length and encoding', chunked('0\r\n\r\n', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n')],
	['both, the other way round', chunked('0\r\n\r\n', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n')],
	['two lengths that differ', post('Content-Length: 3\r\nContent-Length: 4\r\n', 'abcd')],
	['two lengths that agree', post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc')],
	['a list of lengths', post('Content-Length: 3, 3\r\n', 'abc')],
	['a length with a sign', post('Content-Length: +3\r\n', 'abc')],
	['a negative length', post('Content-Length: -1\r\n')],
	['a length in hexadecimal', post('Content-Length: 0x3\r\n', 'abc')],
	['a length with a leading zero', post('Content-Length: 03\r\n', 'abc')],
	['a length that no number holds', post(`Content-Length: ${'9'.repeat(30)}\r\n`)],
	['an empty length', post('Content-Length:\r\n')],
	['a length of words', post('Content-Length: three\r\n', 'abc')],
	['a length with a blank inside', post('Content-Length: 1 0\r\n', 'abc')],
	['a length cut by a NUL', post('Content-Length: 3\0\r\n', 'abc')],
	['a blank before the colon', chunked('0\r\n\r\n', 'Transfer-Encoding : chunked\r\n')],
	['a tab before the colon', post('Content-Length\t: 3\r\n', 'abc')],
	['a control character before the colon', chunked('0\r\n\r\n', 'Transfer-Encoding\x0b: chunked\r\n')],
	['a NUL in a name', chunked('0\r\n\r\n', 'Transfer\0-Encoding: chunked\r\n')],
	['a control character before the value', chunked('0\r\n\r\n', 'Transfer-Encoding: \x0bchunked\r\n')],
	['a name with an underscore', post('Content-Length: 3\r\nTransfer_Encoding: chunked\r\n', 'abc')],
	['an encoding that is a list', chunked('0\r\n\r\n', 'Transfer-Encoding: identity, chunked\r\n')],
	['chunked twice', chunked('0\r\n\r\n', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n')],
	['chunked and something else', chunked('0\r\n\r\n', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n')],
	['chunked, but not last', chunked('0\r\n\r\n', 'Transfer-Encoding: chunked, identity\r\n')],
	['an unknown encoding', chunked('0\r\n\r\n', 'Transfer-Encoding: xchunked\r\n')],
	['an encoding in quotes', chunked('0\r\n\r\n', 'Transfer-Encoding: "chunked"\r\n')],
	['an empty encoding', chunked('0\r\n\r\n', 'Transfer-Encoding:\r\n')],
	['identity', chunked('', 'Transfer-Encoding: identity\r\n')],
	['an encoding with HTTP/1.0', `POST / HTTP/1.0\r\nHost: first\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
	['a folded value', chunked('0\r\n\r\n', 'Transfer-Encoding:\r\n chunked\r\n')],
	['a folded field of no importance', post('X-Long: a\r\n b\r\nContent-Length: 0\r\n')],
	['a first field that is folded', `POST / HTTP/1.1\r\n Host: first\r\nContent-Length: 0\r\n\r\n`],
	['a line without colon', post('Content-Length 3\r\n', 'abc')],
	['an empty name', post(': 3\r\nContent-Length: 0\r\n')],
	['a line end without line feed inside a value', post('X-A: b\rContent-Length: 3\r\n', 'abc')],
	['lines that end with a line feed alone', `POST / HTTP/1.1\nHost: first\nContent-Length: 0\n\n`],
	['one line that does', post('X-A: b\nContent-Length: 0\r\n')],
	['a NUL in a value', post('X-A: a\0b\r\nContent-Length: 0\r\n')],
	['a control character in a value', post('X-A: a\x01b\r\nContent-Length: 0\r\n')],
	['GET with a length', get('Content-Length: 3\r\n', 'abc')],
	['GET with chunks', get('Transfer-Encoding: chunked\r\n', '0\r\n\r\n')],
	['HEAD with a length', get('Content-Length: 3\r\n', 'abc', 'HEAD / HTTP/1.1')],
	['a blank in the target', get('', '', 'GET /a b HTTP/1.1')],
	['a tab in the target', get('', '', 'GET /a\tb HTTP/1.1')],
	['a NUL in the target', get('', '', 'GET /a\0b HTTP/1.1')],
	['a byte above ASCII in the target', get('', '', 'GET /\xe9 HTTP/1.1')],
	['a URL as target', get('', '', 'GET http://other/ HTTP/1.1')],
	['an authority as target', get('', '', 'GET other:80 HTTP/1.1')],
	['an empty target', get('', '', 'GET  HTTP/1.1')],
	['no version', 'GET /\r\nHost: first\r\n\r\n'],
	['a version of one digit', get('', '', 'GET / HTTP/1')],
	['a version with a blank behind', get('', '', 'GET / HTTP/1.1 ')],
	['a version in small letters', get('', '', 'GET / http/1.1')],
	['another version', get('', '', 'GET / HTTP/1.2')],
	['a method with a control character', get('', '', 'G\x01ET / HTTP/1.1')],
	['two hosts', `GET / HTTP/1.1\r\nHost: first\r\nHost: other\r\n\r\n`],
	['no host', 'GET / HTTP/1.1\r\n\r\n'],
	['a host with a path', 'GET / HTTP/1.1\r\nHost: first/x\r\n\r\n'],
	['two authorizations', get('Authorization: Bearer a\r\nAuthorization: Bearer b\r\n')],
];

/** Bodies that are malformed although their heads are valid. The token is rejected first, and the connection must close. */
const dangerousBodies: readonly (readonly [string, string])[] = [
	['a size that is no number', chunked('xyz\r\nabc\r\n0\r\n\r\n')],
	['a size with a prefix', chunked('0x3\r\nabc\r\n0\r\n\r\n')],
	['a size with a sign', chunked('+3\r\nabc\r\n0\r\n\r\n')],
	['a negative size', chunked('-3\r\nabc\r\n0\r\n\r\n')],
	['a size with an underscore', chunked('1_0\r\nabc\r\n0\r\n\r\n')],
	['a size that no number holds', chunked(`${'f'.repeat(30)}\r\nabc\r\n0\r\n\r\n`)],
	['a blank before the size', chunked(' 3\r\nabc\r\n0\r\n\r\n')],
	['a blank behind the size', chunked('3 \r\nabc\r\n0\r\n\r\n')],
	['a size that ends with a line feed alone', chunked('3\nabc\r\n0\r\n\r\n')],
	['an extension with a line feed', chunked('3;a\nabc\r\n0\r\n\r\n')],
	['more bytes than announced', chunked('3\r\nabcdef\r\n0\r\n\r\n')],
	['an empty size', chunked('\r\nabc\r\n0\r\n\r\n')],
];

const compliant: readonly (readonly [string, string])[] = [
	['GET', get('')],
	['GET with a length of 0', get('Content-Length: 0\r\n')],
	['a length', post('Content-Length: 3\r\n', 'abc')],
	['chunks', chunked('3\r\nabc\r\n0\r\n\r\n')],
	['chunks with an extension', chunked('3;a=b\r\nabc\r\n0\r\n\r\n')],
	['a field in capitals', post('CONTENT-LENGTH: 3\r\n', 'abc')],
	['blanks around a value', post('X-A:   b  \r\nContent-Length: 0\r\n')],
	['a byte above ASCII in a value', post('X-A: caf\xe9\r\nContent-Length: 0\r\n')],
	['DELETE with a body', post('Content-Length: 3\r\n', 'abc', 'DELETE / HTTP/1.1')],
	['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: first\r\n\r\n'],
];

describeOwn('desync', 'our simulator', () => {
	const subject = useSubject();

	async function exchange(bytes: string): Promise<RawClient> {
		const client = new RawClient(Number(new URL(subject.current.baseUrl).port));
		client.send(bytes + second);
		await eventually('an answer or the end', () => (client.isClosed || client.statuses.length > 1 ? true : undefined), 3000).catch(
			() => undefined,
		);
		client.destroy();
		return client;
	}

	describe('ambiguous or severe: rejected, and nothing after it gets a response', () => {
		it.concurrent.each(dangerous)('%s', async (_what, bytes) => {
			const { statuses, isClosed } = await exchange(bytes);
			expect([...statuses, isClosed]).toEqual([expect.toSatisfy((status) => status === 400 || status === 505), true]);
		});

		it.concurrent.each(dangerousBodies)('in the body: %s', async (_what, bytes) => {
			const { statuses, isClosed } = await exchange(bytes);
			expect([...statuses, isClosed]).toEqual([expect.toSatisfy((status) => status === 400 || status === 401), true]);
		});
	});

	it.concurrent.each(compliant)('compliant: %s', async (_what, bytes) => {
		const { statuses } = await exchange(bytes);
		expect(statuses[0]).not.toBe(400);
		// Connections also close if a request without a token was rejected before all of its chunks were read.
		if (!/HTTP\/1\.0|chunked/.test(bytes)) expect(statuses).toHaveLength(2);
	});

	it('none of them has reached a provider', async () => {
		expect(await subject.current.simulator.requestsServed()).toBe(0);
	});
});
