/** Set of address ranges, sorted and merged: bisection finds an address, without allocation for IPv4. */
import { parseIpAddress } from './ip-address.ts';
import type { SourceKey } from './source-key.ts';

export interface IpRange {
	readonly family: 4 | 6;
	readonly first: bigint;
	readonly last: bigint;
}

const ipv4High = 0xffff_ffff;

export class IpRangeSet {
	readonly #v4First: Uint32Array;
	readonly #v4Last: Uint32Array;
	readonly #v6First: BigUint64Array;
	readonly #v6Last: BigUint64Array;

	constructor(ranges: readonly IpRange[]) {
		const v4 = merged(ranges.filter(({ family }) => family === 4));
		this.#v4First = Uint32Array.from(v4, ({ first }) => Number(first));
		this.#v4Last = Uint32Array.from(v4, ({ last }) => Number(last));
		const v6 = merged(ranges.filter(({ family }) => family === 6));
		// Two halves of 64 bits each, the upper before the lower.
		this.#v6First = BigUint64Array.from(v6.flatMap(({ first }) => [first >> 64n, first & 0xffff_ffff_ffff_ffffn]));
		this.#v6Last = BigUint64Array.from(v6.flatMap(({ last }) => [last >> 64n, last & 0xffff_ffff_ffff_ffffn]));
	}

	/** Number of ranges after merging. */
	get size(): number {
		return this.#v4First.length + this.#v6First.length / 2;
	}

	/**
	 * @param source the address as a key, which is always computed before.
	 * @param address as text; read only if it is IPv6 and the set has IPv6 ranges.
	 */
	includes(source: SourceKey, address: string): boolean {
		if (source.high === ipv4High) return this.#includesV4(source.low);
		return this.#v6First.length > 0 && this.#includesV6(address);
	}

	#includesV4(bits: number): boolean {
		let low = 0;
		let high = this.#v4First.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if ((this.#v4First[middle] ?? 0) <= bits) low = middle + 1;
			else high = middle;
		}
		return low > 0 && bits <= (this.#v4Last[low - 1] ?? 0);
	}

	#includesV6(address: string): boolean {
		const parsed = parseIpAddress(address);
		if (parsed === undefined || parsed.family === 4) return false;
		const upper = parsed.bits >> 64n;
		const lower = parsed.bits & 0xffff_ffff_ffff_ffffn;
		let low = 0;
		let high = this.#v6First.length / 2;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (compare(this.#v6First, middle, upper, lower) <= 0) low = middle + 1;
			else high = middle;
		}
		return low > 0 && compare(this.#v6Last, low - 1, upper, lower) >= 0;
	}
}

/** Compares the bound at `index` with an address. */
function compare(bounds: BigUint64Array, index: number, upper: bigint, lower: bigint): number {
	const boundUpper = bounds[2 * index] ?? 0n;
	if (boundUpper !== upper) return boundUpper < upper ? -1 : 1;
	const boundLower = bounds[2 * index + 1] ?? 0n;
	if (boundLower === lower) return 0;
	return boundLower < lower ? -1 : 1;
}

/** Sorts the ranges, and merges neighbours and overlaps. */
function merged(ranges: readonly IpRange[]): IpRange[] {
	const result: IpRange[] = [];
	for (const range of ranges.toSorted((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)))) {
		const before = result.at(-1);
		if (before === undefined || range.first > before.last + 1n) result.push(range);
		else if (range.last > before.last) result[result.length - 1] = { ...before, last: range.last };
	}
	return result;
}
