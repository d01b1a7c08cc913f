import { sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import { type Database, listDays, noneWhenDropped, partitionName } from './ledger-days.ts';
import { msPerDay, msPerHour } from './postgres-ledger-schema.ts';

const rowsAtOnce = 10_000;

/** Deletes closed rows of hours before then: whole days by dropping them, unless a call of theirs still runs. Sums stay. */
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

/** @returns how many rows went; undefined when some still run. */
async function dropDay(db: Database, day: number): Promise<number | undefined> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	const { rows } = await sql<{ count: bigint }>`SELECT count(*) AS count FROM ${table}`.execute(db);
	const dropped = await sql<{ isDropped: boolean }>`SELECT tollgate.ledger_drop_day(${day}::int4) AS "isDropped"`.execute(db);
	return dropped.rows[0]?.isDropped === true ? Number(rows[0]?.count ?? 0n) : undefined;
}

async function deleteRows(db: Database, day: number, beforeMs: number): Promise<number> {
	const table = sql.table(`tollgate.${partitionName(day)}`);
	let deleted = 0;
	for (let some = rowsAtOnce; some === rowsAtOnce; deleted += some) {
		const { numAffectedRows } = await sql`
			DELETE FROM ${table} WHERE ctid IN (
				SELECT ctid FROM ${table} WHERE started_ms < ${beforeMs} AND outcome IS NOT NULL LIMIT ${rowsAtOnce}
			)`.execute(db);
		some = Number(numAffectedRows ?? 0n);
	}
	return deleted;
}
