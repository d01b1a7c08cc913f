/**
 * Caches the latest simple head of one connection and detects when the next one repeats it. A client that keeps its connection sends the
 * same head again, except for the body's length. A repeated head is neither parsed nor validated again.
 */
import { markRepeated } from '../../../core/header-memo.ts';
import { readSimpleRequestHead, type SimpleRequestHead } from './simple-request-head.ts';

export interface ReadHead extends SimpleRequestHead {
	/** True if the previous head was the same except for the body's length. `rawHeaders` then contain the length of an earlier request. */
	readonly isRepeated?: boolean;
}

/** Larger heads, and clients whose heads keep differing, are not worth the memory. */
const maxCachedLength = 4096;
const maxMisses = 3;
const maxDigits = 15;

const space = 0x20;
const zero = 0x30;

interface CachedEntry {
	readonly head: SimpleRequestHead;
	readonly bytes: Buffer;
	/** Range of the digits of the length; both offsets are at the end if there are none. */
	readonly lengthStart: number;
	readonly lengthEnd: number;
}

export class HeaderBlockCache {
	readonly #maxBytes: number;
	#cached: CachedEntry | undefined;
	#heads = 0;
	#misses = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/** @returns undefined if `node:http` must read it. */
	read(bytes: Buffer): ReadHead | undefined {
		const again = this.#cached === undefined ? undefined : readAgain(this.#cached, bytes);
		if (again !== undefined && again.bytes <= this.#maxBytes) {
			this.#misses = 0;
			return again;
		}
		const head = readSimpleRequestHead(bytes, this.#maxBytes);
		// Connections with a single request cache nothing.
		if (head !== undefined && ++this.#heads > 1) this.#cache(head, bytes);
		return head;
	}

	#cache(head: SimpleRequestHead, bytes: Buffer): void {
		if (this.#cached !== undefined) this.#misses += 1;
		const isWorthIt = this.#misses < maxMisses && head.bytes <= maxCachedLength;
		this.#cached = isWorthIt ? cache(head, bytes) : undefined;
	}
}

function cache(head: SimpleRequestHead, bytes: Buffer): CachedEntry {
	const own = Buffer.allocUnsafeSlow(head.bytes);
	bytes.copy(own, 0, 0, head.bytes);
	markRepeated(head.headers);
	return { head: { ...head, url: ownText(head.url) }, bytes: own, ...findLength(own) };
}

/** Copies a text. V8 stores a substring as a reference that retains the whole text, and serializes it to JSON at half the speed. */
function ownText(text: string): string {
	return Buffer.from(text, 'latin1').toString('latin1');
}

const lengthField = '\r\ncontent-length:';

function findLength(bytes: Buffer): { lengthStart: number; lengthEnd: number } {
	const text = bytes.toString('latin1');
	const name = text.toLowerCase().indexOf(lengthField);
	if (name === -1) return { lengthStart: bytes.length, lengthEnd: bytes.length };
	let lengthStart = name + lengthField.length;
	while (bytes[lengthStart] === space) lengthStart += 1;
	let lengthEnd = lengthStart;
	while (isDigit(bytes[lengthEnd])) lengthEnd += 1;
	return { lengthStart, lengthEnd };
}

/** Compares bytes, so that no string is created and no field is checked again. */
function readAgain({ head, bytes: known, lengthStart, lengthEnd }: CachedEntry, bytes: Buffer): ReadHead | undefined {
	if (bytes.length < lengthStart || bytes.compare(known, 0, lengthStart, 0, lengthStart) !== 0) return undefined;
	if (lengthStart === known.length) return { ...head, isRepeated: true };
	let contentLength = 0;
	let end = lengthStart;
	for (let byte = bytes[end]; isDigit(byte); byte = bytes[++end]) contentLength = contentLength * 10 + byte - zero;
	const rest = known.length - lengthEnd;
	if (bytes.length < end + rest || bytes.compare(known, lengthEnd, known.length, end, end + rest) !== 0) return undefined;
	const isSame = contentLength === head.contentLength && end === lengthEnd;
	if (!isSame && !isSoundLength(head, bytes, lengthStart, end)) return undefined;
	return {
		method: head.method,
		url: head.url,
		rawHeaders: head.rawHeaders,
		headers: head.headers,
		contentLength,
		bytes: end + rest,
		isRepeated: true,
	};
}

/** True if the length is written in its canonical form and the method may have a body. */
function isSoundLength({ method }: SimpleRequestHead, bytes: Buffer, start: number, end: number): boolean {
	const digits = end - start;
	return method === 'POST' && digits > 0 && digits <= maxDigits && (digits === 1 || bytes[start] !== zero);
}

function isDigit(byte: number | undefined): byte is number {
	return byte !== undefined && byte >= zero && byte <= zero + 9;
}
