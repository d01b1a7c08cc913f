const marked = 8;

/**
 * A number that few ids share: what their last, random characters make. For maps by call: one that is asked for a text it has not met
 * enters it into the engine's table of names first, which costs more than the rest.
 */
export function markOf(id: string): number {
	let mark = 0;
	for (let place = Math.max(0, id.length - marked); place < id.length; place++) mark = (mark * 31 + id.charCodeAt(place)) | 0;
	return mark;
}

export interface Chained<Call> {
	readonly id: string;
	/** Kept by the table. */
	next: Call | undefined;
}

const fewestRows = 16;

/**
 * By id of call; those of one row hang on each other. No `Map`: where entries come and go, it leaves a table that it has outgrown behind
 * with every few of them, and such a table, once it is old, keeps the young calls in it and the next table alive until the whole heap is
 * collected.
 */
export class CallTable<Call extends Chained<Call>> {
	/** As many as a power of two, and at least as many as there are calls. */
	private rows = emptyRows<Call>(fewestRows);
	private size = 0;

	get(id: string): Call | undefined {
		let call = this.rows[this.rowOf(id)];
		while (call !== undefined && call.id !== id) call = call.next;
		return call;
	}

	/** None of that id is there. */
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

	/** In no order; to be read before any is added or removed. */
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
