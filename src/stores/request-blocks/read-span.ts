import { yieldToEventLoop } from '../../core/cooperative-task.ts';
import { firstIdOf, type RecordedRequest, type RequestScan, type RequestSpan } from '../contracts/request-records.ts';
import { type BlockReading, type BlockRef, blocksPerMs, maxMsOf } from './block-table.ts';
import { decompressBlock } from './block-text.ts';
import { RequestBlock } from './request-block.ts';

/** Bounds of one scan: its blocks are decoded in about 10 ms altogether. */
const maxRecordsPerScan = 4000;
const maxBlocksPerScan = 64;

/** Compressed blocks that contain every request of a part of the span, and others. */
export interface BlocksOfSpan {
	readonly blocks: readonly Uint8Array[];
	/** End of the part, exclusive. */
	readonly endMs: number;
	/** True if the part ends with the span, or with the last block. */
	readonly isLast: boolean;
}

/** Reads the blocks of the first part of a span. */
export async function readSpan(reading: BlockReading, { fromMs, toMs }: RequestSpan): Promise<BlocksOfSpan> {
	const found = await reading.from(fromMs * blocksPerMs, maxBlocksPerScan);
	const taken: BlockRef[] = [];
	let records = 0;
	for (const ref of found) {
		if (records >= maxRecordsPerScan) break;
		taken.push(ref);
		records += ref.count;
	}
	const last = taken.at(-1);
	const isWhole = last === undefined || (taken.length === found.length && found.length < maxBlocksPerScan);
	const endMs = isWhole ? toMs : Math.min(toMs, maxMsOf(last.id) + 1);
	const ids = new Set(taken.filter(({ minMs }) => minMs < endMs).map(({ id }) => id));
	// Blocks that the end divides.
	if (!isWhole) for (const { id } of await reading.around(endMs - 1, [])) ids.add(id);
	return { blocks: await reading.read([...ids]), endMs, isLast: isWhole || endMs >= toMs };
}

/** Decodes blocks, and yields to the event loop after each step. */
export async function scanBlocks({ blocks, endMs, isLast }: BlocksOfSpan, { fromMs }: RequestSpan): Promise<RequestScan> {
	const cursors: BlockCursor[] = [];
	for (const data of blocks) {
		const text = decompressBlock(data);
		await yieldToEventLoop();
		const block = new RequestBlock(text);
		await yieldToEventLoop();
		const cursor = new BlockCursor(block, firstIdOf(Math.max(0, fromMs)), firstIdOf(endMs));
		if (cursor.id !== undefined) cursors.push(cursor);
		await yieldToEventLoop();
	}
	return { requests: inOrder(cursors), nextMs: isLast ? null : endMs };
}

/** Position in a block, whose requests are visited in the order of their ids. */
class BlockCursor {
	id: string | undefined;
	readonly #block: RequestBlock;
	readonly #order: readonly { readonly id: string; readonly index: number }[];
	#position = 0;

	constructor(block: RequestBlock, fromId: string, toId: string) {
		this.#block = block;
		const wanted: { id: string; index: number }[] = [];
		let isSorted = true;
		let before = '';
		for (let index = 0; index < block.count; index++) {
			const id = block.idOf(index);
			if (id < fromId || id >= toId) continue;
			if (id < before) isSorted = false;
			before = id;
			wanted.push({ id, index });
		}
		this.#order = isSorted ? wanted : wanted.toSorted((one, other) => (one.id < other.id ? -1 : 1));
		this.id = this.#order[0]?.id;
	}

	take(): RecordedRequest {
		const request = this.#block.requestAt(this.#order[this.#position]?.index ?? 0);
		this.id = this.#order[++this.#position]?.id;
		return request;
	}
}

function* inOrder(cursors: BlockCursor[]): Generator<RecordedRequest, undefined> {
	for (;;) {
		let first: BlockCursor | undefined;
		for (const cursor of cursors) {
			if (cursor.id !== undefined && (first?.id === undefined || cursor.id < first.id)) first = cursor;
		}
		if (first === undefined) return;
		yield first.take();
	}
}
