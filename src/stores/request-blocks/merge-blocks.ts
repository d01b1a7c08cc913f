import type { RecordedRequest } from '../contracts/request-records.ts';
import { BlockBuilder, type BuiltBlock } from './block-builder.ts';
import type { NewBlock } from './block-table.ts';
import { compressBlock, decompressBlock, hashKey } from './block-text.ts';
import { RequestBlock } from './request-block.ts';
import { maxRecordsPerBlock } from './request-record-queue.ts';

/** Loose blocks wait until so many can be merged, and a merge reads at most so many records: a few ten milliseconds. */
export const minBlocksPerMerge = 32;
const maxRecordsPerMerge = 8000;

/** @param loose oldest first. @returns those to merge now; empty if there are too few. */
export function blocksToMerge<Loose extends { readonly count: number }>(loose: readonly Loose[]): readonly Loose[] {
	if (loose.length < minBlocksPerMerge) return [];
	let records = 0;
	return loose.filter(({ count }) => {
		records += count;
		return records <= maxRecordsPerMerge;
	});
}

export function packBlock({ count, minMs, maxMs, text, keys }: BuiltBlock): NewBlock {
	return { count, minMs, maxMs, keys: [...new Set(keys.map(hashKey))], data: compressBlock(text) };
}

/** Sorts the records of several blocks into as few as possible, each of which covers little time. */
export function mergeBlocks(data: readonly Uint8Array[]): NewBlock[] {
	const requests: RecordedRequest[] = [];
	for (const one of data) {
		const block = new RequestBlock(decompressBlock(one));
		for (let index = 0; index < block.count; index++) requests.push(block.requestAt(index));
	}
	const sorted = requests.toSorted((one, other) => (one.id < other.id ? -1 : 1));
	const merged: NewBlock[] = [];
	for (let start = 0; start < sorted.length; start += maxRecordsPerBlock) {
		const builder = new BlockBuilder();
		for (const request of sorted.slice(start, start + maxRecordsPerBlock)) builder.add(request);
		merged.push(packBlock(builder.build()));
	}
	return merged;
}

const bytesPerKey = 6;

export function packKeys(keys: readonly number[]): Uint8Array {
	const packed = Buffer.alloc(keys.length * bytesPerKey);
	for (const [index, key] of keys.entries()) packed.writeUIntBE(key, index * bytesPerKey, bytesPerKey);
	return packed;
}

export function unpackKeys(packed: Uint8Array): number[] {
	const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
	return Array.from({ length: bytes.length / bytesPerKey }, (_, index) => bytes.readUIntBE(index * bytesPerKey, bytesPerKey));
}
