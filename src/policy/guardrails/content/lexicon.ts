/** Which classes a word belongs to, by its hash: open addressing in one array, for most words miss. */
export class Lexicon {
	/** Hash and classes in turn; no classes, no entry. */
	readonly #slots: Int32Array;
	readonly #mask: number;

	constructor(hashes: Int32Array, classes: Uint32Array) {
		let size = 64;
		while (size < hashes.length * 4) size *= 2;
		this.#slots = new Int32Array(size * 2);
		this.#mask = size - 1;
		for (const [index, hash] of hashes.entries()) {
			let at = hash & this.#mask;
			while (this.#slots[at * 2 + 1] !== 0) at = (at + 1) & this.#mask;
			this.#slots[at * 2] = hash;
			this.#slots[at * 2 + 1] = classes[index] ?? 0;
		}
	}

	/** A bit for each class; 0 for a word of none. */
	classesOf(hash: number): number {
		const slots = this.#slots;
		let at = hash & this.#mask;
		for (;;) {
			const classes = slots[at * 2 + 1] ?? 0;
			if (classes === 0 || slots[at * 2] === hash) return classes;
			at = (at + 1) & this.#mask;
		}
	}
}
