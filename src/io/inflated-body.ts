/** Decompresses gzip request bodies. Every later reader of the body sees JSON, not gzip. */
import { createGunzip, type Gunzip } from 'node:zlib';
import { tooLargeMessage } from '../core/byte-stream.ts';
import type { ByteFlow, ByteSink, ByteStream, HttpRequest } from '../core/handler.ts';
import { Rejection } from '../core/rejection.ts';
import { SafeSink } from './safe-sink.ts';

/** Maximum size of one inflated piece. */
const pieceBytes = 65_536;

/**
 * @param maxBytes limit for the compressed and for the inflated body. `content-length` is not trusted for either.
 * @returns the request without `content-encoding: gzip`, whose body inflates as it is read. Other requests are returned unchanged.
 */
export function inflateGzip(request: HttpRequest, maxBytes: number): HttpRequest {
	const encoding = request.headers['content-encoding'];
	if (encoding === undefined || String(encoding).toLowerCase() !== 'gzip') return request;
	const { 'content-encoding': _gzip, 'content-length': _compressed, ...headers } = request.headers;
	const { body, announcedLength = 0 } = request;
	if (request.announcedLength === 0) return { ...request, headers };
	const inflated: ByteStream = { start: (sink) => new GzipReader(body, sink, maxBytes, announcedLength) };
	return { ...request, headers, body: inflated, announcedLength: undefined };
}

/** Inflates in the thread pool, one piece at a time, and pauses with its reader. */
class GzipReader implements ByteFlow {
	readonly #gunzip: Gunzip = createGunzip({ chunkSize: pieceBytes });
	readonly #sink: ByteSink;
	readonly #maxBytes: number;
	readonly #source: ByteFlow;
	#compressedBytes = 0;
	#inflatedBytes = 0;
	#isOver = false;

	constructor(body: ByteStream, reader: ByteSink, maxBytes: number, announcedBytes: number) {
		this.#maxBytes = maxBytes;
		this.#sink = new SafeSink(reader, () => this.cancel());
		this.#source = body.start({
			write: (chunk) => this.#take(chunk),
			end: () => void this.#gunzip.end(),
			fail: (cause) => this.#fail(cause),
		});
		this.#gunzip.on('drain', () => this.#source.resume());
		this.#gunzip.on('data', (piece: Buffer) => this.#give(piece));
		this.#gunzip.on('end', () => this.#end());
		this.#gunzip.on('error', (cause) => this.#fail(notGzip(cause)));
		if (announcedBytes > maxBytes) queueMicrotask(() => this.#fail(this.#tooLarge()));
	}

	resume(): void {
		this.#gunzip.resume();
	}

	cancel(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#source.cancel();
		this.#gunzip.destroy();
	}

	#take(chunk: Buffer): boolean {
		if (this.#isOver) return false;
		this.#compressedBytes += chunk.length;
		// Gzip can contain any number of empty members, so the limit on inflated bytes is not sufficient.
		if (this.#compressedBytes <= this.#maxBytes) return this.#gunzip.write(chunk);
		this.#fail(this.#tooLarge());
		return false;
	}

	#give(piece: Buffer): void {
		if (this.#isOver) return;
		this.#inflatedBytes += piece.length;
		if (this.#inflatedBytes > this.#maxBytes) this.#fail(this.#tooLarge());
		else if (!this.#sink.write(piece)) this.#gunzip.pause();
	}

	#end(): void {
		if (this.#isOver) return;
		if (this.#gunzip.bytesWritten !== this.#compressedBytes) {
			this.#fail(notGzip('bytes follow its end'));
			return;
		}
		this.#isOver = true;
		this.#sink.end();
	}

	#fail(cause: unknown): void {
		if (this.#isOver) return;
		this.cancel();
		this.#sink.fail(cause);
	}

	#tooLarge(): Rejection {
		return new Rejection('body_too_large', { message: tooLargeMessage(this.#maxBytes) });
	}
}

function notGzip(cause: unknown): Rejection {
	return new Rejection('body_not_gzip', { cause });
}
