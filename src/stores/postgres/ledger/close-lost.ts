import { sql } from 'kysely';
import { type Database, listDays, noneWhenDropped, partitionName } from './ledger-days.ts';
import { amounts, msPerDay, msPerHour } from './postgres-ledger-schema.ts';
import { addToSums, changedRow, changedSums, type SumChange } from './sum-changes.ts';

/** Longer than any call lasts and any restart takes: whoever opened the row is gone, and its data directory too. */
const lostAfterMs = 25 * msPerHour;
const mostAtOnce = 1000;

/** Closes rows that nobody will close as interrupted, charged their hold. Processes that do so at once share the work. */
export async function closeLost(db: Database, nowMs: number): Promise<number> {
	const beforeMs = nowMs - lostAfterMs;
	let closed = 0;
	for (const day of await listDays(db)) {
		if (day * msPerDay >= beforeMs) break;
		for (let some = mostAtOnce; some === mostAtOnce; closed += some) {
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
				ORDER BY started_ms LIMIT ${mostAtOnce} FOR UPDATE SKIP LOCKED
			), closed AS (
				UPDATE ${table} AS calls SET outcome = 'interrupted', ended_ms = ${nowMs}, status = 0, is_estimated = true,
					${sql.raw(tokens.join(', '))}, cost_nano_usd = hold_nano_usd
				FROM lost WHERE calls.id = lost.id AND calls.outcome IS NULL
				RETURNING ${sql.raw(changedRow('calls', 0))}
			) ${sql.raw(changedSums)}, count(*) AS rows FROM closed GROUP BY 1, 2, 3, 4, 5`.execute(transaction);
		await addToSums(transaction, rows);
		return rows.reduce((sum, row) => sum + Number(row.rows), 0);
	});
}
