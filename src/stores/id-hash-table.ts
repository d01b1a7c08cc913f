const marked = 8;

/**
 * Hashes the last, random characters of an id to a number that few ids share, for maps by request. A map with string keys first interns
 * each new string in V8's string table, which costs more than the rest.
 */
export function idHash(id: string): number {
	let mark = 0;
	for (let place = Math.max(0, id.length - marked); place < id.length; place++) mark = (mark * 31 + id.charCodeAt(place)) | 0;
	return mark;
}

export interface HashTableEntry<Entry> {
	readonly id: string;
	/** Maintained by the table. */
	next: Entry | undefined;
}

const minBuckets = 16;

/**
 * Hash table by request id; entries of one bucket are chained. With constant additions and removals, a `Map` leaves an outgrown backing
 * table behind every few entries. Once such a table is in the old generation, it keeps its young entries and the next table alive until a
 * full collection.
 */
export class IdHashTable<Entry extends HashTableEntry<Entry>> {
	/** A power of two, at least as many as there are entries. */
	private buckets = emptyBuckets<Entry>(minBuckets);
	private size = 0;

	get count(): number {
		return this.size;
	}

	get(id: string): Entry | undefined {
		let request = this.buckets[this.bucketOf(id)];
		while (request !== undefined && request.id !== id) request = request.next;
		return request;
	}

	/** Requires an id that is not in the table. */
	add(request: Entry): void {
		if (this.size === this.buckets.length) this.resize(2 * this.size);
		this.size++;
		this.link(request);
	}

	remove(id: string): void {
		const bucket = this.bucketOf(id);
		let before: Entry | undefined;
		for (let request = this.buckets[bucket]; request !== undefined; before = request, request = request.next) {
			if (request.id !== id) continue;
			if (before === undefined) this.buckets[bucket] = request.next;
			else before.next = request.next;
			request.next = undefined;
			this.size--;
			if (this.buckets.length > minBuckets && this.size < this.buckets.length / 8) this.resize(this.buckets.length / 2);
			return;
		}
	}

	/** Unordered; the table must not change during iteration. */
	*[Symbol.iterator](): Iterator<Entry> {
		for (const first of this.buckets) {
			for (let request = first; request !== undefined; request = request.next) yield request;
		}
	}

	private link(request: Entry): void {
		const bucket = this.bucketOf(request.id);
		request.next = this.buckets[bucket];
		this.buckets[bucket] = request;
	}

	private bucketOf(id: string): number {
		return idHash(id) & (this.buckets.length - 1);
	}

	private resize(buckets: number): void {
		const requests = [...this];
		this.buckets = emptyBuckets(buckets);
		for (const request of requests) this.link(request);
	}
}

function emptyBuckets<Entry>(count: number): (Entry | undefined)[] {
	return Array.from({ length: count });
}
