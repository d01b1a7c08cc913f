/** Entry point of the threads for request records: one writes, one reads. Each reopens its connection after a failure. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { membersFrom, oneOf, textFrom } from '../../decode.ts';
import { blocksPerMs } from '../../request-blocks/block-table.ts';
import { packBlock } from '../../request-blocks/merge-blocks.ts';
import { findRequest, readPage } from '../../request-blocks/read-page.ts';
import { readSpan } from '../../request-blocks/read-span.ts';
import { serveWorkerOperations } from '../../store-thread.ts';
import { lowerThreadPriority } from '../../thread-priority.ts';
import { migrate } from '../migrate.ts';
import { openDatabase } from '../open-database.ts';
import { createBlockReading, createBlockWriting, requestRecordsFileName, requestRecordsSchema } from './block-database.ts';
import type { RequestReaderOperations, RequestWriterOperations } from './request-record-operations.ts';

export interface RequestRecordsThreadData {
	readonly kind: 'writer' | 'reader';
	readonly dataDir: string;
}

function threadDataFrom(value: unknown): RequestRecordsThreadData {
	const { kind, dataDir } = membersFrom(value);
	return { kind: oneOf(['writer', 'reader'])(kind), dataDir: textFrom(dataDir) };
}

const data = threadDataFrom(workerData);

// Requests take precedence on a busy core.
if (data.kind === 'writer') lowerThreadPriority(5);

interface Connection<Parts> {
	use<Result>(work: (parts: Parts) => Result): Result;
	close(): void;
}

function connect<Parts>(partsOf: (database: DatabaseSync) => Parts): Connection<Parts> {
	let opened: { database: DatabaseSync; parts: Parts } | undefined;
	const close = (): void => {
		const closing = opened;
		opened = undefined;
		if (closing?.database.isOpen === true) closing.database.close();
	};
	return {
		use(work) {
			if (opened === undefined) {
				const path = join(data.dataDir, requestRecordsFileName);
				const database = openDatabase(path, (fresh) => migrate(fresh, requestRecordsSchema), 'process');
				opened = { database, parts: partsOf(database) };
			}
			try {
				return work(opened.parts);
			} catch (cause) {
				close();
				throw cause;
			}
		},
		close,
	};
}

function writerOperations(): RequestWriterOperations {
	const connection = connect((database) => createBlockWriting(database, () => randomInt(blocksPerMs)));
	return {
		write(block) {
			connection.use((writing) => writing.insert(packBlock(block)));
			return null;
		},
		mergeSome: () => connection.use((writing) => writing.mergeSome()),
		pruneSome: ({ beforeMs, maxBytes }) => connection.use((writing) => writing.pruneSome(beforeMs, maxBytes)),
		stop() {
			connection.close();
			return null;
		},
	};
}

function readerOperations(): RequestReaderOperations {
	const connection = connect((database) => ({ database, reading: createBlockReading(database) }));
	let last: Promise<unknown> = Promise.resolve();
	/** Runs reads one after another, each in one snapshot, so that a merge does not move blocks away. */
	const inSnapshot = <Result>(read: (reading: ReturnType<typeof createBlockReading>) => Promise<Result>): Promise<Result> => {
		const run = async (): Promise<Result> => {
			const { database, reading } = connection.use((parts) => parts);
			try {
				database.exec('BEGIN');
				return await read(reading);
			} catch (cause) {
				if (!(cause instanceof RangeError)) connection.close();
				throw cause;
			} finally {
				if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
			}
		};
		const result = last.then(run);
		last = result.catch(() => undefined);
		return result;
	};
	return {
		open: () => connection.use(() => null),
		list: (query) => inSnapshot((reading) => readPage(reading, query)),
		scan: (span) => inSnapshot((reading) => readSpan(reading, span)),
		find: (id) => inSnapshot(async (reading) => (await findRequest(reading, id)) ?? null),
		stop() {
			connection.close();
			return null;
		},
	};
}

serveWorkerOperations({ writer: writerOperations, reader: readerOperations }[data.kind]());
