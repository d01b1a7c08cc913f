/** Gateway under load at the end of a day and month. The test of the stores is src/stores/month-rollover.test.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { LedgerEntry } from '../../src/stores/contracts/ledger.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { countsOf, readLedgerOnceWritten, readLimits, untilNothingReserved } from '../support/ledger-view.ts';
import { openMovableClock } from '../support/movable-clock.ts';
import { eventually } from '../support/product.ts';

const now = new Date();
const turnMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
const callers = 12;
/** Lead time before midnight, because the processes read the clock once a second. */
const leadMs = 4000;
const afterMs = 2000;
/** Requests sent this shortly before midnight may be admitted after it. */
const betweenMs = 100;

test('each request counts in the day and month in which it was admitted; a daily limit ends with its day', {
	timeout: 60_000,
}, async () => {
	// Starts ten minutes earlier, because access tokens expire after an hour.
	const clock = openMovableClock(turnMs - 600_000);
	onTestFinished(() => clock.close());
	const teams = { busy: { dailyTokens: 1e12, monthlyBudgetUsd: '1000' }, spent: { dailyTokens: 1 } };
	const fleet = await startFleet({ teams, clock });
	onTestFinished(() => fleet.close());
	const url = fleet.gateways[0]?.url ?? '';
	const spent = createCaller(fleet.tokenOf('spent'));
	const readSpent = async (): Promise<number> => (await callGateway(url, spent, { format: 'chat', model: 'gpt-4o-mini' })).status;
	expect(await readSpent()).toBe(200);
	await eventually('the day is used up', async () => (await readSpent()) === 429 || undefined);
	await fleet.simulator.pace(15);
	await fleet.simulator.addFaults({ fault: 'tokens-50' });

	clock.moveTo(turnMs - leadMs);
	const caller = createCaller(fleet.tokenOf('busy'));
	const seen: Seen[] = [];
	const work = async (worker: number): Promise<void> => {
		for (let number = 0; clock.nowMs() < turnMs + afterMs; number++) {
			const isStreaming = (worker + number) % 3 === 0;
			seen.push(await callGateway(url, caller, { format: 'messages', model: 'claude-sonnet-4-6', isStreaming }));
			await sleep(20);
		}
	};
	await Promise.all(Array.from({ length: callers }, (_, worker) => work(worker)));
	caller.agent.destroy();
	expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
	expect(await readSpent()).toBe(200);
	spent.agent.destroy();

	await untilNothingReserved(url, fleet.tokenOf('busy'));
	const { rows, differences, sums } = await readLedgerOnceWritten(fleet.dataDir, 'busy', seen);
	expect(differences).toEqual([]);
	expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(seen.map(({ requestId }) => requestId)));
	const limits = await readLimits(url, fleet.tokenOf('busy'));
	const newEntries = rows.filter(({ startedMs }) => startedMs >= turnMs);
	const doubtful = rows.filter(({ startedMs }) => startedMs >= turnMs - betweenMs && startedMs < turnMs);
	expect(limits.budgets[0]?.spentNanoUsd).toBe(costOf(newEntries));
	expect(limits.tokensUsed).toBeGreaterThanOrEqual(tokensOf(newEntries));
	expect(limits.tokensUsed).toBeLessThanOrEqual(tokensOf(newEntries) + tokensOf(doubtful));
	const oldNanoUsd = costOf(rows.filter(({ startedMs }) => startedMs < turnMs));
	expect(sums.map(({ costNanoUsd }) => costNanoUsd).toSorted(byAmount)).toEqual([oldNanoUsd, costOf(newEntries)].toSorted(byAmount));
	// Ensures that the test had requests on both sides of midnight.
	expect(newEntries.length).toBeGreaterThan(callers);
	expect(rows.filter(({ startedMs, closed }) => startedMs < turnMs && (closed?.endedMs ?? 0) >= turnMs).length).toBeGreaterThan(0);
});

function costOf(rows: readonly LedgerEntry[]): bigint {
	return rows.reduce((sum, { closed }) => sum + (closed?.costNanoUsd ?? 0n), 0n);
}

function tokensOf(rows: readonly LedgerEntry[]): number {
	return rows.reduce((sum, row) => {
		const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning } = countsOf(row);
		return sum + input + cacheRead + cacheWrite + cacheWriteHour + output + reasoning;
	}, 0);
}

function byAmount(one: bigint, other: bigint): number {
	return Number(one - other);
}
