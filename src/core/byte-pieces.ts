/** So many pieces are kept as they came before they are joined. */
const mostLoose = 1024;

/**
 * Gathers bytes that come in pieces. A piece costs some 400 bytes beside its own, so a sender of single bytes would
 * make a large thing of a small one: small pieces are joined in between.
 */
export class BytePieces {
	length = 0;
	#joined: Buffer[] = [];
	#loose: Buffer[] = [];

	push(piece: Buffer): void {
		this.length += piece.length;
		this.#loose.push(piece);
		if (this.#loose.length < mostLoose) return;
		this.#joined.push(Buffer.concat(this.#loose));
		this.#loose = [];
	}

	/** Everything so far, which is forgotten here. A single piece is given as it came. */
	take(): Buffer {
		const pieces = [...this.#joined, ...this.#loose];
		const [first] = pieces;
		const whole = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, this.length);
		this.length = 0;
		this.#joined = [];
		this.#loose = [];
		return whole;
	}
}
