/** Who is in a list of what is open: it knows its place there, which the list keeps; -1 in none. */
export interface Listed {
	listIndex: number;
}

/**
 * What comes and goes with each call, in no order. No `Set`: of one in which entries come and go, tables that it has outgrown keep young
 * entries and each other alive until the whole heap is collected.
 */
export class OpenList<Entry extends Listed> {
	readonly #entries: Entry[] = [];

	get size(): number {
		return this.#entries.length;
	}

	/** Unless it is in a list. */
	add(entry: Entry): void {
		if (entry.listIndex === -1) entry.listIndex = this.#entries.push(entry) - 1;
	}

	/** If it is in this one. */
	remove(entry: Entry): void {
		const { listIndex: index } = entry;
		if (this.#entries[index] !== entry) return;
		entry.listIndex = -1;
		const last = this.#entries.pop();
		if (last === undefined || last === entry) return;
		this.#entries[index] = last;
		last.listIndex = index;
	}

	/** Visits each that is there; who is visited may leave, and take others along: then one may be visited twice. */
	each(visit: (entry: Entry) => void): void {
		// Backwards: a removal fills its place from the part that has been seen.
		for (let index = this.#entries.length - 1; index >= 0; index--) {
			const entry = this.#entries[index];
			if (entry !== undefined) visit(entry);
		}
	}

	/** Takes one out. */
	pop(): Entry | undefined {
		const entry = this.#entries.pop();
		if (entry !== undefined) entry.listIndex = -1;
		return entry;
	}
}
