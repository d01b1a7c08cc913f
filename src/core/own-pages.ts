const pageBytes = 4096;
/** Of larger ones, what lies beside them in the memory of the same read is worth no copy. */
const mostCopiedBytes = 2048;

/**
 * Where somebody keeps pieces of bytes beyond the turn of the loop in which they came. A small piece lies in memory that it shares with
 * other connections' pieces (`io/http1/shared-read-buffer.ts`), and would keep all of that; here it lies with the same keeper's others.
 */
export class OwnPages {
	#page: Buffer | undefined;
	#usedBytes = 0;

	/** @returns the same bytes, in memory that only this keeper's pieces hold on to. */
	keep(piece: Buffer): Buffer {
		if (piece.length > mostCopiedBytes) return piece;
		if (this.#page === undefined || this.#usedBytes + piece.length > pageBytes) {
			this.#page = Buffer.allocUnsafeSlow(pageBytes);
			this.#usedBytes = 0;
		}
		const start = this.#usedBytes;
		this.#usedBytes += piece.copy(this.#page, start);
		return this.#page.subarray(start, this.#usedBytes);
	}
}
