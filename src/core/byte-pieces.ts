/** Number of pieces that are stored as they arrived before they are joined. */
const maxLoose = 1024;

/** Bytes from which a body of known length gets its memory at once. Below it, both ways are cheap. */
const worthPlacing = 262_144;

/**
 * Gathers bytes that arrive in pieces. A piece costs about 400 bytes of overhead, so a sender of single bytes could inflate a small body.
 * Small pieces are therefore joined along the way.
 */
export class BytePieces {
	length = 0;
	readonly #expectedLength: number;
	/** The first piece while it is the only one, which is the usual case. */
	#only: Buffer | undefined;
	/** Memory for a large body, allocated at once: the pieces and the joined body never exist together. */
	#whole: Buffer | undefined;
	#joined: Buffer[] | undefined;
	#loose: Buffer[] | undefined;
	#pages: Arena | undefined;

	/** @param expectedLength the announced length, if any; the actual length may be smaller or larger. */
	constructor(expectedLength = 0) {
		this.#expectedLength = expectedLength;
	}

	/** True if each piece is copied, so that its memory may be reused. */
	get copies(): boolean {
		return this.#expectedLength >= worthPlacing;
	}

	push(piece: Buffer): void {
		const before = this.length;
		this.length += piece.length;
		if (before === 0) this.#begin(piece);
		else if (this.#whole !== undefined && this.length <= this.#whole.length) piece.copy(this.#whole, before);
		else this.#keep(this.copies ? Buffer.from(piece) : piece, before);
	}

	/** Returns all bytes so far and clears them. A single piece is returned as it arrived unless it was copied. */
	take(): Buffer {
		const whole = this.#only ?? this.#whole?.subarray(0, this.length) ?? this.#concat();
		this.length = 0;
		this.#only = undefined;
		this.#whole = undefined;
		this.#joined = undefined;
		this.#loose = undefined;
		this.#pages = undefined;
		return whole;
	}

	#begin(piece: Buffer): void {
		if (!this.copies) {
			this.#only = piece;
			return;
		}
		this.#whole = Buffer.allocUnsafeSlow(Math.max(this.#expectedLength, piece.length));
		piece.copy(this.#whole);
	}

	#keep(piece: Buffer, before: number): void {
		const first = this.#only ?? this.#whole?.subarray(0, before);
		this.#loose ??= [];
		this.#pages ??= new Arena();
		const [loose, pages] = [this.#loose, this.#pages];
		if (first !== undefined) loose.push(pages.keep(first));
		this.#only = undefined;
		this.#whole = undefined;
		loose.push(pages.keep(piece));
		if (loose.length < maxLoose) return;
		(this.#joined ??= []).push(Buffer.concat(loose));
		this.#loose = undefined;
	}

	#concat(): Buffer {
		return Buffer.concat([...(this.#joined ?? []), ...(this.#loose ?? [])], this.length);
	}
}

const pageBytes = 4096;
/** Pieces above this size are not copied: the rest of their read buffer is small by comparison. */
const maxCopiedBytes = 2048;

/**
 * Stores pieces of bytes beyond the tick in which they arrived. A small piece shares its memory with pieces of other connections
 * (`io/http1/shared-read-buffer.ts`) and would retain all of it. A copy shares memory only with other pieces of the same owner.
 */
export class Arena {
	#page: Buffer | undefined;
	#usedBytes = 0;

	/** @returns the same bytes, in memory that only pieces of this owner retain. */
	keep(piece: Buffer): Buffer {
		if (piece.length > maxCopiedBytes) return piece;
		if (this.#page === undefined || this.#usedBytes + piece.length > pageBytes) {
			this.#page = Buffer.allocUnsafeSlow(pageBytes);
			this.#usedBytes = 0;
		}
		const start = this.#usedBytes;
		this.#usedBytes += piece.copy(this.#page, start);
		return this.#page.subarray(start, this.#usedBytes);
	}
}
