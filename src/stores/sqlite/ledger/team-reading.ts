/** Reads one team in one snapshot. */
import type { DatabaseSync } from 'node:sqlite';
import type { CostQuery, SummaryQuery, TeamQuery, TeamSnapshot, UsageSummary } from '../../contracts/ledger.ts';
import { ledgerEntryOf } from './compact-entries.ts';
import { idText, prepareEntries, rowsOf } from './entry-pages.ts';
import { inSnapshot } from './summaries.ts';

/** A few milliseconds of work. */
const entriesPerPage = 20_000;

const ofTeam = '(SELECT id FROM names WHERE name = :team)';

export function createTeamReading(
	database: DatabaseSync,
	summarize: (query: SummaryQuery) => readonly UsageSummary[],
	sumCosts: (query: CostQuery) => readonly bigint[],
): (query: TeamQuery) => TeamSnapshot {
	const running = prepareEntries(database, `FROM calls WHERE outcome IS NULL AND team = ${ofTeam}`);
	const listEnded = createEndedList(database);
	const read = ({ team, spans, costs: costQueries = [], requests }: TeamQuery): TeamSnapshot => {
		const sums = spans.map((span) => summarize({ ...span, team }));
		const costs = costQueries.map(sumCosts);
		if (requests === undefined) return { sums, costs, openRequests: [], endedIds: [] };
		const openRequests = rowsOf(running.all({ team })).map((row) => {
			const { id, startedMs, isStreaming, budgets, reservedNanoUsd } = ledgerEntryOf(row);
			return { id, startedMs, isStreaming, budgets, reservedNanoUsd };
		});
		return { sums, costs, openRequests, endedIds: listEnded(team, requests) };
	};
	return (query) => inSnapshot(database, () => read(query));
}

type EndedList = (team: string, requests: NonNullable<TeamQuery['requests']>) => readonly string[];

/**
 * Reads pages from the newest one until all of a page started before, because rows are almost in the order of their starts. An index just
 * for this would make each request more expensive.
 */
function createEndedList(database: DatabaseSync): EndedList {
	const newest = database.prepare('SELECT max(sequence) AS sequence FROM calls');
	const latestStart = database.prepare('SELECT max(started_ms) AS started_ms FROM calls WHERE sequence > :after AND sequence <= :through');
	const ended = database.prepare(`
		SELECT ${idText} AS id FROM calls
		WHERE sequence > :after AND sequence <= :through AND team = ${ofTeam} AND outcome IS NOT NULL
			AND started_ms >= :startedSinceMs AND started_ms + duration_ms >= :endedSinceMs`);
	return (team, { endedSinceMs, startedSinceMs }) => {
		const ids: string[] = [];
		for (let through = Number(newest.get()?.['sequence'] ?? 0); through > 0; through -= entriesPerPage) {
			const page = { after: through - entriesPerPage, through };
			// Null if older rows were deleted.
			const startedMs = latestStart.get(page)?.['started_ms'] ?? null;
			if (startedMs === null || Number(startedMs) < startedSinceMs) break;
			for (const row of ended.all({ ...page, team, endedSinceMs, startedSinceMs })) ids.push(String(row['id']));
		}
		return ids;
	};
}
