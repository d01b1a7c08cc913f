const marked = 8;

/**
 * Hashes the last, random characters of an id to a number that few ids share, for maps by request. A map with string keys first interns
 * each new string in V8's string table, which costs more than the rest.
 */
export function markOf(id: string): number {
	let mark = 0;
	for (let place = Math.max(0, id.length - marked); place < id.length; place++) mark = (mark * 31 + id.charCodeAt(place)) | 0;
	return mark;
}

export interface Chained<Entry> {
	readonly id: string;
	/** Maintained by the table. */
	next: Entry | undefined;
}

const fewestRows = 16;

/**
 * Hash table by request id; entries of one bucket are chained. With constant additions and removals, a `Map` leaves an outgrown backing
 * table behind every few entries. Once such a table is in the old generation, it keeps its young entries and the next table alive until a
 * full collection.
 */
export class IdHashTable<Entry extends Chained<Entry>> {
	/** A power of two, at least as many as there are entries. */
	private rows = emptyRows<Entry>(fewestRows);
	private size = 0;

	get(id: string): Entry | undefined {
		let request = this.rows[this.rowOf(id)];
		while (request !== undefined && request.id !== id) request = request.next;
		return request;
	}

	/** Requires an id that is not in the table. */
	add(request: Entry): void {
		if (this.size === this.rows.length) this.resize(2 * this.size);
		this.size++;
		this.hang(request);
	}

	remove(id: string): void {
		const row = this.rowOf(id);
		let before: Entry | undefined;
		for (let request = this.rows[row]; request !== undefined; before = request, request = request.next) {
			if (request.id !== id) continue;
			if (before === undefined) this.rows[row] = request.next;
			else before.next = request.next;
			request.next = undefined;
			this.size--;
			if (this.rows.length > fewestRows && this.size < this.rows.length / 8) this.resize(this.rows.length / 2);
			return;
		}
	}

	/** Unordered; the table must not change during iteration. */
	*[Symbol.iterator](): Iterator<Entry> {
		for (const first of this.rows) {
			for (let request = first; request !== undefined; request = request.next) yield request;
		}
	}

	private hang(request: Entry): void {
		const row = this.rowOf(request.id);
		request.next = this.rows[row];
		this.rows[row] = request;
	}

	private rowOf(id: string): number {
		return markOf(id) & (this.rows.length - 1);
	}

	private resize(rows: number): void {
		const requests = [...this];
		this.rows = emptyRows(rows);
		for (const request of requests) this.hang(request);
	}
}

function emptyRows<Entry>(count: number): (Entry | undefined)[] {
	return Array.from({ length: count });
}
