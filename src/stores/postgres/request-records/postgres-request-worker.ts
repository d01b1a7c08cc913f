/** Entry point of the thread that owns the PostgreSQL connections for request records. */
import { randomInt } from 'node:crypto';
import { workerData } from 'node:worker_threads';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../../core/clock.ts';
import { silentLog } from '../../../core/log.ts';
import { requireRequestCursor } from '../../contracts/request-records.ts';
import { membersFrom, oneOf, textFrom } from '../../decode.ts';
import { type BlockReading, blocksPerMs } from '../../request-blocks/block-table.ts';
import { packBlock } from '../../request-blocks/merge-blocks.ts';
import { findRequest, readPage } from '../../request-blocks/read-page.ts';
import { readSpan } from '../../request-blocks/read-span.ts';
import { serveWorkerOperations } from '../../store-thread.ts';
import { lowerThreadPriority } from '../../thread-priority.ts';
import { migrate } from '../migrate.ts';
import { openPostgres } from '../postgres-connection.ts';
import { createPostgresBlockReading, insertBlock, mergeSome, postgresRequestsSchema, pruneSome } from './postgres-blocks.ts';
import type { PostgresRequestOperations } from './postgres-request-operations.ts';

const deadlineMs = 10_000;

const clock: Clock = {
	nowMs: () => Date.now(),
	monotonicMs: () => performance.now(),
	after(delayMs, task) {
		const timer = setTimeout(task, delayMs);
		return { cancel: () => clearTimeout(timer) };
	},
};

export interface PostgresRequestThreadData {
	readonly kind: 'writer' | 'reader';
	readonly url: string;
}

function threadDataFrom(value: unknown): PostgresRequestThreadData {
	const { kind, url } = membersFrom(value);
	return { kind: oneOf(['writer', 'reader'])(kind), url: textFrom(url) };
}

function postgresRequestOperations(): PostgresRequestOperations {
	const { kind, url } = threadDataFrom(workerData);
	// Requests take precedence on a busy core.
	if (kind === 'writer') lowerThreadPriority(5);
	const connection = openPostgres<unknown>({ url, deadlineMs, poolSize: 3 }, { clock, log: silentLog });
	let migrated: Promise<unknown> | undefined;
	const prepare = async (): Promise<void> => {
		// Connects first, because an unreachable server then gets a clear message.
		await connection.run((db) => sql`SELECT 1`.execute(db));
		await migrate(connection, [postgresRequestsSchema]);
	};
	const run = async <Result>(statements: (db: Kysely<unknown>) => Promise<Result>): Promise<Result> => {
		migrated ??= prepare();
		try {
			await migrated;
			return await connection.run(statements);
		} catch (cause) {
			// The next connection may lead to another database.
			migrated = undefined;
			throw cause;
		}
	};
	const inSnapshot = <Result>(read: (reading: BlockReading) => Promise<Result>): Promise<Result> =>
		run((db) =>
			db
				.transaction()
				.setIsolationLevel('repeatable read')
				.execute((transaction) => read(createPostgresBlockReading(transaction))),
		);
	const randomSequence = (): number => randomInt(blocksPerMs);
	return {
		open: () => connection.address,
		async write(block) {
			const packed = packBlock(block);
			await run((db) => insertBlock(db, packed, randomSequence));
			return null;
		},
		mergeSome: () => run((db) => mergeSome(db, randomSequence)),
		pruneSome: ({ beforeMs, maxBytes }) => run((db) => pruneSome(db, beforeMs, maxBytes)),
		async list(query) {
			requireRequestCursor(query);
			return inSnapshot((reading) => readPage(reading, query));
		},
		scan: (span) => inSnapshot((reading) => readSpan(reading, span)),
		find: (id) => inSnapshot(async (reading) => (await findRequest(reading, id)) ?? null),
		async stop() {
			await connection.close();
			return null;
		},
	};
}

serveWorkerOperations(postgresRequestOperations());
