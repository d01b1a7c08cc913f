/** What the ledger says of one team at one moment. */
import { sql } from 'kysely';
import type { OpenRequest, SummaryRow, TeamQuery, TeamSnapshot } from '../../contracts/ledger.ts';
import { decodeJson, listOf, textFrom } from '../../decode.ts';
import type { Database } from './ledger-days.ts';
import { summarize } from './ledger-reading.ts';

/** Statements of a transaction that reads committed rows would each see another moment: requests end between them. */
export function readTeam(db: Database, query: TeamQuery): Promise<TeamSnapshot> {
	return db
		.transaction()
		.setIsolationLevel('repeatable read')
		.setAccessMode('read only')
		.execute(async (transaction) => {
			const { team, spans, requests } = query;
			const sums: (readonly SummaryRow[])[] = [];
			for (const span of spans) sums.push(await summarize(transaction, { ...span, team }));
			if (requests === undefined) return { sums, openRequests: [], endedIds: [] };
			const endedIds = await listEnded(transaction, team, requests);
			return { sums, openRequests: await listOpen(transaction, team), endedIds };
		});
}

async function listEnded(
	db: Database,
	team: string,
	{ endedSinceMs, startedSinceMs }: NonNullable<TeamQuery['requests']>,
): Promise<readonly string[]> {
	const { rows } = await sql<{ id: string }>`
		SELECT id FROM tollgate.ledger_calls
		WHERE team = ${team} AND outcome IS NOT NULL AND ended_ms >= ${endedSinceMs} AND started_ms >= ${startedSinceMs}`.execute(db);
	return rows.map(({ id }) => id);
}

async function listOpen(db: Database, team: string): Promise<readonly OpenRequest[]> {
	const { rows } = await sql<{ id: string; started_ms: bigint; is_streamed: boolean; budgets: string; hold_nano_usd: bigint }>`
		SELECT id, started_ms, is_streamed, budgets, hold_nano_usd FROM tollgate.ledger_calls
		WHERE team = ${team} AND outcome IS NULL`.execute(db);
	return rows.map((row) => ({
		id: row.id,
		startedMs: Number(row.started_ms),
		isStreamed: row.is_streamed,
		budgets: decodeJson(row.budgets, listOf(textFrom)),
		holdNanoUsd: row.hold_nano_usd,
	}));
}
