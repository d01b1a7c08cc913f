/** Partitions of `ledger_calls`, one for each UTC day. */
import { type Kysely, sql } from 'kysely';
import { msPerDay } from './postgres-ledger-schema.ts';

export type Database = Kysely<unknown>;

/** Days since 1970. */
export function dayOf(startedMs: number): number {
	return Math.floor(startedMs / msPerDay);
}

/** The partition's name in the schema `tollgate`. */
export function partitionName(day: number): string {
	return `ledger_calls_${new Date(day * msPerDay).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

const namePattern = /^ledger_calls_(\d{4})(\d\d)(\d\d)$/;

/** Days that have a partition, oldest first. */
export async function listDays(db: Database): Promise<number[]> {
	const { rows } = await sql<{ name: string }>`
		SELECT c.relname::text AS name FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE inhparent = 'tollgate.ledger_calls'::regclass`.execute(db);
	return rows
		.map(({ name }) => namePattern.exec(name))
		.flatMap((match) => (match === null ? [] : [dayOf(Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])))]))
		.toSorted((left, right) => left - right);
}

/**
 * Makes the partition of a day, unless it is there. Nobody who reads or writes waits for it: a table that is attached takes a
 * weaker lock than one that is created in its place.
 */
export async function makeDay(db: Database, day: number): Promise<void> {
	const partition = sql.table(`tollgate.${partitionName(day)}`);
	// Not `to_regclass`: it remembers, through the wait for the lock, what it has not found.
	const isMissing = async (asked: Database): Promise<boolean> => {
		const { rows } = await sql`
			SELECT 1 FROM pg_class WHERE relnamespace = 'tollgate'::regnamespace AND relname = ${partitionName(day)}`.execute(asked);
		return rows.length === 0;
	};
	if (!(await isMissing(db))) return;
	await db.transaction().execute(async (transaction) => {
		await takeTurns(transaction);
		if (!(await isMissing(transaction))) return;
		await sql`CREATE TABLE ${partition} (LIKE tollgate.ledger_calls INCLUDING CONSTRAINTS, PRIMARY KEY (id))`.execute(transaction);
		const bounds = sql.raw(`FROM (${day * msPerDay}) TO (${(day + 1) * msPerDay})`);
		await sql`ALTER TABLE tollgate.ledger_calls ATTACH PARTITION ${partition} FOR VALUES ${bounds}`.execute(transaction);
	});
}

/** Waits for other processes that change partitions, until the end of the transaction. */
export async function takeTurns(transaction: Database): Promise<void> {
	await sql`SELECT pg_advisory_xact_lock(hashtextextended('tollgate ledger partitions', 0))`.execute(transaction);
}

/** For work on the rows of a day that another process may drop meanwhile. */
export function noneWhenDropped(cause: unknown): 0 {
	const undefinedTable = '42P01';
	if (cause instanceof Error && 'code' in cause && cause.code === undefinedTable) return 0;
	throw cause;
}
