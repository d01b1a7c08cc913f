/** Reads the ledger, in a thread and on a connection that writing never waits for. */
import type { DatabaseSync } from 'node:sqlite';
import { createCallPages } from './call-pages.ts';
import { createCostSums } from './cost-sums.ts';
import type { ReaderCalls } from './ledger-calls.ts';
import { createLedgerCheck } from './ledger-check.ts';
import { createSummaries } from './summaries.ts';

export type LedgerReading = Pick<ReaderCalls, 'summarize' | 'sumCosts' | 'list' | 'check'>;

export function createLedgerReading(database: DatabaseSync): LedgerReading {
	return {
		summarize: createSummaries(database),
		sumCosts: createCostSums(database),
		list: createCallPages(database),
		check: createLedgerCheck(database),
	};
}
