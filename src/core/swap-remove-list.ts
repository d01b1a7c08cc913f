/** Entry of an `SwapRemoveList`, which stores the entry's index in it; -1 outside any list. */
export interface Listed {
	listIndex: number;
}

/**
 * Unordered list of entries that live as long as a request. Not a `Set`: under churn, its outgrown tables and young entries keep each other
 * alive until a full garbage collection.
 */
export class SwapRemoveList<Entry extends Listed> {
	readonly #entries: Entry[] = [];

	get size(): number {
		return this.#entries.length;
	}

	/** Adds an entry unless it is in a list. */
	add(entry: Entry): void {
		if (entry.listIndex === -1) entry.listIndex = this.#entries.push(entry) - 1;
	}

	/** Removes an entry if it is in this list. */
	remove(entry: Entry): void {
		const { listIndex: index } = entry;
		if (this.#entries[index] !== entry) return;
		entry.listIndex = -1;
		const last = this.#entries.pop();
		if (last === undefined || last === entry) return;
		this.#entries[index] = last;
		last.listIndex = index;
	}

	/** Visits each entry. A visited entry may remove itself and others; then another entry may be visited twice. */
	each(visit: (entry: Entry) => void): void {
		// Backwards, because a removal fills the gap with an entry that was already visited.
		for (let index = this.#entries.length - 1; index >= 0; index--) {
			const entry = this.#entries[index];
			if (entry !== undefined) visit(entry);
		}
	}

	/** Removes one entry and returns it. */
	pop(): Entry | undefined {
		const entry = this.#entries.pop();
		if (entry !== undefined) entry.listIndex = -1;
		return entry;
	}
}
