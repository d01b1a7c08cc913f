const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const none = Buffer.alloc(0);

/**
 * Removes the byte order mark that a server may put before its first event. Clients differ in whether they ignore it or lose that event
 * (WHATWG HTML section 9.2.5 ignores it).
 */
export class ByteOrderMarkFilter {
	/** The first bytes of a mark, if it is one. */
	#pending: Buffer | undefined = none;

	/** @returns the chunk without a mark; nothing while fewer bytes have come than a mark has. */
	push(chunk: Buffer): Buffer {
		if (this.#pending === undefined) return chunk;
		if (this.#pending.length === 0 && chunk.length > 0 && chunk[0] !== mark[0]) {
			this.#pending = undefined;
			return chunk;
		}
		const bytes = Buffer.concat([this.#pending, chunk]);
		if (bytes.length < mark.length && mark.subarray(0, bytes.length).equals(bytes)) {
			this.#pending = bytes;
			return none;
		}
		this.#pending = undefined;
		return bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes;
	}
}
