import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { HandFedStream } from '../../test/support/manual-stream.ts';
import { until } from '../../test/support/until.ts';
import { readAll, streamOf } from '../core/byte-stream.ts';
import type { ByteSink, ByteStream, HttpRequest } from '../core/handler.ts';
import { Rejection } from '../core/rejection.ts';
import { inflateGzip } from './inflated-body.ts';

const maxBytes = 100_000;

function requestOf(body: ByteStream, changes: Partial<HttpRequest> = {}): HttpRequest {
	return {
		id: 'req_1',
		method: 'POST',
		path: '/v1/messages',
		query: '',
		headers: { 'content-encoding': 'gzip', 'content-length': '20', 'content-type': 'application/json' },
		body,
		announcedLength: 20,
		peerAddress: '127.0.0.1',
		arrivedMs: 0,
		onClientDisconnect: () => undefined,
		...changes,
	};
}

/** Returns the body read from these bytes, sent in pieces of `size`; the code of the rejection otherwise. */
async function read(bytes: Buffer, size = 1000, changes: Partial<HttpRequest> = {}): Promise<string> {
	const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
	const request = inflateGzip(requestOf(streamOf(pieces), changes), maxBytes);
	try {
		return (await readAll(request.body, Number.POSITIVE_INFINITY)).toString();
	} catch (cause) {
		if (cause instanceof Rejection) return `${cause.status} ${cause.code}`;
		throw cause;
	}
}

describe('a body in gzip', () => {
	test('is read as its inflated content, whatever the pieces it arrives in', async () => {
		for (const size of [1, 7, 1000]) expect(await read(gzipSync('{"a":"ü"}'), size)).toBe('{"a":"ü"}');
		expect(await read(Buffer.concat([gzipSync('{"a":'), gzipSync('1}')]))).toBe('{"a":1}');
	});

	test('is plain JSON for later readers: the head keeps neither encoding nor length', () => {
		const request = inflateGzip(requestOf(streamOf([])), maxBytes);
		expect([request.headers, request.announcedLength]).toEqual([{ 'content-type': 'application/json' }, undefined]);
	});

	test('is bounded inflated, whatever its length says', async () => {
		expect(await read(gzipSync(Buffer.alloc(maxBytes, 'a')))).toHaveLength(maxBytes);
		expect(await read(gzipSync(Buffer.alloc(maxBytes + 1, 'a')))).toBe('413 body_too_large');
		expect(await read(gzipSync(Buffer.alloc(1000 * maxBytes, 'a')))).toBe('413 body_too_large');
	});

	test('is bounded compressed too: it may contain any number of empty members', async () => {
		const empty = gzipSync('');
		const members = Buffer.concat(Array.from({ length: Math.ceil(maxBytes / empty.length) + 1 }, () => empty));
		expect(await read(members)).toBe('413 body_too_large');
	});

	test('that announces more than is allowed is not read', async () => {
		const source = new HandFedStream();
		const { body } = inflateGzip(requestOf(source, { announcedLength: maxBytes + 1 }), maxBytes);
		await expect(readAll(body, maxBytes)).rejects.toMatchObject({ code: 'body_too_large' });
		expect(source.isCancelled).toBe(true);
	});

	test.each([
		['JSON', Buffer.from('{"model":"m"}')],
		['half a file', gzipSync('{"model":"m"}').subarray(0, 20)],
		['a file with text after it', Buffer.concat([gzipSync('{}'), Buffer.from('{}')])],
		['a file with zeros after it', Buffer.concat([gzipSync('{}'), Buffer.alloc(20)])],
		['a file whose checksum is wrong', Buffer.concat([gzipSync('{}').subarray(0, -8), Buffer.alloc(8)])],
	])('that is %s is 400', async (_title, bytes) => {
		expect(await read(bytes)).toBe('400 body_not_gzip');
	});

	test('is not inflated ahead of its reader, and not at all after it cancels', async () => {
		const source = new HandFedStream();
		const pieces: number[] = [];
		let isEnded = false;
		const sink: ByteSink = {
			write: ({ length }) => pieces.push(length) < 0,
			end: () => {
				isEnded = true;
			},
			fail: () => undefined,
		};
		const bytes = gzipSync(Buffer.alloc(maxBytes, 'a'));
		const flow = inflateGzip(requestOf(source), 100 * maxBytes).body.start(sink);
		source.push(bytes);
		await until(() => pieces.length > 0);
		source.push(bytes);
		await new Promise(setImmediate);
		expect(pieces).toHaveLength(1);
		flow.resume();
		await until(() => pieces.length > 1);
		flow.cancel();
		flow.cancel();
		expect(source.isCancelled).toBe(true);
		const count = pieces.length;
		source.push(bytes);
		source.end();
		await new Promise(setImmediate);
		expect([pieces.length, isEnded]).toEqual([count, false]);
	});

	test('whose client disconnects fails with the cause', async () => {
		const source = new HandFedStream();
		const reading = readAll(inflateGzip(requestOf(source), maxBytes).body, maxBytes);
		source.push(gzipSync('{}').subarray(0, 5));
		source.fail(new Rejection('client_closed'));
		await expect(reading).rejects.toMatchObject({ code: 'client_closed' });
	});
});

test.each(['br', 'deflate', 'x-gzip', 'gzip, gzip', 'identity', undefined])(
	'a request with `content-encoding: %s` is returned unchanged',
	(encoding) => {
		const request = requestOf(streamOf([]), { headers: { 'content-encoding': encoding } });
		expect(inflateGzip(request, maxBytes)).toBe(request);
	},
);

test('a request without a body stays without one', () => {
	const request = inflateGzip(requestOf(streamOf([]), { announcedLength: 0, headers: { 'content-encoding': 'GZIP' } }), maxBytes);
	expect([request.announcedLength, request.headers]).toEqual([0, {}]);
});
