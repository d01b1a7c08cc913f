import { type IncomingMessage, request as nodeRequest } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startScriptedServer } from '../../../../test/support/scripted-server.ts';
import { MalformedResponse } from './response-head.ts';
import { ResponseReader } from './response-reader.ts';

interface Read {
	readonly reader: ResponseReader;
	readonly events: string[];
}

/** A reader that expects a response, and the events that it has emitted so far. */
function awaiting(method = 'POST'): Read {
	const events: string[] = [];
	const reader: ResponseReader = new ResponseReader({
		onHead: ({ status }) => events.push(String(status)),
		onData: (piece) => events.push(piece.toString('latin1')),
		onComplete: () => events.push('.'),
	});
	reader.expect(method);
	return { reader, events };
}

function readAll(text: string, method = 'POST'): string[] {
	const { reader, events } = awaiting(method);
	reader.read(Buffer.from(text, 'latin1'));
	return events;
}

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

describe('a response', () => {
	test.each([
		['of a length', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello', ['200', 'hello', '.']],
		['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', ['204', '.']],
		['of no bytes', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', ['200', '.']],
		['in chunks', `${chunked}5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n`, ['200', 'hello', '!', '.']],
		['in chunks of no bytes', `${chunked}0\r\n\r\n`, ['200', '.']],
		['with extensions of chunks', `${chunked}005;a=b\r\nhello\r\n0 ;x\r\n\r\n`, ['200', 'hello', '.']],
		['with fields behind it', `${chunked}A\r\n0123456789\r\n0\r\nx-a: b\r\nx-c: d\r\n\r\n`, ['200', '0123456789', '.']],
		['after interim ones', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\nHTTP/1.1 204 x\r\n\r\n', ['204', '.']],
	])('%s', (_what, text, events) => {
		expect(readAll(text)).toEqual(events);
	});

	test('may last until the connection ends', () => {
		const { reader, events } = awaiting();
		reader.read(Buffer.from('HTTP/1.1 200 OK\r\n\r\nhel'));
		reader.read(Buffer.from('lo'));
		expect(events).toEqual(['200', 'hel', 'lo']);
		expect(reader.end()).toBe(true);
		expect(events.at(-1)).toBe('.');
	});

	test.each([
		['no head', 'HTTP/1.1 2'],
		['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell'],
		['no last chunk', `${chunked}5\r\nhello\r\n`],
		['no end behind the last chunk', `${chunked}0\r\n`],
	])('that ends with %s is not complete', (_what, text) => {
		const { reader, events } = awaiting();
		reader.read(Buffer.from(text));
		expect(reader.end()).toBe(false);
		expect(events).not.toContain('.');
	});

	test.each([
		['is no HTTP', 'SSH-2'],
		['has a head without end', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(70_000)}`],
		['has a head that is too long', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(65_600)}\r\n\r\n`],
		['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
		['is followed by more', 'HTTP/1.1 204 x\r\n\r\nHTTP/1.1 204 x\r\n\r\n'],
		['has a chunk without a length', `${chunked}\r\n`],
		['has a chunk of an odd length', `${chunked}5x\r\nhello\r\n`],
		['has a chunk of a negative length', `${chunked}-5\r\nhello\r\n`],
		['has a chunk of a petabyte', `${chunked}1234567890123\r\n`],
		['has a chunk that is longer than it says', `${chunked}4\r\nhello\r\n`],
		['has a chunk that ends in a lone line feed', `${chunked}5\nhello\n`],
		['has a line between chunks without end', `${chunked}5;${'x'.repeat(17_000)}`],
		['has fields behind it without end', `${chunked}0\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(17)}`],
	])('that %s is invalid', (_what, text) => {
		expect(() => readAll(text)).toThrow(MalformedResponse);
	});

	test('without a request is rejected', () => {
		const reader = new ResponseReader({ onHead: () => undefined, onData: () => undefined, onComplete: () => undefined });
		expect(() => reader.read(Buffer.from('HTTP/1.1 200 OK\r\n'))).toThrow(MalformedResponse);
	});

	test('whose listener stops the reader emits nothing more', () => {
		const events: string[] = [];
		const reader: ResponseReader = new ResponseReader({
			onHead: () => undefined,
			onData(piece) {
				events.push(piece.toString());
				reader.stop();
			},
			onComplete: () => events.push('.'),
		});
		reader.expect('POST');
		reader.read(Buffer.from(`${chunked}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`));
		reader.read(Buffer.from('zzz'));
		expect(events).toEqual(['a']);
		expect(reader.end()).toBe(false);
	});
});

/** Parts of responses, complete or not, valid or not. */
const httpResponse = fc
	.record({
		start: fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 404 Not Found', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK'),
		fields: fc.array(
			fc.constantFrom('X-A: b', 'x-b:c', 'Set-Cookie: a=b', 'Set-Cookie: c=d', 'Keep-Alive: timeout=5', 'Vary: a', 'vary: b', 'X-C:  d \t'),
			{ maxLength: 5 },
		),
		body: fc.oneof(
			fc.string({ maxLength: 20 }).map((text) => ({ fields: [`Content-Length: ${Buffer.byteLength(text)}`], bytes: text })),
			fc.array(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 4 }).map((pieces) => ({
				fields: ['Transfer-Encoding: chunked'],
				bytes: [...pieces, ''].map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`).join(''),
			})),
			fc.string({ maxLength: 20 }).map((text) => ({ fields: ['Connection: close'], bytes: text })),
			fc.constant({ fields: ['Content-Length: 9'], bytes: 'too few' }),
			fc.constant({ fields: ['Transfer-Encoding: chunked'], bytes: '3\r\nabc\r\n' }),
		),
	})
	.map(({ start, fields, body }) => Buffer.from([start, ...fields, ...body.fields, '', body.bytes].join('\r\n')));

interface Observed {
	readonly status: number | undefined;
	readonly body: string;
	readonly isComplete: boolean;
}

describe('whatever is read here', () => {
	test('node:http reads alike, wherever the bytes are cut', async () => {
		let script = Buffer.alloc(0);
		const server = await startScriptedServer((connection) => void connection.socket.end(script));
		try {
			await fc.assert(
				fc.asyncProperty(httpResponse, fc.array(fc.nat(200), { maxLength: 6 }), async (bytes, cuts) => {
					script = bytes;
					const ours = readInPieces(bytes, cuts);
					expect(ours).toEqual(await readByNode(server.port));
				}),
				{ numRuns: 400 },
			);
		} finally {
			await server.close();
		}
	});
});

function readInPieces(bytes: Buffer, cuts: readonly number[]): Observed {
	let status: number | undefined;
	let body = '';
	let isComplete = false;
	const reader = new ResponseReader({
		onHead(head) {
			status = head.status;
		},
		onData(piece) {
			body += piece.toString('latin1');
		},
		onComplete() {
			isComplete = true;
		},
	});
	reader.expect('POST');
	const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((one, other) => one - other), bytes.length];
	try {
		for (const [index, from] of places.entries()) reader.read(bytes.subarray(from, places[index + 1] ?? from));
		reader.end();
	} catch (cause) {
		// Bytes after a complete response are judged by the connection.
		if (!isComplete) throw cause;
	}
	return { status, body, isComplete };
}

function readByNode(port: number): Promise<Observed> {
	return new Promise((resolve) => {
		const request = nodeRequest({ port, method: 'POST', agent: false }, (response: IncomingMessage) => {
			const pieces: Buffer[] = [];
			const done = (): void =>
				resolve({ status: response.statusCode, body: Buffer.concat(pieces).toString('latin1'), isComplete: response.complete });
			response.on('data', (piece: Buffer) => pieces.push(piece));
			response.on('end', done);
			response.on('error', done);
		});
		request.on('error', () => resolve({ status: undefined, body: '', isComplete: false }));
		request.end();
	});
}
