import {
	firstIdOf,
	type RecordedRequest,
	type RequestPage,
	type RequestQuery,
	requireRequestCursor,
	startedMsOf,
} from '../contracts/request-records.ts';
import { type BlockReading, type BlockRef, blocksPerMs, maxMsOf } from './block-table.ts';
import { decompressBlock, keysOf } from './block-text.ts';
import { RequestBlock } from './request-block.ts';

/** Bounds of a page's reads, after which it is returned with fewer records: about 50 ms. */
const maxRecordsRead = 24_000;
const maxBlocksRead = 400;
const blocksAtOnce = 64;
/** Blocks whose data are read at once: a page often needs only one, and each read of a server costs a round trip. */
const dataAtOnce = 4;
const dividedAtOnce = 16;

interface Match {
	readonly id: string;
	readonly block: RequestBlock;
	readonly index: number;
}

/** Lists requests from blocks, newest first. @throws RangeError for a cursor that no page returned. */
export async function readPage(reading: BlockReading, query: RequestQuery): Promise<RequestPage> {
	requireRequestCursor(query);
	const { fromMs = 0, toMs, cursor, limit, ...filters } = query;
	const keys = keysOf(filters);
	const bounds = [cursor, toMs === undefined ? undefined : firstIdOf(Math.max(0, toMs))].filter((id) => id !== undefined).toSorted();
	const [beforeId] = bounds;
	const beforeMs = beforeId === undefined ? undefined : startedMsOf(beforeId);
	const firstId = firstIdOf(Math.max(0, fromMs));
	let matches: Match[] = [];
	const readBlock = (data: Uint8Array): void => {
		const block = new RequestBlock(decompressBlock(data));
		const isWanted = block.matcher(filters);
		if (isWanted === undefined) return;
		for (let index = 0; index < block.count; index++) {
			const id = block.idOf(index);
			if ((beforeId === undefined || id < beforeId) && id >= firstId && isWanted(index)) matches.push({ id, block, index });
		}
		// One more than the page, to know whether there is a next one.
		matches = matches.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit + 1);
	};

	// Blocks that the bound divides are read first and always, so that every page makes progress.
	const divided = beforeMs === undefined ? [] : await reading.around(beforeMs, keys);
	for (let start = 0; start < divided.length; start += dividedAtOnce) {
		const ids = divided.slice(start, start + dividedAtOnce).map(({ id }) => id);
		for (const data of await reading.read(ids)) readBlock(data);
	}

	const scan = new BlockScan(
		reading,
		beforeMs === undefined ? Number.MAX_SAFE_INTEGER : beforeMs * blocksPerMs,
		fromMs * blocksPerMs,
		keys,
	);
	let recordsRead = 0;
	let blocksRead = 0;
	let readThroughMs = Number.POSITIVE_INFINITY;
	for (;;) {
		const next = await scan.peek();
		if (next === undefined) return pageOf(matches, limit, undefined);
		const nextMs = maxMsOf(next.id);
		// Requests after the end of the next block are all found.
		const last = matches[limit];
		if (last !== undefined && last.block.startedMsOf(last.index) > nextMs) return pageOf(matches, limit, undefined);
		if ((recordsRead >= maxRecordsRead || blocksRead >= maxBlocksRead) && nextMs < readThroughMs) {
			return pageOf(matches, limit, firstIdOf(nextMs + 1));
		}
		readBlock(await scan.next());
		recordsRead += next.count;
		blocksRead++;
		readThroughMs = nextMs;
	}
}

/** @param restId of an unfinished page: records before it are not read yet. */
function pageOf(matches: readonly Match[], limit: number, restId: string | undefined): RequestPage {
	const complete = restId === undefined ? matches : matches.filter(({ id }) => id >= restId);
	const page = complete.slice(0, limit);
	const requests: RecordedRequest[] = page.map(({ block, index }) => block.requestAt(index));
	if (complete.length > limit) return { requests, nextCursor: page.at(-1)?.id ?? null };
	return { requests, nextCursor: restId ?? null };
}

/** Blocks from the newest to the oldest, some at a time. */
class BlockScan {
	readonly #reading: BlockReading;
	readonly #fromId: number;
	readonly #keys: readonly number[];
	#beforeId: number;
	#waiting: readonly BlockRef[] = [];
	#taken = 0;
	#data: Uint8Array[] = [];
	#isDone = false;

	constructor(reading: BlockReading, beforeId: number, fromId: number, keys: readonly number[]) {
		this.#reading = reading;
		this.#beforeId = beforeId;
		this.#fromId = fromId;
		this.#keys = keys;
	}

	async peek(): Promise<BlockRef | undefined> {
		const waiting = this.#waiting[this.#taken];
		if (waiting !== undefined || this.#isDone) return waiting;
		this.#waiting = await this.#reading.before(this.#beforeId, this.#fromId, this.#keys, blocksAtOnce);
		this.#taken = 0;
		this.#isDone = this.#waiting.length < blocksAtOnce;
		this.#beforeId = this.#waiting.at(-1)?.id ?? 0;
		return this.#waiting[0];
	}

	/** Returns the data of the block that `peek` showed. */
	async next(): Promise<Uint8Array> {
		const fetched = this.#data.shift();
		const ids = this.#waiting.slice(this.#taken, this.#taken + (this.#taken === 0 ? 1 : dataAtOnce)).map(({ id }) => id);
		if (fetched === undefined) this.#data = [...(await this.#reading.read(ids))];
		this.#taken++;
		const data = fetched ?? this.#data.shift();
		if (data === undefined) throw new Error('a block disappeared within a snapshot');
		return data;
	}
}

/** Finds one request by its id. */
export async function findRequest(reading: BlockReading, id: string): Promise<RecordedRequest | undefined> {
	const startedMs = startedMsOf(id);
	if (startedMs === undefined) return undefined;
	const around = (await reading.around(startedMs, [])).map((block) => block.id);
	for (let start = 0; start < around.length; start += dividedAtOnce) {
		for (const data of await reading.read(around.slice(start, start + dividedAtOnce))) {
			const text = decompressBlock(data);
			if (!text.includes(`"${id}"`)) continue;
			const block = new RequestBlock(text);
			const index = block.ids.indexOf(id);
			if (index !== -1) return block.requestAt(index);
		}
	}
	return undefined;
}
