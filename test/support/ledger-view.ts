/** Accounting of the gateway: entries and sums of the ledger, and values of the counters. */

import { expect } from 'vitest';
import type { LedgerDifference, LedgerEntry, LedgerReader, UsageSummary } from '../../src/stores/contracts/ledger.ts';
import { openSqliteLedgerReader } from '../../src/stores/sqlite/sqlite-ledger.ts';
import { nanoUsdOf, type Rates, reckonNanoUsd, type TokenCounts } from './accounting-prices.ts';
import type { Seen } from './accounting-request.ts';
import { listEntries } from './list-entries.ts';
import { eventually } from './product.ts';

export interface LedgerView {
	/** Entries of one team, newest first. */
	readonly rows: readonly LedgerEntry[];
	readonly sums: readonly UsageSummary[];
	/** Sum over the entries. */
	readonly spentNanoUsd: bigint;
	readonly differences: readonly LedgerDifference[];
}

export async function readLedger(dataDir: string, team: string): Promise<LedgerView> {
	return readLedgerOf(await openSqliteLedgerReader({ dataDir }), team);
}

/**
 * Waits until the file has these requests of a team as completed. A gateway writes them in batches, a moment after it updates the counters.
 */
export async function readLedgerOnceWritten(
	dataDir: string,
	team: string,
	requests: readonly Pick<Seen, 'requestId'>[],
): Promise<LedgerView> {
	return eventually('the ledger has the requests, and that they ended', async () => {
		const ledgerView = await readLedger(dataDir, team);
		const ended = new Set(ledgerView.rows.filter(({ closed }) => closed !== undefined).map(({ id }) => id));
		return requests.every(({ requestId }) => requestId === undefined || ended.has(requestId)) ? ledgerView : undefined;
	});
}

/** Reads the books and closes the reader. */
export async function readLedgerOf(reader: LedgerReader, team: string): Promise<LedgerView> {
	try {
		const rows = await listEntries(reader, team);
		const sums = await reader.summarize({ fromMs: 0, toMs: Date.UTC(2100, 0), period: 'month', team });
		const differences = await reader.check();
		const spentNanoUsd = rows.reduce((sum, row) => sum + (row.closed?.costNanoUsd ?? 0n), 0n);
		return { rows, sums, spentNanoUsd, differences };
	} finally {
		await reader.end();
	}
}

export interface BudgetState {
	readonly model: string | null;
	readonly limitNanoUsd: bigint;
	readonly spentNanoUsd: bigint;
	readonly reservedNanoUsd: bigint;
}

interface LimitsBody {
	readonly tokens: { readonly used: number } | null;
	readonly requests: { readonly used: number } | null;
	readonly budgets: readonly { model: string | null; limit_usd: string; spent_usd: string; reserved_usd: string }[];
}

export interface Limits {
	readonly tokensUsed: number | undefined;
	readonly requestsUsed: number | undefined;
	/** Budgets, with that of all models first. */
	readonly budgets: readonly BudgetState[];
}

export async function readLimits(url: string, accessToken: string): Promise<Limits> {
	const response = await fetch(`${url}/v1/limits`, { headers: { authorization: `Bearer ${accessToken}` } });
	if (response.status !== 200) throw new Error(`GET /v1/limits: ${response.status} ${await response.text()}`);
	const body = (await response.json()) as LimitsBody;
	const budgets = body.budgets.map((budget) => ({
		model: budget.model,
		limitNanoUsd: nanoUsdOf(budget.limit_usd),
		spentNanoUsd: nanoUsdOf(budget.spent_usd),
		reservedNanoUsd: nanoUsdOf(budget.reserved_usd),
	}));
	return { tokensUsed: body.tokens?.used, requestsUsed: body.requests?.used, budgets };
}

/** Waits until no budget has a reservation. @throws with the remaining reservations. */
export async function untilNothingReserved(url: string, accessToken: string, withinMs = 5000): Promise<Limits> {
	let last: Limits | undefined;
	try {
		return await eventually(
			'no reservation is open',
			async () => {
				last = await readLimits(url, accessToken);
				return last.budgets.every(({ reservedNanoUsd }) => reservedNanoUsd === 0n) ? last : undefined;
			},
			withinMs,
		);
	} catch (cause) {
		throw new Error(`still reserved: ${last?.budgets.map(({ reservedNanoUsd }) => reservedNanoUsd).join(', ')} nano-USD`, { cause });
	}
}

/**
 * Waits until the counters of a team's budget of all models have this value. A gateway whose store responded late uses a local estimate for
 * a second or two.
 */
export async function untilCountersSay(spentNanoUsd: bigint, url: string, accessToken: string): Promise<Limits> {
	let last: Limits | undefined;
	try {
		return await eventually('the counters agree', async () => {
			last = await readLimits(url, accessToken);
			return last.budgets[0]?.spentNanoUsd === spentNanoUsd ? last : undefined;
		});
	} catch (cause) {
		throw new Error(`the counters say ${last?.budgets[0]?.spentNanoUsd} instead of ${spentNanoUsd} nano-USD`, { cause });
	}
}

/** Token counts that an entry was charged for. */
export function countsOf({ closed }: LedgerEntry): TokenCounts {
	if (closed === undefined) throw new Error('the row is open still');
	const { usage } = closed;
	return {
		input: usage.inputTokens,
		cacheRead: usage.cacheReadTokens,
		cacheWrite: usage.cacheWriteTokens - usage.cacheWriteHourTokens,
		cacheWriteHour: usage.cacheWriteHourTokens,
		output: usage.outputTokens - usage.reasoningTokens,
		reasoning: usage.reasoningTokens,
	};
}

/** @throws unless each entry costs what an independent computation from its tokens gives; interrupted entries cost their reservation. */
export function expectReckonedCosts(
	rows: readonly LedgerEntry[],
	ratesOf: (row: LedgerEntry) => Rates | undefined = () => undefined,
): void {
	for (const row of rows) {
		const { id, model, closed, reservedNanoUsd } = row;
		const costNanoUsd = closed?.outcome === 'interrupted' ? reservedNanoUsd : reckonNanoUsd(model, countsOf(row), ratesOf(row));
		expect({ id, model, costNanoUsd: closed?.costNanoUsd }).toEqual({ id, model, costNanoUsd });
	}
}
