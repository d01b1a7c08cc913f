/** Table of compressed blocks, and an index of their keys. Backends implement it; pages, merging and retention are shared. */

/**
 * Blocks are ordered by the last start of their requests: an id is that time and a sequence number. It stays below 2^53 until the year
 * 2109.
 */
export const blocksPerMs = 2048;

export function maxMsOf(blockId: number): number {
	return Math.floor(blockId / blocksPerMs);
}

/**
 * Upper bounds of the time that a block covers. Blocks of each span have an index by their end, so that those which contain a moment are
 * found without a scan.
 */
const spansMs = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 10_000_000_000_000] as const;

export function spanOf(minMs: number, maxMs: number): number {
	return spansMs.find((span) => maxMs - minMs <= span) ?? 10_000_000_000_000;
}

export const allSpansMs: readonly number[] = spansMs;

const minWholeCount = 500;

/** Small blocks wait to be merged. So do wide ones, once: records of a slow system cover much time in any block. */
export function isLoose({ count, minMs, maxMs }: Pick<NewBlock, 'count' | 'minMs' | 'maxMs'>, isMerged: boolean): boolean {
	return count < minWholeCount || (!isMerged && spanOf(minMs, maxMs) > spansMs[0]);
}

export interface BlockRef {
	readonly id: number;
	readonly minMs: number;
	readonly count: number;
}

export interface NewBlock {
	readonly count: number;
	readonly minMs: number;
	readonly maxMs: number;
	/** Hashes of its keys, each once. */
	readonly keys: readonly number[];
	/** Compressed text. */
	readonly data: Uint8Array;
}

/** Reads of one snapshot. */
export interface BlockReading {
	/** Returns blocks with all keys whose span contains the moment. */
	around(ms: number, keys: readonly number[]): Promise<readonly BlockRef[]>;
	/** Returns blocks with all keys and an id in the range, exclusive above, newest first. */
	before(beforeId: number, fromId: number, keys: readonly number[], limit: number): Promise<readonly BlockRef[]>;
	/** Returns blocks from an id on, oldest first. */
	from(fromId: number, limit: number): Promise<readonly BlockRef[]>;
	/** Returns the compressed texts of blocks, in this order. */
	read(ids: readonly number[]): Promise<readonly Uint8Array[]>;
}
