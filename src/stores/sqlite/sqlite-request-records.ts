/** Records of requests in a SQLite file of their own, written by one thread and read by another; several processes may share the file. */
import { extname, join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { RequestRecordReader, RequestRecords } from '../contracts/request-records.ts';
import { scanBlocks } from '../request-blocks/read-span.ts';
import { RequestRecordQueue } from '../request-blocks/request-record-queue.ts';
import { RequestRecordUpkeep, type RequestRetention } from '../request-blocks/request-record-upkeep.ts';
import { createStoreThread, type StoreThread, type WorkerOperations } from '../store-thread.ts';
import { requestRecordsFileName } from './request-records/block-database.ts';
import type { RequestReaderOperations, RequestWriterOperations } from './request-records/request-record-operations.ts';
import type { RequestRecordsThreadData } from './request-records/request-records-worker.ts';

export interface SqliteRequestRecordsSettings extends RequestRetention {
	/** Created when it does not exist, readable only by its owner. */
	readonly dataDir: string;
}

/** Opens the file at the first write or read, so that a broken one stops no start. */
export function openSqliteRequestRecords(
	{ dataDir, ...retention }: SqliteRequestRecordsSettings,
	{ clock, log }: { readonly clock: Clock; readonly log: Log },
): RequestRecords {
	const writer = createThread<RequestWriterOperations>({ kind: 'writer', dataDir });
	const reader = createReader(dataDir);
	const upkeep = new RequestRecordUpkeep(retention, {
		mergeSome: () => writer.request('mergeSome', undefined),
		pruneSome: (beforeMs, maxBytes) => writer.request('pruneSome', { beforeMs, maxBytes }),
		clock,
		log,
	});
	const queue = new RequestRecordQueue({
		async write(block) {
			await writer.request('write', block);
			upkeep.noteWrite();
		},
		clock,
		log,
		name: join(dataDir, requestRecordsFileName),
	});
	// Records that cannot be written do not prevent reads of earlier ones.
	const written = (): Promise<unknown> => queue.flush().catch(() => undefined);
	let ending: Promise<void> | undefined;
	const end = async (): Promise<void> => {
		await queue.end();
		await upkeep.end();
		await Promise.all([writer.stop(), reader.end()]);
	};
	return {
		add: (request) => queue.add(request),
		health: () => queue.health(),
		list: (query) => written().then(() => reader.list(query)),
		scan: (span) => written().then(() => reader.scan(span)),
		find: (id) => written().then(() => reader.find(id)),
		end: () => (ending ??= end()),
	};
}

/** Reader for processes that serve no requests. */
export function openSqliteRequestRecordReader({ dataDir }: Pick<SqliteRequestRecordsSettings, 'dataDir'>): RequestRecordReader {
	return createReader(dataDir);
}

function createReader(dataDir: string): RequestRecordReader {
	const reader = createThread<RequestReaderOperations>({ kind: 'reader', dataDir });
	return {
		list: (query) => unlessUnavailable(reader.request('list', query)),
		scan: async (span) => scanBlocks(await unlessUnavailable(reader.request('scan', span)), span),
		find: async (id) => (await unlessUnavailable(reader.request('find', id))) ?? undefined,
		end: () => reader.stop(),
	};
}

async function unlessUnavailable<Result>(response: Promise<Result>): Promise<Result> {
	try {
		return await response;
	} catch (cause) {
		if (cause instanceof RangeError) throw cause;
		throw new UpstreamError('records_unavailable', { message: 'The request records are unavailable', cause });
	}
}

function createThread<Calls extends WorkerOperations>(data: RequestRecordsThreadData): StoreThread<Calls> {
	const file = new URL(`./request-records/request-records-worker${extname(import.meta.url)}`, import.meta.url);
	return createStoreThread({ file, name: `request records ${data.kind}`, data });
}
