import { sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import { amounts, msPerDay, msPerHour } from '../../sum-tables.ts';
import { type Database, listDays, noneWhenDropped, partitionName } from './ledger-days.ts';

import { addToSums, changedEntry, changedSums, groupsOfSums, type SumChange } from './sum-changes.ts';

/** Longer than any request or restart takes: the process that opened the row is gone, and its data directory too. */
const lostAfterMs = 25 * msPerHour;
const maxConcurrency = 1000;

/** Closes rows without a live process as interrupted, charged their reservation. Concurrent processes share the work. */
export async function closeLost(db: Database, nowMs: number): Promise<number> {
	const beforeMs = nowMs - lostAfterMs;
	let closed = 0;
	for (const day of await listDays(db)) {
		if (day * msPerDay >= beforeMs) break;
		for (let some = maxConcurrency; some === maxConcurrency; closed += some) {
			some = await closeSome(db, day, beforeMs, nowMs).catch(noneWhenDropped);
		}
	}
	return closed;
}

async function closeSome(db: Database, day: number, beforeMs: number, nowMs: number): Promise<number> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	const tokens = amounts.filter((name) => name.endsWith('_tokens')).map((name) => `${name} = 0`);
	return db.transaction().execute(async (transaction) => {
		const { rows } = await sql<SumChange & { readonly rows: bigint }>`
			WITH lost AS (
				SELECT id FROM ${table} WHERE outcome IS NULL AND started_ms < ${beforeMs}
				ORDER BY started_ms LIMIT ${maxConcurrency} FOR UPDATE SKIP LOCKED
			), closed AS (
				UPDATE ${table} AS calls SET outcome = 'interrupted', ended_ms = ${nowMs}, status = 0, is_estimated = true,
					${sql.raw(tokens.join(', '))}, cost_nano_usd = hold_nano_usd
				FROM lost WHERE calls.id = lost.id AND calls.outcome IS NULL
				RETURNING ${sql.raw(changedEntry('calls', 0))}
			) ${sql.raw(changedSums)}, count(*) AS rows FROM closed GROUP BY ${groupsOfSums}`.execute(transaction);
		await addToSums(transaction, rows);
		return rows.reduce((sum, row) => sum + Number(row.rows), 0);
	});
}

const entriesAtOnce = 10_000;

/** Deletes closed rows of hours before then. Whole days are dropped, unless one of their requests is in flight. Sums stay. */
export async function pruneDays(db: Database, beforeMs: number): Promise<number> {
	const wholeHourMs = Math.floor(beforeMs / msPerHour) * msPerHour;
	await sql`UPDATE tollgate.ledger_progress SET pruned_before_ms = greatest(pruned_before_ms, ${wholeHourMs})
		WHERE pruned_before_ms < ${wholeHourMs}`.execute(db);
	let pruned = 0;
	for (const day of await listDays(db)) {
		if (day > dayNumberOf(wholeHourMs)) break;
		pruned += await pruneDay(db, day, wholeHourMs).catch(noneWhenDropped);
	}
	return pruned;
}

async function pruneDay(db: Database, day: number, beforeMs: number): Promise<number> {
	const dropped = day < dayNumberOf(beforeMs) ? await dropDay(db, day) : undefined;
	return dropped ?? deleteRows(db, day, Math.min(beforeMs, (day + 1) * msPerDay));
}

/** @returns the number of deleted rows; undefined when some are still open. */
async function dropDay(db: Database, day: number): Promise<number | undefined> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	const { rows } = await sql<{ count: bigint }>`SELECT count(*) AS count FROM ${table}`.execute(db);
	const dropped = await sql<{ isDropped: boolean }>`SELECT tollgate.ledger_drop_day(${day}::int4) AS "isDropped"`.execute(db);
	return dropped.rows[0]?.isDropped === true ? Number(rows[0]?.count ?? 0n) : undefined;
}

async function deleteRows(db: Database, day: number, beforeMs: number): Promise<number> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	let deleted = 0;
	for (let some = entriesAtOnce; some === entriesAtOnce; deleted += some) {
		const { numAffectedRows } = await sql`
			DELETE FROM ${table} WHERE ctid IN (
				SELECT ctid FROM ${table} WHERE started_ms < ${beforeMs} AND outcome IS NOT NULL LIMIT ${entriesAtOnce}
			)`.execute(db);
		some = Number(numAffectedRows ?? 0n);
	}
	return deleted;
}
