/** So many pieces are kept as they came before they are joined. */
const mostLoose = 1024;

/** Of smaller ones both are cheap. */
const worthPlacing = 262_144;

/**
 * Gathers bytes that come in pieces. A piece costs some 400 bytes beside its own, so a sender of single bytes would
 * make a large thing of a small one: small pieces are joined in between.
 */
export class BytePieces {
	length = 0;
	readonly #expectedLength: number;
	/** Where a large whole is put together at once: its pieces and itself are never both there. */
	#whole: Buffer | undefined;
	#joined: Buffer[] = [];
	#loose: Buffer[] = [];

	/** @param expectedLength what was announced, where it was; more or less may come. */
	constructor(expectedLength = 0) {
		this.#expectedLength = expectedLength;
	}

	push(piece: Buffer): void {
		if (this.length === 0 && this.#expectedLength >= worthPlacing) this.#whole = Buffer.allocUnsafeSlow(this.#expectedLength);
		if (this.#whole !== undefined && this.length + piece.length <= this.#whole.length) {
			this.length += piece.copy(this.#whole, this.length);
			return;
		}
		this.#giveUpWhole();
		this.length += piece.length;
		this.#loose.push(piece);
		if (this.#loose.length < mostLoose) return;
		this.#joined.push(Buffer.concat(this.#loose));
		this.#loose = [];
	}

	/** Everything so far, which is forgotten here. A single piece is given as it came. */
	take(): Buffer {
		this.#giveUpWhole();
		const pieces = [...this.#joined, ...this.#loose];
		const [first] = pieces;
		const whole = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, this.length);
		this.length = 0;
		this.#joined = [];
		this.#loose = [];
		return whole;
	}

	#giveUpWhole(): void {
		if (this.#whole === undefined) return;
		this.#joined.push(this.#whole.subarray(0, this.length));
		this.#whole = undefined;
	}
}
