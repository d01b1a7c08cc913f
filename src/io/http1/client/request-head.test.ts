import { describe, expect, test } from 'vitest';
import { HandFedStream } from '../../../../test/support/manual-stream.ts';
import { request } from '../../../../test/support/upstream-under-test.ts';
import type { UpstreamRequest } from '../../../core/upstream.ts';
import { requestHead } from './request-head.ts';

const headOf = (overrides: Partial<UpstreamRequest>): string[] =>
	requestHead(request({ origin: 'https://[::1]:8443' }, { headers: {}, ...overrides })).split('\r\n');

describe('the head of a request', () => {
	test('names the host and the kind of connection', () => {
		expect(headOf({ headers: { 'x-a': 'b\t\xe9' } })).toEqual([
			'POST /v1/messages?beta=true HTTP/1.1',
			'host: [::1]:8443',
			'connection: keep-alive',
			'x-a: b\t\xe9',
			'content-length: 7',
			'',
			'',
		]);
	});

	test.each([
		['of bytes', { body: Buffer.from('ab') }, 'content-length: 2'],
		['of no bytes', { body: Buffer.alloc(0) }, 'content-length: 0'],
		['of bytes that were announced', { headers: { 'content-length': '7' } }, 'content-length: 7'],
		['that is not there', { body: null }, 'content-length: 0'],
		['in pieces', { body: new HandFedStream() }, 'transfer-encoding: chunked'],
		['in pieces of a known length', { body: new HandFedStream(), headers: { 'content-length': '5' } }, 'content-length: 5'],
	])('announces the length of a body %s', (_what, overrides, field) => {
		expect(headOf(overrides)).toContain(field);
	});

	test('does not announce a missing body where none is usual', () => {
		expect(headOf({ method: 'GET', body: null }).join()).not.toContain('length');
	});
});

const rejected: Record<string, Partial<UpstreamRequest>> = {
	'a line end in a value': { headers: { 'x-a': 'b\r\nx-c: d' } },
	'a line feed in a value': { headers: { 'x-a': 'b\nx-c: d' } },
	'a character that is no byte': { headers: { 'x-a': '\u20ac' } },
	'a colon in a name': { headers: { 'x-a:': 'b' } },
	'no name': { headers: { '': 'b' } },
	'a name in capitals': { headers: { 'Content-Length': '7' } },
	'another framing': { headers: { 'transfer-encoding': 'chunked' } },
	'another host': { headers: { host: 'other' } },
	'another end of the connection': { headers: { connection: 'close' } },
	'an expectation': { headers: { expect: '100-continue' } },
	'another length than that of its bytes': { headers: { 'content-length': '8' } },
	'a length spelled otherwise': { headers: { 'content-length': '07' } },
	'a length where nothing is': { body: null, headers: { 'content-length': '1' } },
	'a length that is none': { body: new HandFedStream(), headers: { 'content-length': '0x5' } },
	'a space in the target': { target: '/a b' },
	'a line end in the target': { target: '/a\r\nx: y' },
	'a target without a path': { target: 'http://other/' },
	'a method that is none': { method: 'GET /' },
};
test.each(Object.entries(rejected))('%s is never sent', (_what, overrides) => {
	expect(() => headOf(overrides)).toThrow(/invalid|is not the length/);
});
