import { MalformedResponse } from './response-head.ts';

/** Bytes up to a mark, in pieces of which the first did not have it: each byte is looked at and copied once. */
export class PartialText {
	/** How many of the bytes that were added last belong to it. */
	used = 0;
	readonly #mark: string;
	readonly #kept: Buffer;
	#length = 0;

	constructor(mark: string, maxBytes: number) {
		this.#mark = mark;
		this.#kept = Buffer.allocUnsafe(maxBytes);
	}

	/** @returns all of it, with the mark, once that is there. @throws MalformedResponse when it is too long. */
	add(bytes: Buffer): Buffer | undefined {
		const before = this.#length;
		this.#length += bytes.copy(this.#kept, before);
		// The mark may have begun in an earlier piece.
		const at = this.#kept.subarray(0, this.#length).indexOf(this.#mark, Math.max(0, before - this.#mark.length), 'latin1');
		if (at === -1) {
			requireRoom(before + bytes.length, this.#kept.length);
			return undefined;
		}
		const end = at + this.#mark.length;
		this.used = end - before;
		return this.#kept.subarray(0, end);
	}

	/** What there is of it, as far as the given length. */
	startingWith(length: number): string {
		return this.#kept.toString('latin1', 0, Math.min(length, this.#length));
	}
}

/** @throws MalformedResponse */
export function requireRoom(bytes: number, maxBytes: number): void {
	if (bytes > maxBytes) throw new MalformedResponse(`The answer has a head, or a line between its chunks, of more than ${maxBytes} bytes`);
}
