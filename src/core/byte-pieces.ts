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
	/** The first piece, as long as it is all there is: mostly it is all there ever is. */
	#only: Buffer | undefined;
	/** Where a large whole is put together at once: its pieces and itself are never both there. */
	#whole: Buffer | undefined;
	#joined: Buffer[] | undefined;
	#loose: Buffer[] | undefined;
	#pages: OwnPages | undefined;

	/** @param expectedLength what was announced, where it was; more or less may come. */
	constructor(expectedLength = 0) {
		this.#expectedLength = expectedLength;
	}

	/** Every piece is copied to its place in memory that is there already. */
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

	/** Everything so far, which is forgotten here. A single piece is given as it came unless it was copied. */
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
		this.#pages ??= new OwnPages();
		const [loose, pages] = [this.#loose, this.#pages];
		if (first !== undefined) loose.push(pages.keep(first));
		this.#only = undefined;
		this.#whole = undefined;
		loose.push(pages.keep(piece));
		if (loose.length < mostLoose) return;
		(this.#joined ??= []).push(Buffer.concat(loose));
		this.#loose = undefined;
	}

	#concat(): Buffer {
		return Buffer.concat([...(this.#joined ?? []), ...(this.#loose ?? [])], this.length);
	}
}

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
