import { Arena } from '../../core/byte-pieces.ts';

/** Keeps the last bytes of a stream. */
export class RecentBytes {
	readonly #minBytes: number;
	readonly #chunks: Buffer[] = [];
	readonly #pages = new Arena();
	#length = 0;

	/** @param minBytes minimum number of bytes to keep. */
	constructor(minBytes: number) {
		this.#minBytes = minBytes;
	}

	push(chunk: Buffer): void {
		this.#chunks.push(this.#pages.keep(chunk));
		this.#length += chunk.length;
		for (let oldest = this.#chunks[0]; oldest !== undefined && this.#length - oldest.length >= this.#minBytes; oldest = this.#chunks[0]) {
			this.#chunks.shift();
			this.#length -= oldest.length;
		}
	}

	read(): Buffer {
		return Buffer.concat(this.#chunks, this.#length);
	}
}
