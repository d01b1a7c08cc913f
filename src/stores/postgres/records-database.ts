import { sql } from 'kysely';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import type { RecordsDb, RecordTables } from './records-schema.ts';

/** Transaction that excludes other changes of records. */
export interface ChangeTransaction {
	readonly db: RecordsDb;
	/** Higher than any version before. A call marks the transaction as a change. */
	nextVersion(): number;
}

/** Every method fails with `UpstreamError` `records_unavailable`. */
export interface RecordsDatabase {
	read<Result>(statements: (db: RecordsDb) => Promise<Result>): Promise<Result>;
	/** Runs statements in one transaction, which is rolled back when they throw. */
	write<Result>(statements: (transaction: ChangeTransaction) => Promise<Result>): Promise<Result>;
}

/** Channel on which the version of each change is announced. */
export const changesChannel = 'tollgate_records';

export interface RecordsDatabaseEvents {
	/** Runs after each commit with changes. */
	written(version: number): void;
	failed(): void;
}

export function createRecordsDatabase(
	connection: PostgresConnection<RecordTables>,
	{ written, failed }: RecordsDatabaseEvents,
): RecordsDatabase {
	const run: RecordsDatabase['read'] = async (statements) => {
		try {
			return await connection.run((db) => statements(db.withSchema('tollgate')));
		} catch (cause) {
			failed();
			throw new UpstreamError('records_unavailable', { cause });
		}
	};
	return {
		read: run,
		async write(statements) {
			const { result, version } = await run((db) =>
				db.transaction().execute(async (transaction) => {
					const before = await lockVersion(transaction);
					let newest = before;
					const outcome = await statements({ db: transaction, nextVersion: () => ++newest });
					if (newest > before) await setVersion(transaction, newest);
					return { result: outcome, version: newest > before ? newest : undefined };
				}),
			);
			if (version !== undefined) written(version);
			return result;
		},
	};
}

/** Returns the version of the newest change. */
export async function readVersion(db: RecordsDb): Promise<number> {
	const { last } = await db.selectFrom('record_versions').select('last').executeTakeFirstOrThrow();
	return Number(last);
}

async function lockVersion(db: RecordsDb): Promise<number> {
	const { last } = await db.selectFrom('record_versions').select('last').forUpdate().executeTakeFirstOrThrow();
	return Number(last);
}

async function setVersion(db: RecordsDb, version: number): Promise<void> {
	await db.updateTable('record_versions').set({ last: version }).execute();
	await sql`SELECT pg_notify(${changesChannel}, ${String(version)})`.execute(db);
}
