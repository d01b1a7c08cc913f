/**
 * Remembers what was found for a text. Bounded: when the younger half is full, the older one is forgotten; what is asked for
 * again moves to the younger.
 */
export class VerdictCache<Verdict> {
	readonly #halfSize: number;
	#young = new Map<string, Verdict>();
	#old = new Map<string, Verdict>();

	/** @param size texts remembered at most. */
	constructor(size: number) {
		this.#halfSize = Math.max(1, size >> 1);
	}

	get(text: string): Verdict | undefined {
		const young = this.#young.get(text);
		if (young !== undefined) return young;
		const old = this.#old.get(text);
		if (old !== undefined) this.set(text, old);
		return old;
	}

	set(text: string, verdict: Verdict): void {
		if (this.#young.size >= this.#halfSize) {
			this.#old = this.#young;
			this.#young = new Map();
		}
		this.#young.set(text, verdict);
	}

	get size(): number {
		return this.#young.size + this.#old.size;
	}
}
