/**
 * A map that evicts its oldest entries when a new one does not fit. Setting an entry again makes it the newest. An entry heavier than the
 * whole capacity is not stored.
 */
export class BoundedMap<Key, Value extends object | string | number | boolean> {
	/** Ordered by age: a map iterates in the order of insertion. */
	readonly #entries = new Map<Key, Value>();
	readonly #capacity: number;
	readonly #weigh: (value: Value) => number;
	#weight = 0;

	/**
	 * @param weigh returns the part of the capacity that an entry uses, always the same for an entry. By default the capacity is a number of
	 * entries.
	 */
	constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
		this.#capacity = capacity;
		this.#weigh = weigh;
	}

	get size(): number {
		return this.#entries.size;
	}

	get(key: Key): Value | undefined {
		return this.#entries.get(key);
	}

	has(key: Key): boolean {
		return this.#entries.has(key);
	}

	/** Iterates from the oldest entry. */
	entries(): IterableIterator<[Key, Value]> {
		return this.#entries.entries();
	}

	set(key: Key, value: Value): void {
		this.delete(key);
		const weight = this.#weigh(value);
		if (weight > this.#capacity) return;
		if (this.#weight + weight > this.#capacity) this.#forgetOldest(weight);
		this.#entries.set(key, value);
		this.#weight += weight;
	}

	delete(key: Key): void {
		const value = this.#entries.get(key);
		if (value === undefined) return;
		this.#entries.delete(key);
		this.#weight -= this.#weigh(value);
	}

	clear(): void {
		this.#entries.clear();
		this.#weight = 0;
	}

	/** Evicts a sixteenth at once, because a map skips over its deleted entries on every search for the oldest. */
	#forgetOldest(neededWeight: number): void {
		const weightToKeep = this.#capacity - Math.max(neededWeight, this.#capacity / 16);
		for (const key of this.#entries.keys()) {
			if (this.#weight <= weightToKeep) return;
			this.delete(key);
		}
	}
}

/** Memoizes `find` for the latest `capacity` keys. For texts that clients choose, such as model names. */
export function memoize<Value>(capacity: number, find: (key: string) => Value): (key: string) => Value {
	const found = new BoundedMap<string, { readonly value: Value }>(capacity);
	return (key) => {
		let known = found.get(key);
		if (known === undefined) {
			known = { value: find(key) };
			found.set(key, known);
		}
		return known.value;
	};
}
