/** Partitions of `ledger_calls`, one for each UTC day. */

import { type Kysely, sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import { msPerDay } from '../../sum-tables.ts';

export type Database = Kysely<unknown>;

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
		.flatMap((match) => (match === null ? [] : [dayNumberOf(Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])))]))
		.toSorted((left, right) => left - right);
}

/**
 * Makes the partition of a day, unless it is there. Nobody who reads or writes waits for it: a table that is attached takes a
 * weaker lock than one that is created in its place.
 */
export async function makeDay(db: Database, day: number): Promise<void> {
	const { rows } = await sql`
		SELECT 1 FROM pg_class WHERE relnamespace = 'tollgate'::regnamespace AND relname = ${partitionName(day)}`.execute(db);
	if (rows.length === 0) await sql`SELECT tollgate.ledger_make_day(${day}::int4)`.execute(db);
}

/** Gives those who may use the ledger the same rights on each of its days. */
export async function shareDays(db: Database): Promise<void> {
	for (const day of await listDays(db)) await sql`SELECT tollgate.ledger_make_day(${day}::int4)`.execute(db);
}

/** For work on the rows of a day that another process may drop meanwhile. */
export function noneWhenDropped(cause: unknown): 0 {
	const undefinedTable = '42P01';
	if (cause instanceof Error && 'code' in cause && cause.code === undefinedTable) return 0;
	throw cause;
}
