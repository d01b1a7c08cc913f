/** A map that forgets its oldest entries when their sizes exceed its capacity; an entry that is set again is young again. */
export class BoundedMap<Key, Value> {
	readonly #entries = new Map<Key, { readonly value: Value; readonly size: number }>();
	readonly #capacity: number;
	#size = 0;

	constructor(capacity: number) {
		this.#capacity = capacity;
	}

	get(key: Key): Value | undefined {
		return this.#entries.get(key)?.value;
	}

	set(key: Key, value: Value, size = 1): void {
		this.delete(key);
		this.#entries.set(key, { value, size });
		this.#size += size;
		for (const oldest of this.#entries.keys()) {
			if (this.#size <= this.#capacity) return;
			this.delete(oldest);
		}
	}

	delete(key: Key): void {
		const entry = this.#entries.get(key);
		if (entry === undefined) return;
		this.#entries.delete(key);
		this.#size -= entry.size;
	}
}
