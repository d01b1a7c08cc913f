/**
 * Aho-Corasick automaton over symbols below 32. Nodes are numbered level by level, so a node's children are adjacent and one bit mask lists
 * them: 16 bytes a node, for any alphabet.
 */

/** Number of openings, which are the nodes at the lowest depths. */
const maxOpenings = 4096;
/**
 * States of a beginning: no entry begins so; any entry may, because nothing was read yet; a complete entry, or a beginning longer than
 * openings.
 */
export const noOpening = 0;
export const anyOpening = 1;
export const lastOpening = maxOpenings + 1;
/** Nodes created between two pauses. */
const nodesPerStep = 1000;
/** Entries counted between two pauses. */
const entriesPerStep = 1000;

export class Automaton {
	/** Bit mask of the symbols with a child, by node. */
	readonly #masks: Int32Array;
	/** First child, by node. */
	readonly #firsts: Int32Array;
	/** Node of the longest proper suffix, by node. */
	readonly #fails: Int32Array;
	/** The node itself or its nearest suffix that ends entries, by node; 0 for none. */
	readonly #outputs: Int32Array;
	readonly #depths: Uint16Array;
	/** Index + 1 of the first entry that ends here, in the given order, by node; 0 for none. */
	readonly #entries: Int32Array;
	/** Next opening by opening and symbol. An opening is a beginning of entries; its number is that of its node + 1. */
	readonly openings: Uint16Array;
	/** First node of each depth, up to one more than the maximum depth. */
	readonly #levels: number[] = [0];

	private constructor(size: number) {
		this.#masks = new Int32Array(size);
		this.#firsts = new Int32Array(size);
		this.#fails = new Int32Array(size);
		this.#outputs = new Int32Array(size);
		this.#depths = new Uint16Array(size);
		this.#entries = new Int32Array(size);
		this.openings = new Uint16Array((Math.min(size, maxOpenings) + 1) * 32);
	}

	/** @param entries a character for each symbol; sorted, not empty, can have duplicates. Built in steps, because it can take long. */
	static *build(entries: readonly string[]): Generator<void, Automaton> {
		const size = 1 + (yield* countNodes(entries));
		yield;
		const automaton = new Automaton(size);
		yield;
		// Range of entries through each node.
		const lows = new Int32Array(size);
		const highs = new Int32Array(size);
		yield;
		highs[0] = entries.length;
		let made = 1;
		for (let node = 0; node < size; node++) {
			made = automaton.#makeChildren(node, made, entries, lows, highs);
			if (node % nodesPerStep === nodesPerStep - 1) yield;
		}
		automaton.#levels.push(size);
		automaton.#fillOpenings();
		return automaton;
	}

	/** Number of symbols of the longest entry. */
	get deepest(): number {
		return this.#levels.length - 2;
	}

	/**
	 * @param minDepth at most one more than the maximum depth.
	 * @returns the node after `symbol`; 0 if its depth is less than this minimum.
	 */
	step(node: number, symbol: number, minDepth: number): number {
		const masks = this.#masks;
		const min = this.#levels[minDepth - 1] as number;
		for (let from = node; from >= min; from = this.#fails[from] as number) {
			const mask = masks[from] as number;
			if (((mask >>> symbol) & 1) === 1) return (this.#firsts[from] as number) + countBits(mask & ((1 << symbol) - 1));
			if (from === 0) return 0;
		}
		return 0;
	}

	/** Returns the node itself or its longest suffix that ends entries; 0 for none. */
	outputOf(node: number): number {
		return this.#outputs[node] as number;
	}

	/** Returns the longest proper suffix. */
	failOf(node: number): number {
		return this.#fails[node] as number;
	}

	/** Returns the number of symbols from the root to the node. */
	depthOf(node: number): number {
		return this.#depths[node] as number;
	}

	/** Returns the first entry that ends here; others with the same symbols follow it. */
	entryOf(node: number): number {
		return (this.#entries[node] as number) - 1;
	}

	#makeChildren(node: number, made: number, entries: readonly string[], lows: Int32Array, highs: Int32Array): number {
		const depth = this.depthOf(node);
		const high = highs[node] as number;
		let low = lows[node] as number;
		// Sorted entries that end here come first.
		if (depth > 0 && entries[low]?.length === depth) {
			this.#entries[node] = low + 1;
			this.#outputs[node] = node;
			while (low < high && entries[low]?.length === depth) low++;
		} else if (depth > 0) {
			this.#outputs[node] = this.outputOf(this.failOf(node));
		}
		let child = made;
		this.#firsts[node] = child;
		while (low < high) {
			const symbol = entries[low]?.charCodeAt(depth) ?? 0;
			const end = endOfSymbol(entries, depth, symbol, low, high);
			this.#masks[node] = (this.#masks[node] as number) | (1 << symbol);
			this.#depths[child] = depth + 1;
			if (this.#levels.length === depth + 1) this.#levels.push(child);
			this.#fails[child] = node === 0 ? 0 : this.step(this.failOf(node), symbol, 1);
			lows[child] = low;
			highs[child] = end;
			child++;
			low = end;
		}
		return child;
	}

	#fillOpenings(): void {
		const count = this.openings.length / 32 - 1;
		for (let node = 0; node < count; node++) {
			let child = this.#firsts[node] as number;
			for (let symbol = 0; symbol < 32; symbol++) {
				if ((((this.#masks[node] as number) >>> symbol) & 1) === 0) continue;
				this.openings[((node + 1) << 5) | symbol] = child < count && this.#entries[child] === 0 ? child + 1 : lastOpening;
				child++;
			}
		}
	}
}

/** Counts nodes: each entry adds one for every symbol that it does not share with the previous one. */
function* countNodes(entries: readonly string[]): Generator<void, number> {
	let count = 0;
	let before = '';
	for (const [index, entry] of entries.entries()) {
		if (index % entriesPerStep === entriesPerStep - 1) yield;
		let shared = 0;
		while (shared < before.length && shared < entry.length && before[shared] === entry[shared]) shared++;
		count += entry.length - shared;
		before = entry;
	}
	return count;
}

/** Finds the end by bisection, because at the root there can be a hundred thousand sorted entries. */
function endOfSymbol(entries: readonly string[], depth: number, symbol: number, low: number, high: number): number {
	let min = low + 1;
	let max = high;
	while (min < max) {
		const middle = (min + max) >> 1;
		if (entries[middle]?.charCodeAt(depth) === symbol) min = middle + 1;
		else max = middle;
	}
	return min;
}

function countBits(mask: number): number {
	let bits = mask - ((mask >>> 1) & 0x55555555);
	bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
	return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
