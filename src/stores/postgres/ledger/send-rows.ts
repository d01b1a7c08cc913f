/** Writes spooled rows and what they change in the sums, in one transaction: a second time it changes nothing. */
import { type RawBuilder, sql } from 'kysely';
import type { SpooledRow } from '../../contracts/ledger-spool.ts';
import { plainArray, textArray } from './array-literal.ts';
import { type Database, dayOf, makeDay, partitionName } from './ledger-days.ts';
import { addToSums, changedRow, changedSums, type SumChange } from './sum-changes.ts';

interface NumberedRow {
	readonly row: SpooledRow;
	/** In its batch. */
	readonly number: number;
}

export interface RefusedRow {
	readonly id: string;
	readonly cause: unknown;
}

/** @param rows at most `mostRowsPerBatch`. */
type SendRows = (db: Database, rows: readonly SpooledRow[]) => Promise<readonly RefusedRow[]>;

/** @returns rows that can never be stored; the others are committed. */
export function createSendRows(): SendRows {
	const knownDays = new Set<number>();
	const sendOnce = async (db: Database, rows: readonly SpooledRow[]): Promise<void> => {
		for (const day of new Set(rows.map((row) => dayOf(row[1])))) {
			if (knownDays.has(day)) continue;
			await makeDay(db, day);
			knownDays.add(day);
		}
		await db.transaction().execute((transaction) => writeBatch(transaction, rows));
	};
	const sendPatiently = async (db: Database, rows: readonly SpooledRow[]): Promise<void> => {
		for (let triesLeft = 3; ; triesLeft--) {
			try {
				await sendOnce(db, rows);
				return;
			} catch (cause) {
				// Another process may have dropped a partition.
				knownDays.clear();
				if (!worthAnotherTry.has(sqlState(cause)) || triesLeft === 0) throw cause;
			}
		}
	};
	const send: SendRows = async (db, rows) => {
		if (rows.length === 0) return [];
		try {
			await sendPatiently(db, rows);
			return [];
		} catch (cause) {
			if (!rowsAtFault.test(sqlState(cause))) throw cause;
			if (rows.length === 1) return rows.map(([id]) => ({ id, cause }));
			const half = rows.length >> 1;
			return [...(await send(db, rows.slice(0, half))), ...(await send(db, rows.slice(half)))];
		}
	};
	return async (db, rows) => {
		const refused = await send(db, rows);
		// That would not be due to the rows: a constraint of somebody else's, perhaps.
		if (refused.length === rows.length && rows.length > 1) throw refused[0]?.cause;
		return refused;
	};
}

const undefinedTable = '42P01';
const deadlockDetected = '40P01';
const serializationFailure = '40001';
const worthAnotherTry = new Set([undefinedTable, deadlockDetected, serializationFailure]);
/** Data exceptions, violated constraints, and limits such as that of an index's entry. */
const rowsAtFault = /^(22|23|54)/;

function sqlState(cause: unknown): string {
	return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

/** Leaves room for four in one index entry of 2,704 bytes. */
const mostNameBytes = 640;

function nameOf(name: string): string {
	return Buffer.byteLength(name) <= mostNameBytes ? name : name.slice(0, mostNameBytes / 3);
}

const closedColumns = [
	'outcome',
	'ended_ms',
	'status',
	'is_estimated',
	'input_tokens',
	'cache_read_tokens',
	'cache_write_tokens',
	'cache_write_hour_tokens',
	'output_tokens',
	'reasoning_tokens',
	'cost_nano_usd',
];
const columns = [
	'id',
	'started_ms',
	'team',
	'client',
	'provider',
	'model',
	'format',
	'is_streamed',
	'price_version',
	'budgets',
	'hold_nano_usd',
	...closedColumns,
].join(', ');

/** For days that have their partitions. */
export async function writeBatch(transaction: Database, rows: readonly SpooledRow[]): Promise<void> {
	const batch = await sql<{ sequence: bigint }>`SELECT nextval('tollgate.ledger_sequence') AS sequence`.execute(transaction);
	const sequence = batch.rows[0]?.sequence ?? 0n;
	const numbered = rows.map((row, number): NumberedRow => ({ row, number }));
	const days = [...Map.groupBy(numbered, ({ row }) => dayOf(row[1]))].toSorted(([left], [right]) => left - right);
	const changes: SumChange[] = [];
	for (const [day, some] of days) changes.push(...(await writeDay(transaction, day, some, sequence)));
	await addToSums(transaction, changes);
}

/**
 * Two statements: had a transaction that was given up inserted a row and committed only while the first one waits for it, a
 * part of the same statement would not see that row, and its end would be lost.
 */
async function writeDay(transaction: Database, day: number, numbered: readonly NumberedRow[], sequence: bigint): Promise<SumChange[]> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	const { rows: opened } = await sql<SumChange>`
		WITH opened AS (
			INSERT INTO ${table} AS calls (sequence, ${sql.raw(columns)})
			SELECT ${sequence} + number, ${sql.raw(columns)} FROM ${given(numbered)} ON CONFLICT (id) DO NOTHING
			RETURNING ${sql.raw(changedRow('calls', 1))}
		) ${sql.raw(changedSums)} FROM opened GROUP BY 1, 2, 3, 4, 5`.execute(transaction);
	const closed = numbered.filter(({ row }) => row[11] !== null);
	if (closed.length === 0) return opened;
	const { rows: changed } = await sql<SumChange>`
		WITH closed AS (
			UPDATE ${table} AS calls SET ${sql.raw(closedColumns.map((name) => `${name} = given.${name}`).join(', '))}
			FROM ${given(closed)} WHERE calls.id = given.id AND calls.outcome IS NULL
			RETURNING ${sql.raw(changedRow('calls', 0))}
		) ${sql.raw(changedSums)} FROM closed GROUP BY 1, 2, 3, 4, 5`.execute(transaction);
	return [...opened, ...changed];
}

function given(numbered: readonly NumberedRow[]): RawBuilder<unknown> {
	const rows = numbered.map(({ row }) => row);
	const texts = (index: 0 | 6 | 8 | 9 | 11): RawBuilder<unknown> => sql`${textArray(rows.map((row) => row[index]))}::text[]`;
	const names = (index: 2 | 3 | 4 | 5): RawBuilder<unknown> => sql`${textArray(rows.map((row) => nameOf(row[index])))}::text[]`;
	const numbers = (index: 1 | 10 | 12 | 13 | 15 | 16 | 17 | 18 | 19 | 20 | 21, type = 'int8'): RawBuilder<unknown> =>
		sql`${plainArray(rows.map((row) => row[index]))}::${sql.raw(type)}[]`;
	const booleans = (index: 7 | 14): RawBuilder<unknown> => sql`${plainArray(rows.map((row) => row[index]))}::boolean[]`;
	return sql`unnest(${sql.join([
		texts(0),
		numbers(1),
		...([2, 3, 4, 5] as const).map(names),
		texts(6),
		booleans(7),
		texts(8),
		texts(9),
		numbers(10),
		texts(11),
		numbers(12),
		numbers(13, 'int4'),
		booleans(14),
		...([15, 16, 17, 18, 19, 20, 21] as const).map((index) => numbers(index)),
		sql`${plainArray(numbered.map(({ number }) => number))}::int8[]`,
	])}) AS given (${sql.raw(columns)}, number)`;
}
