/** Writes spooled rows and updates the sums in one transaction. Repeating it changes nothing. */
import { type RawBuilder, sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import type { SpooledEntry } from '../../contracts/ledger-spool.ts';
import { plainArray, textArray } from './array-literal.ts';
import { indexedName } from './indexed-name.ts';
import { type Database, makeDay, partitionName } from './ledger-days.ts';
import { findOtherAttributes } from './other-attributes.ts';
import { addToSums, changedEntry, changedSums, groupsOfSums, type SumChange } from './sum-changes.ts';

interface NumberedEntry {
	readonly row: SpooledEntry;
	/** Number in its batch. */
	readonly number: number;
	readonly isSummedAsOther: boolean;
}

export interface RejectedEntry {
	readonly id: string;
	readonly cause: unknown;
}

/** @param rows at most `maxEntriesPerBatch`. */
type SendEntries = (db: Database, rows: readonly SpooledEntry[]) => Promise<readonly RejectedEntry[]>;

/** @returns rows that can never be stored; the others are committed. */
export function createSendEntries(): SendEntries {
	const knownDays = new Set<number>();
	const sendOnce = async (db: Database, rows: readonly SpooledEntry[]): Promise<readonly RejectedEntry[]> => {
		for (const day of new Set(rows.map((row) => dayNumberOf(row[1])))) {
			if (knownDays.has(day)) continue;
			// Dropped days are not created again.
			if (day < dayNumberOf(await prunedBefore(db))) continue;
			await makeDay(db, day);
			knownDays.add(day);
		}
		return db.transaction().execute(async (transaction) => {
			const tooOld = await findTooOld(transaction, rows);
			await writeBatch(transaction, tooOld.size === 0 ? rows : rows.filter(([id]) => !tooOld.has(id)));
			return [...tooOld].map((id) => ({
				id,
				cause: new Error('It is older than `stores.ledger.retain_days` and may have been counted already'),
			}));
		});
	};
	const sendPatiently = async (db: Database, rows: readonly SpooledEntry[]): Promise<readonly RejectedEntry[]> => {
		for (let remainingTries = 3; ; remainingTries--) {
			try {
				return await sendOnce(db, rows);
			} catch (cause) {
				// Another process may have dropped a partition.
				knownDays.clear();
				if (!worthAnotherTry.has(sqlState(cause)) || remainingTries === 0) throw cause;
			}
		}
	};
	const send: SendEntries = async (db, rows) => {
		if (rows.length === 0) return [];
		try {
			return await sendPatiently(db, rows);
		} catch (cause) {
			if (!failingEntries.test(sqlState(cause))) throw cause;
			if (rows.length === 1) return rows.map(([id]) => ({ id, cause }));
			const half = rows.length >> 1;
			return [...(await send(db, rows.slice(0, half))), ...(await send(db, rows.slice(half)))];
		}
	};
	return async (db, rows) => {
		const rejected = await send(db, rows);
		// An error that rejects all rows is not caused by the rows; an example is a constraint that somebody else added.
		if (rejected.length === rows.length && rows.length > 1 && sqlState(rejected[0]?.cause) !== '') throw rejected[0]?.cause;
		return rejected;
	};
}

async function prunedBefore(db: Database): Promise<number> {
	const { rows } = await sql<{ pruned: bigint }>`SELECT pruned_before_ms AS pruned FROM tollgate.ledger_progress`.execute(db);
	return Number(rows[0]?.pruned ?? 0n);
}

/**
 * Finds absent rows of a period that may have been pruned: it is unknown whether the sums include them. Blocks concurrent pruning of rows
 * that this transaction writes.
 */
async function findTooOld(transaction: Database, rows: readonly SpooledEntry[]): Promise<ReadonlySet<string>> {
	await sql`SELECT 1 FROM tollgate.ledger_progress FOR SHARE`.execute(transaction);
	const prunedMs = await prunedBefore(transaction);
	const old = rows.filter(([, startedMs]) => startedMs < prunedMs).map(([id]) => id);
	if (old.length === 0) return new Set();
	const { rows: retained } = await sql<{ id: string }>`
		SELECT id FROM tollgate.ledger_calls WHERE started_ms < ${prunedMs} AND id = ANY (${textArray(old)}::text[])`.execute(transaction);
	const known = new Set(retained.map(({ id }) => id));
	return new Set(old.filter((id) => !known.has(id)));
}

const undefinedTable = '42P01';
const deadlockDetected = '40P01';
const serializationFailure = '40001';
const worthAnotherTry = new Set([undefinedTable, deadlockDetected, serializationFailure]);
/** Data exceptions, constraint violations, and limits such as that of an index entry. */
const failingEntries = /^(22|23|54)/;

function sqlState(cause: unknown): string {
	return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
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
	'endpoint',
	'attributes',
	...closedColumns,
	'is_summed_as_other',
].join(', ');

/** Writes rows of days that have partitions. */
export async function writeBatch(transaction: Database, rows: readonly SpooledEntry[]): Promise<void> {
	const batch = await sql<{ sequence: bigint }>`SELECT nextval('tollgate.ledger_sequence') AS sequence`.execute(transaction);
	const sequence = batch.rows[0]?.sequence ?? 0n;
	const isOther = await findOtherAttributes(transaction, rows);
	const numbered = rows.map((row, number): NumberedEntry => ({ row, number, isSummedAsOther: isOther(row) }));
	const days = [...Map.groupBy(numbered, ({ row }) => dayNumberOf(row[1]))].toSorted(([left], [right]) => left - right);
	const changes: SumChange[] = [];
	for (const [day, some] of days) changes.push(...(await writeDay(transaction, day, some, sequence)));
	await addToSums(transaction, changes);
}

/**
 * Uses several statements. An abandoned transaction may have inserted a row and commit only while the first statement waits for it. A part
 * of the same statement would not see that row, and its end would be lost.
 */
async function writeDay(transaction: Database, day: number, numbered: readonly NumberedEntry[], sequence: bigint): Promise<SumChange[]> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	const { rows: opened } = await sql<SumChange>`
		WITH opened AS (
			INSERT INTO ${table} AS calls (sequence, ${sql.raw(columns)})
			SELECT ${sequence} + number, ${sql.raw(columns)} FROM ${given(numbered)} ON CONFLICT (id) DO NOTHING
			RETURNING ${sql.raw(changedEntry('calls', 1))}
		) ${sql.raw(changedSums)} FROM opened GROUP BY ${groupsOfSums}`.execute(transaction);
	const insertedEntries = opened.reduce((sum, { requests }) => sum + Number(requests), 0);
	const moved = insertedEntries === numbered.length ? [] : await moveEntries(transaction, day, numbered);
	const closed = numbered.filter(({ row }) => row[13] !== null);
	if (closed.length === 0) return [...opened, ...moved];
	const { rows: changed } = await sql<SumChange>`
		WITH closed AS (
			UPDATE ${table} AS calls SET ${sql.raw(closedColumns.map((name) => `${name} = given.${name}`).join(', '))}
			FROM ${given(closed)} WHERE calls.id = given.id AND calls.outcome IS NULL
			RETURNING ${sql.raw(changedEntry('calls', 0))}
		) ${sql.raw(changedSums)} FROM closed GROUP BY ${groupsOfSums}`.execute(transaction);
	return [...opened, ...moved, ...changed];
}

/** Moves requests that failed over to another target since they were sent. */
async function moveEntries(transaction: Database, day: number, numbered: readonly NumberedEntry[]): Promise<readonly SumChange[]> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	const target = ['provider', 'model', 'price_version', 'budgets', 'hold_nano_usd'];
	const { rows } = await sql<SumChange>`
		WITH before AS (
			SELECT calls.*, ${sql.raw(target.map((name) => `given.${name} AS to_${name}`).join(', '))}
			FROM ${table} AS calls JOIN ${given(numbered)} ON calls.id = given.id
			WHERE calls.outcome IS NULL
				AND (${sql.raw(target.map((name) => `calls.${name}`).join(', '))}) <> (${sql.raw(target.map((name) => `given.${name}`).join(', '))})
			FOR UPDATE OF calls
		), after AS (
			UPDATE ${table} AS calls SET ${sql.raw(target.map((name) => `${name} = before.to_${name}`).join(', '))}
			FROM before WHERE calls.id = before.id
			RETURNING ${sql.raw(changedEntry('calls', 1))}
		), both_sides AS (SELECT ${sql.raw(changedEntry('before', -1))} FROM before UNION ALL SELECT * FROM after)
		${sql.raw(changedSums)} FROM both_sides GROUP BY ${groupsOfSums}`.execute(transaction);
	return rows;
}

function given(numbered: readonly NumberedEntry[]): RawBuilder<unknown> {
	const rows = numbered.map(({ row }) => row);
	const texts = (index: 0 | 6 | 8 | 9 | 11 | 12 | 13): RawBuilder<unknown> => sql`${textArray(rows.map((row) => row[index]))}::text[]`;
	const names = (index: 2 | 3 | 4 | 5): RawBuilder<unknown> => sql`${textArray(rows.map((row) => indexedName(row[index])))}::text[]`;
	const numbers = (index: 1 | 10 | 14 | 15 | 17 | 18 | 19 | 20 | 21 | 22 | 23, type = 'int8'): RawBuilder<unknown> =>
		sql`${plainArray(rows.map((row) => row[index]))}::${sql.raw(type)}[]`;
	const booleans = (index: 7 | 16): RawBuilder<unknown> => sql`${plainArray(rows.map((row) => row[index]))}::boolean[]`;
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
		texts(12),
		texts(13),
		numbers(14),
		numbers(15, 'int4'),
		booleans(16),
		...([17, 18, 19, 20, 21, 22, 23] as const).map((index) => numbers(index)),
		sql`${plainArray(numbered.map(({ isSummedAsOther }) => isSummedAsOther))}::boolean[]`,
		sql`${plainArray(numbered.map(({ number }) => number))}::int8[]`,
	])}) AS given (${sql.raw(columns)}, number)`;
}
