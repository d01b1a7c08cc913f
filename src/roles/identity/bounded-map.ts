/** A map that forgets its oldest entry when it is full; an entry that is set again is young again. */
export class BoundedMap<Key, Value> {
	readonly #entries = new Map<Key, Value>();
	readonly #capacity: number;

	constructor(capacity: number) {
		this.#capacity = capacity;
	}

	get(key: Key): Value | undefined {
		return this.#entries.get(key);
	}

	has(key: Key): boolean {
		return this.#entries.has(key);
	}

	set(key: Key, value: Value): void {
		this.#entries.delete(key);
		this.#entries.set(key, value);
		if (this.#entries.size <= this.#capacity) return;
		const [oldest] = this.#entries.keys();
		if (oldest !== undefined) this.#entries.delete(oldest);
	}

	delete(key: Key): void {
		this.#entries.delete(key);
	}

	get size(): number {
		return this.#entries.size;
	}
}
