import { BoundedMap } from '../core/bounded-map.ts';
import type { Caller } from '../core/caller.ts';

interface Entry {
	readonly caller: Caller;
	readonly usableUntilSeconds: number;
	/** When it was put in its place among the others. */
	placedSeconds: number;
}

/** Callers of the access tokens seen lately, by digest. When full, those not asked for longest are forgotten. */
export class RecentCallers {
	/** Those that are asked for are set again, once a second at most: the oldest are those not asked for longest. */
	readonly #entries: BoundedMap<string, Entry>;

	constructor(capacity: number) {
		this.#entries = new BoundedMap(capacity);
	}

	get size(): number {
		return this.#entries.size;
	}

	get(digest: string, nowSeconds: number): Caller | undefined {
		const entry = this.#entries.get(digest);
		if (entry === undefined) return undefined;
		if (nowSeconds >= entry.usableUntilSeconds) {
			this.#entries.delete(digest);
			return undefined;
		}
		if (nowSeconds - entry.placedSeconds >= 1) {
			entry.placedSeconds = nowSeconds;
			this.#entries.set(digest, entry);
		}
		return entry.caller;
	}

	add(digest: string, caller: Caller, usableUntilSeconds: number, nowSeconds: number): void {
		this.#entries.set(digest, { caller, usableUntilSeconds, placedSeconds: nowSeconds });
	}

	clear(): void {
		this.#entries.clear();
	}
}
