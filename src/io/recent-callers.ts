import type { Caller } from '../core/caller.ts';

interface Entry {
	readonly caller: Caller;
	readonly usableUntilSeconds: number;
}

/** Callers of the access tokens seen lately, by digest. When full, those not asked for longest are forgotten. */
export class RecentCallers {
	readonly #capacity: number;
	/** In order of use: a map iterates in the order of insertion. */
	readonly #entries = new Map<string, Entry>();

	constructor(capacity: number) {
		this.#capacity = capacity;
	}

	get size(): number {
		return this.#entries.size;
	}

	get(digest: string, nowSeconds: number): Caller | undefined {
		const entry = this.#entries.get(digest);
		if (entry === undefined) return undefined;
		this.#entries.delete(digest);
		if (nowSeconds >= entry.usableUntilSeconds) return undefined;
		this.#entries.set(digest, entry);
		return entry.caller;
	}

	add(digest: string, caller: Caller, usableUntilSeconds: number): void {
		if (this.#capacity === 0) return;
		if (this.#entries.size >= this.#capacity) this.#forgetOldest();
		this.#entries.set(digest, { caller, usableUntilSeconds });
	}

	clear(): void {
		this.#entries.clear();
	}

	/** Several at once: a map steps over what was deleted before each time its oldest is looked for. */
	#forgetOldest(): void {
		let left = Math.ceil(this.#capacity / 16);
		for (const digest of this.#entries.keys()) {
			if (left-- === 0) return;
			this.#entries.delete(digest);
		}
	}
}
