/** Records of requests in PostgreSQL, written by one thread and read by another; several processes share the tables. */
import { extname } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { RequestRecordReader, RequestRecords } from '../contracts/request-records.ts';
import { scanBlocks } from '../request-blocks/read-span.ts';
import { RequestRecordQueue } from '../request-blocks/request-record-queue.ts';
import { RequestRecordUpkeep, type RequestRetention } from '../request-blocks/request-record-upkeep.ts';
import { createStoreThread, type StoreThread } from '../store-thread.ts';
import type { PostgresRequestOperations } from './request-records/postgres-request-operations.ts';
import type { PostgresRequestThreadData } from './request-records/postgres-request-worker.ts';

export interface PostgresRequestRecordsSettings extends RequestRetention {
	readonly url: string;
}

/** Connects at the first write or read. @throws StoreUnusable for an invalid URL. */
export async function openPostgresRequestRecords(
	{ url, ...retention }: PostgresRequestRecordsSettings,
	{ clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<RequestRecords> {
	const { thread, address } = await openThread({ kind: 'writer', url });
	const reader = await openPostgresRequestRecordReader({ url });
	const upkeep = new RequestRecordUpkeep(retention, {
		mergeSome: () => thread.request('mergeSome', null),
		pruneSome: (beforeMs, maxBytes) => thread.request('pruneSome', { beforeMs, maxBytes }),
		clock,
		log,
	});
	const queue = new RequestRecordQueue({
		async write(block) {
			await thread.request('write', block);
			upkeep.noteWrite();
		},
		clock,
		log,
		name: address,
	});
	// Records that cannot be written do not prevent reads of earlier ones.
	const written = (): Promise<unknown> => queue.flush().catch(() => undefined);
	let ending: Promise<void> | undefined;
	const end = async (): Promise<void> => {
		await queue.end();
		await upkeep.end();
		await Promise.all([thread.stop(), reader.end()]);
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

/** Reader for processes that serve no requests. @throws StoreUnusable for an invalid URL. */
export async function openPostgresRequestRecordReader({ url }: { readonly url: string }): Promise<RequestRecordReader> {
	return createReader((await openThread({ kind: 'reader', url })).thread);
}

type Thread = StoreThread<PostgresRequestOperations>;

async function openThread(data: PostgresRequestThreadData): Promise<{ readonly thread: Thread; readonly address: string }> {
	const file = new URL(`./request-records/postgres-request-worker${extname(import.meta.url)}`, import.meta.url);
	const thread: Thread = createStoreThread({ file, name: `request records postgres ${data.kind}`, data });
	try {
		return { thread, address: await thread.request('open', null) };
	} catch (cause) {
		await thread.stop();
		throw cause;
	}
}

function createReader(thread: Thread): RequestRecordReader {
	return {
		list: (query) => unlessUnavailable(thread.request('list', query)),
		scan: async (span) => scanBlocks(await unlessUnavailable(thread.request('scan', span)), span),
		find: async (id) => (await unlessUnavailable(thread.request('find', id))) ?? undefined,
		end: () => thread.stop(),
	};
}

async function unlessUnavailable<Result>(response: Promise<Result>): Promise<Result> {
	try {
		return await response;
	} catch (cause) {
		if (cause instanceof RangeError) throw cause;
		throw new UpstreamError('records_unavailable', { message: 'The request records in PostgreSQL are unavailable', cause });
	}
}
