/**
 * Follows the framing of a server-sent event stream in its bytes, however they were cut, without decoding them
 * (WHATWG HTML section 9.2.5: a line ends with LF, CR or CRLF, an event with an empty line).
 */

/** What a line says about the stream as a whole. */
export type LineMark = 'none' | 'terminal' | 'error';

/**
 * Judges one line, `bytes` from `start` to `end` without its terminator. Lines longer than
 * `markedLineBytes` may be given cut to that length.
 */
export type MarkLine = (bytes: Buffer, start: number, end: number) => LineMark;

/** A mark is recognised by at most so many first bytes of its line. */
export const markedLineBytes = 32;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export class EventBoundaries {
	/** The event that ends a complete answer was seen whole. */
	isTerminated = false;
	/** The provider told of an error in an event of its own. */
	hasFailed = false;

	readonly #markLine: MarkLine;
	/** First bytes of a line that began in an earlier chunk. Not of the runtime's pool, of which it would keep a part for as long as the stream. */
	readonly #lineHead = Buffer.alloc(markedLineBytes);
	#lineHeadLength = 0;
	#mark: LineMark = 'none';
	/** A CR ended the last chunk: an LF at the next one's start belongs to it. */
	#mayOweLineFeed = false;
	#isEventOpen = false;

	constructor(markLine: MarkLine) {
		this.#markLine = markLine;
	}

	/**
	 * @param ends receives the offset in `chunk` after each event that ended in it.
	 * @returns the last of them; 0 when no event ended.
	 */
	push(chunk: Buffer, ends: number[]): number {
		let start = 0;
		let boundary = 0;
		if (this.#mayOweLineFeed && chunk.length > 0) {
			this.#mayOweLineFeed = false;
			if (chunk[0] === lineFeed) {
				start = 1;
				if (!this.#isEventOpen) {
					boundary = 1;
					ends.push(1);
				}
			}
		}
		let nextLf = chunk.indexOf(lineFeed, start);
		let nextCr = chunk.indexOf(carriageReturn, start);
		while (nextLf !== -1 || nextCr !== -1) {
			const isCr = nextLf === -1 || (nextCr !== -1 && nextCr < nextLf);
			const end = isCr ? nextCr : nextLf;
			let next = end + 1;
			if (isCr) {
				if (next === chunk.length) this.#mayOweLineFeed = true;
				else if (chunk[next] === lineFeed) next++;
			}
			if (this.#closeLine(chunk, start, end)) {
				boundary = next;
				ends.push(next);
			}
			start = next;
			if (nextLf !== -1 && nextLf < start) nextLf = chunk.indexOf(lineFeed, start);
			if (nextCr !== -1 && nextCr < start) nextCr = chunk.indexOf(carriageReturn, start);
		}
		if (start < chunk.length) this.#keepLine(chunk, start, chunk.length);
		return boundary;
	}

	/** @returns whether the line was empty and ended an event. */
	#closeLine(chunk: Buffer, start: number, end: number): boolean {
		let mark: LineMark;
		if (this.#lineHeadLength > 0) {
			this.#keepLine(chunk, start, end);
			mark = this.#markLine(this.#lineHead, 0, this.#lineHeadLength);
			this.#lineHeadLength = 0;
		} else if (start === end) {
			this.#closeEvent();
			return true;
		} else {
			this.#isEventOpen = true;
			mark = this.#markLine(chunk, start, end);
		}
		if (mark !== 'none') this.#mark = mark;
		return false;
	}

	#keepLine(chunk: Buffer, start: number, end: number): void {
		this.#isEventOpen = true;
		this.#lineHeadLength += chunk.copy(this.#lineHead, this.#lineHeadLength, start, end);
	}

	#closeEvent(): void {
		if (this.#mark === 'terminal') this.isTerminated = true;
		else if (this.#mark === 'error') this.hasFailed = true;
		this.#mark = 'none';
		this.#isEventOpen = false;
	}
}

const space = 0x20;

/**
 * @returns the offset of the value in the line `name: value`, after the one space that may follow the colon;
 * -1 when the line is of another field.
 */
export function valueOffset(bytes: Buffer, start: number, end: number, nameWithColon: string): number {
	if (!startsWith(bytes, start, end, nameWithColon)) return -1;
	const offset = start + nameWithColon.length;
	return bytes[offset] === space && offset < end ? offset + 1 : offset;
}

/** `text` is ASCII. */
export function startsWith(bytes: Buffer, start: number, end: number, text: string): boolean {
	if (end - start < text.length) return false;
	for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false;
	return true;
}

/** Equal but for spaces at the line's end, with which some providers pad. */
export function equals(bytes: Buffer, start: number, end: number, text: string): boolean {
	let trimmedEnd = end;
	while (trimmedEnd > start && bytes[trimmedEnd - 1] === space) trimmedEnd--;
	return trimmedEnd - start === text.length && startsWith(bytes, start, end, text);
}
