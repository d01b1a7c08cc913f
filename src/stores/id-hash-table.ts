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

export interface Chained<Call> {
	readonly id: string;
	/** Maintained by the table. */
	next: Call | undefined;
}

const fewestRows = 16;

/**
 * Hash table by request id; entries of one bucket are chained. With constant additions and removals, a `Map` leaves an outgrown backing
 * table behind every few entries. Once such a table is in the old generation, it keeps its young entries and the next table alive until a
 * full collection.
 */
export class CallTable<Call extends Chained<Call>> {
	/** A power of two, at least as many as there are entries. */
	private rows = emptyRows<Call>(fewestRows);
	private size = 0;

	get(id: string): Call | undefined {
		let call = this.rows[this.rowOf(id)];
		while (call !== undefined && call.id !== id) call = call.next;
		return call;
	}

	/** Requires an id that is not in the table. */
	add(call: Call): void {
		if (this.size === this.rows.length) this.resize(2 * this.size);
		this.size++;
		this.hang(call);
	}

	remove(id: string): void {
		const row = this.rowOf(id);
		let before: Call | undefined;
		for (let call = this.rows[row]; call !== undefined; before = call, call = call.next) {
			if (call.id !== id) continue;
			if (before === undefined) this.rows[row] = call.next;
			else before.next = call.next;
			call.next = undefined;
			this.size--;
			if (this.rows.length > fewestRows && this.size < this.rows.length / 8) this.resize(this.rows.length / 2);
			return;
		}
	}

	/** Unordered; the table must not change during iteration. */
	*[Symbol.iterator](): Iterator<Call> {
		for (const first of this.rows) {
			for (let call = first; call !== undefined; call = call.next) yield call;
		}
	}

	private hang(call: Call): void {
		const row = this.rowOf(call.id);
		call.next = this.rows[row];
		this.rows[row] = call;
	}

	private rowOf(id: string): number {
		return markOf(id) & (this.rows.length - 1);
	}

	private resize(rows: number): void {
		const calls = [...this];
		this.rows = emptyRows(rows);
		for (const call of calls) this.hang(call);
	}
}

function emptyRows<Call>(count: number): (Call | undefined)[] {
	return Array.from({ length: count });
}
