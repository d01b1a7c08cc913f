/** Partitions of `ledger_calls`, one for each UTC day. */

import { type Kysely, sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import { msPerDay } from '../../sum-tables.ts';

export type Database = Kysely<unknown>;

/** Name of the partition in the schema `tollgate`. */
export function partitionName(day: number): string {
	return `ledger_calls_${new Date(day * msPerDay).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

const namePattern = /^ledger_calls_(\d{4})(\d\d)(\d\d)$/;

/** Returns the days that have a partition, oldest first. */
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
 * Creates the partition of a day, unless it exists. Readers and writers do not wait: attaching a table takes a weaker lock than creating it
 * as a partition.
 */
export async function makeDay(db: Database, day: number): Promise<void> {
	const { rows } = await sql`
		SELECT 1 FROM pg_class WHERE relnamespace = 'tollgate'::regnamespace AND relname = ${partitionName(day)}`.execute(db);
	if (rows.length === 0) await sql`SELECT tollgate.ledger_make_day(${day}::int4)`.execute(db);
}

/** Grants the privileges on the ledger on each of its days, too. */
export async function shareDays(db: Database): Promise<void> {
	for (const day of await listDays(db)) await sql`SELECT tollgate.ledger_make_day(${day}::int4)`.execute(db);
}

/** Returns 0 if another process has dropped the partition meanwhile; rethrows any other error. */
export function noneWhenDropped(cause: unknown): 0 {
	const undefinedTable = '42P01';
	if (cause instanceof Error && 'code' in cause && cause.code === undefinedTable) return 0;
	throw cause;
}
