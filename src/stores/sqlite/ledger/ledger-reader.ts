/** Reads the ledger, in a thread and on a connection that writing never waits for. */
import type { DatabaseSync } from 'node:sqlite';
import { createCallPages } from './call-pages.ts';
import { createCostSums } from './cost-sums.ts';
import type { ReaderCalls } from './ledger-calls.ts';
import { createLedgerCheck } from './ledger-check.ts';
import { createSummaries } from './summaries.ts';
import { createTeamReading } from './team-reading.ts';

export type LedgerReading = Pick<ReaderCalls, 'summarize' | 'sumCosts' | 'list' | 'readTeam' | 'check'>;

export function createLedgerReading(database: DatabaseSync): LedgerReading {
	const summarize = createSummaries(database);
	return {
		summarize,
		sumCosts: createCostSums(database),
		list: createCallPages(database),
		readTeam: createTeamReading(database, summarize),
		check: createLedgerCheck(database),
	};
}
