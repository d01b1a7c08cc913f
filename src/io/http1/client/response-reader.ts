/** Reads the responses of one connection, in sequence, as their bytes arrive. */

import { MalformedResponse, type ResponseHead, readResponseHead } from './response-head.ts';

/** Receives the events of each response in this order; may stop the reader at any time. */
export interface ResponseListener {
	onHead(head: ResponseHead): void;
	onData(piece: Buffer): void;
	onComplete(): void;
}

const maxHeadBytes = 65_536;
/** First bytes of every response head. */
const start = 'HTTP/1.';
/** Limit for a chunk size line, and for all trailer fields together. */
const maxFramingBytes = 16_384;

const cr = 0x0d;

type State =
	/** No response is expected. */
	| 'resting'
	| 'stopped'
	| 'head'
	/** `missing` bytes of the body remain. */
	| 'body'
	| 'until_end'
	/** `missing` bytes of a chunk remain. */
	| 'chunk'
	/** The line before a chunk. */
	| 'chunk_size'
	/** The line end after a chunk. */
	| 'chunk_end'
	/** Trailer fields after the last chunk, up to an empty line. */
	| 'trailers';

export class ResponseReader {
	readonly #listener: ResponseListener;
	#state: State = 'resting';
	#method = '';
	#missingBytes = 0;
	/** An incomplete head or line. */
	#partial: PartialText | undefined;
	/** Number of bytes of the latest piece that belong to the head or line it completes. */
	#used = 0;
	#trailerBytes = 0;

	constructor(listener: ResponseListener) {
		this.#listener = listener;
	}

	/** Expects the response to a request with this method. */
	expect(method: string): void {
		this.#method = method;
		this.#state = 'head';
	}

	/** Stops for good: no further events. */
	stop(): void {
		this.#state = 'stopped';
		this.#partial = undefined;
	}

	/** @throws MalformedResponse, also for bytes without a pending request. */
	read(received: Buffer): void {
		let bytes = received;
		while (bytes.length > 0) {
			switch (this.#state) {
				case 'stopped':
					return;
				case 'resting':
					throw new MalformedResponse('Unexpected bytes arrived without a request');
				case 'head':
					bytes = this.#readHead(bytes);
					break;
				case 'body':
				case 'chunk':
					bytes = this.#readCounted(bytes);
					break;
				case 'until_end':
					this.#listener.onData(bytes);
					return;
				default:
					bytes = this.#readLine(bytes);
			}
		}
	}

	/** Handles the end of the connection. @returns false if the end was premature. */
	end(): boolean {
		if (this.#state !== 'until_end') return false;
		this.#complete();
		return true;
	}

	#readHead(bytes: Buffer): Buffer {
		const whole = this.#upTo('\r\n\r\n', maxHeadBytes, bytes);
		if (whole === undefined) {
			if (!start.startsWith(this.#partial?.startingWith(start.length) ?? '')) throw new MalformedResponse('The response is not HTTP');
			return noBytes;
		}
		const head = readResponseHead(whole.toString('latin1'), this.#method);
		const rest = bytes.subarray(this.#used);
		if (head.status === 101) throw new MalformedResponse('The server switched protocols without a request for it');
		// An interim response: the final one follows.
		if (head.status < 200) return rest;
		this.#missingBytes = typeof head.framing === 'number' ? head.framing : 0;
		if (typeof head.framing === 'number') this.#state = 'body';
		else this.#state = head.framing === 'chunked' ? 'chunk_size' : 'until_end';
		this.#listener.onHead(head);
		if (this.#state === 'body' && this.#missingBytes === 0) this.#complete();
		return rest;
	}

	#readCounted(bytes: Buffer): Buffer {
		const piece = bytes.length > this.#missingBytes ? bytes.subarray(0, this.#missingBytes) : bytes;
		this.#missingBytes -= piece.length;
		this.#listener.onData(piece);
		if (this.#missingBytes === 0) {
			if (this.#state === 'chunk') this.#state = 'chunk_end';
			else if (this.#state === 'body') this.#complete();
		}
		return piece.length === bytes.length ? noBytes : bytes.subarray(piece.length);
	}

	#readLine(bytes: Buffer): Buffer {
		const line = this.#upTo('\n', maxFramingBytes, bytes);
		if (line === undefined) return noBytes;
		const end = line.length - 2;
		if (end < 0 || line[end] !== cr) throw new MalformedResponse('A chunk line of the response has an invalid ending');
		if (this.#state === 'chunk_size') this.#readChunkSize(line, end);
		else if (this.#state === 'trailers') this.#readTrailer(end);
		else if (end === 0) this.#state = 'chunk_size';
		else throw new MalformedResponse('A chunk of the response exceeds its declared size');
		return bytes.subarray(this.#used);
	}

	/** @returns the bytes up to and including the mark; undefined until it has arrived. */
	#upTo(mark: string, maxBytes: number, bytes: Buffer): Buffer | undefined {
		if (this.#partial === undefined) {
			const at = bytes.indexOf(mark, 0, 'latin1');
			this.#used = at === -1 ? bytes.length : at + mark.length;
			requireCapacity(this.#used, maxBytes);
			if (at !== -1) return bytes.subarray(0, this.#used);
			this.#partial = new PartialText(mark, maxBytes);
		}
		const whole = this.#partial.add(bytes);
		if (whole === undefined) return undefined;
		this.#used = this.#partial.used;
		this.#partial = undefined;
		return whole;
	}

	#readChunkSize(line: Buffer, end: number): void {
		const size = readHex(line, end);
		if (size === undefined) throw new MalformedResponse('A chunk of the response has no size');
		this.#missingBytes = size;
		this.#trailerBytes = 0;
		this.#state = size === 0 ? 'trailers' : 'chunk';
	}

	/** Trailer fields are not forwarded. */
	#readTrailer(bytes: number): void {
		this.#trailerBytes += bytes;
		if (this.#trailerBytes > maxFramingBytes) {
			throw new MalformedResponse(`The trailer section of the response is larger than ${maxFramingBytes} bytes`);
		}
		if (bytes === 0) this.#complete();
	}

	#complete(): void {
		this.#state = 'resting';
		this.#listener.onComplete();
	}
}

const noBytes = Buffer.alloc(0);

const semicolon = 0x3b;
const space = 0x20;
const tab = 0x09;
/** A chunk size of a petabyte or more is invalid. */
const maxDigits = 12;

/** Parses the number at the start of a line; a chunk extension may follow it. */
function readHex(line: Buffer, end: number): number | undefined {
	let value = 0;
	let at = 0;
	for (; at < end; at++) {
		const digit = hexDigit(line[at] ?? 0);
		if (digit === undefined) break;
		value = value * 16 + digit;
	}
	const next = line[at];
	const isEnded = at === end || next === semicolon || next === space || next === tab;
	return at > 0 && at <= maxDigits && isEnded ? value : undefined;
}

function hexDigit(byte: number): number | undefined {
	if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
	const lower = byte | 0x20;
	return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}

/** Bytes up to a mark, in pieces of which the first did not contain it. Each byte is scanned and copied once. */
class PartialText {
	/** Number of bytes of the latest piece that belong to it. */
	used = 0;
	readonly #mark: string;
	readonly #retained: Buffer;
	#length = 0;

	constructor(mark: string, maxBytes: number) {
		this.#mark = mark;
		this.#retained = Buffer.allocUnsafe(maxBytes);
	}

	/** @returns all bytes including the mark once it has arrived. @throws MalformedResponse if they exceed the limit. */
	add(bytes: Buffer): Buffer | undefined {
		const before = this.#length;
		this.#length += bytes.copy(this.#retained, before);
		// The mark may have begun in an earlier piece.
		const at = this.#retained.subarray(0, this.#length).indexOf(this.#mark, Math.max(0, before - this.#mark.length), 'latin1');
		if (at === -1) {
			requireCapacity(before + bytes.length, this.#retained.length);
			return undefined;
		}
		const end = at + this.#mark.length;
		this.used = end - before;
		return this.#retained.subarray(0, end);
	}

	/** Returns the available bytes, up to the given length. */
	startingWith(length: number): string {
		return this.#retained.toString('latin1', 0, Math.min(length, this.#length));
	}
}

/** @throws MalformedResponse */
function requireCapacity(bytes: number, maxBytes: number): void {
	if (bytes > maxBytes) throw new MalformedResponse(`The response has a header block or chunk line larger than ${maxBytes} bytes`);
}
