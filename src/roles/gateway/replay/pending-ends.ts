export interface Ending {
	readonly endMs: number;
}

/** Ends of in-flight requests, the earliest first: a binary heap. */
export class PendingEnds<End extends Ending> {
	readonly #heap: End[] = [];

	add(end: End): void {
		const heap = this.#heap;
		let position = heap.push(end) - 1;
		while (position > 0) {
			const parent = (position - 1) >> 1;
			const above = heap[parent];
			if (above === undefined || above.endMs <= end.endMs) break;
			heap[position] = above;
			position = parent;
		}
		heap[position] = end;
	}

	/** Removes the earliest end until a time, inclusive. */
	takeUntil(nowMs: number): End | undefined {
		const heap = this.#heap;
		const first = heap[0];
		if (first === undefined || first.endMs > nowMs) return undefined;
		const last = heap.pop();
		if (last !== undefined && heap.length > 0) this.#sink(last);
		return first;
	}

	/** Puts an end at the root, and moves it down to its place. */
	#sink(end: End): void {
		const heap = this.#heap;
		let position = 0;
		for (;;) {
			let child = 2 * position + 1;
			const left = heap[child];
			const right = heap[child + 1];
			if (left !== undefined && right !== undefined && right.endMs < left.endMs) child++;
			const below = heap[child];
			if (below === undefined || below.endMs >= end.endMs) break;
			heap[position] = below;
			position = child;
		}
		heap[position] = end;
	}
}
