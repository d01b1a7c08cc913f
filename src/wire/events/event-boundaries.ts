/**
 * Follows the framing of a server-sent event stream in its bytes, however they are split, without decoding them. WHATWG HTML section 9.2.5:
 * a line ends with LF, CR or CRLF, an event with an empty line.
 */

/** Meaning of a line for the whole stream. */
export type LineMark = 'none' | 'terminal' | 'error';

/**
 * Judges one line, `bytes` from `start` to `end` without its terminator. Lines longer than `markedLineBytes` may be truncated to that
 * length.
 */
export type MarkLine = (bytes: Buffer, start: number, end: number) => LineMark;

/** Maximum number of leading bytes of a line by which a mark is recognised. */
export const markedLineBytes = 32;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export class EventBoundaries {
	/** True once the terminal event of a complete response was read completely. */
	isTerminated = false;
	/** True once the provider reported an error in a separate event. */
	hasFailed = false;

	readonly #markLine: MarkLine;
	/**
	 * First bytes of a line that began in an earlier chunk. Not allocated from the runtime's pool, because it would retain a part of it as
	 * long as the stream.
	 */
	readonly #lineHead = Buffer.alloc(markedLineBytes);
	#lineHeadLength = 0;
	#mark: LineMark = 'none';
	/** The last chunk ended with CR: a leading LF in the next one belongs to it. */
	#owesLineFeed = false;
	#isEventOpen = false;

	constructor(markLine: MarkLine) {
		this.#markLine = markLine;
	}

	/**
	 * @param ends receives the offset in `chunk` after each event that ended in it.
	 * @returns the last of them; 0 if no event ended.
	 */
	push(chunk: Buffer, ends: number[]): number {
		let start = 0;
		let boundary = 0;
		if (this.#owesLineFeed && chunk.length > 0) {
			this.#owesLineFeed = false;
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
				if (next === chunk.length) this.#owesLineFeed = true;
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

	/** @returns true if the line was empty and ended an event. */
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
 * -1 if the line has another field.
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

/** True if equal except for trailing spaces, with which some providers pad lines. */
export function equals(bytes: Buffer, start: number, end: number, text: string): boolean {
	let trimmedEnd = end;
	while (trimmedEnd > start && bytes[trimmedEnd - 1] === space) trimmedEnd--;
	return trimmedEnd - start === text.length && startsWith(bytes, start, end, text);
}
