import { sql } from 'kysely';
import { Fault } from '../../core/fault.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import type { RecordsDb, RecordTables } from './records-schema.ts';

/** In which nobody else changes records. */
export interface ChangeTransaction {
	readonly db: RecordsDb;
	/** Higher than any before. To have asked for one is to have changed something. */
	nextVersion(): number;
}

/** All of it fails with Fault `records_unavailable`. */
export interface RecordsDatabase {
	read<Result>(statements: (db: RecordsDb) => Promise<Result>): Promise<Result>;
	/** In one transaction; nothing of it remains when it throws. */
	write<Result>(statements: (transaction: ChangeTransaction) => Promise<Result>): Promise<Result>;
}

/** Names the channel on which the version of each change is told. */
export const changesChannel = 'tollgate_records';

export interface RecordsDatabaseEvents {
	/** After each commit that changed anything. */
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
			throw new Fault('records_unavailable', { cause });
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

/** Of the newest change. */
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
