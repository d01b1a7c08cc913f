/** Budgets of several windows and scopes at once, over two gateways that share counters, one of which is killed. */

import { expect, onTestFinished, test } from 'vitest';
import { type BudgetPolicy, plainBudget } from '../../src/core/budget.ts';
import { counterName, isInScope } from '../../src/core/budget-scope.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import { windowAt } from '../../src/policy/limits/budget-windows.ts';
import type { LedgerEntry } from '../../src/stores/contracts/ledger.ts';
import { openSqliteRecords } from '../../src/stores/sqlite/sqlite-records.ts';
import { billedCounts } from '../support/accounting-bill.ts';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { nanoUsdOf, plainCounts, reckonNanoUsd } from '../support/accounting-prices.ts';
import { callGateway, createCaller, type RequestPlan, type Seen } from '../support/accounting-request.ts';
import { expectReckonedCosts, readLedger, untilNothingReserved } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { shareRedis } from '../support/shared-stores.ts';

const team = 'windows';
const outputTokens = 500;
const models = ['gpt-4.1', 'gpt-4.1-mini', 'claude-sonnet-4-6'] as const;
const typicalNanoUsd = reckonNanoUsd('gpt-4.1', plainCounts(10, outputTokens));
const requests = 300;

const budgets: readonly BudgetPolicy[] = [
	budgetOf('hour', { window: 'hour', limitNanoUsd: 110n * typicalNanoUsd }),
	budgetOf('day', { window: 'day', timezone: 'Asia/Tokyo', model: 'gpt-4.1*', limitNanoUsd: 40n * typicalNanoUsd }),
	budgetOf('week', { window: 'week', client: team, limitNanoUsd: 120n * typicalNanoUsd }),
	budgetOf('month', { window: 'month', timezone: 'America/New_York', provider: 'provider_a', limitNanoUsd: 90n * typicalNanoUsd }),
];

function budgetOf(id: string, changes: Partial<BudgetPolicy>): BudgetPolicy {
	return { ...plainBudget, id, limitNanoUsd: 0n, warningThresholdPercent: 80, hardLimitPercent: 100, ...changes };
}

test('300 parallel requests stay within every budget, also when a gateway is killed and counters are lost', {
	timeout: 120_000,
}, async () => {
	const redis = await shareRedis();
	onTestFinished(() => redis.stop());
	const fleet = await startFleet({
		teams: { [team]: {} },
		clockErrors: [0, 0],
		counters: redis.url,
		transfersReservation: true,
		budgets: { reservation: 'worst_case', store_failure: 'deny' },
	});
	onTestFinished(() => fleet.close());
	await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` }, { fault: 'slow-first-byte-60', rate: 0.5 });
	await createBudgets(fleet);

	const first = await sendAll(fleet, requests);
	expect(first.some(({ status }) => status === 429)).toBe(true);
	const [gateway] = fleet.gateways;
	if (gateway === undefined) throw new Error('a fleet of none');
	await untilNothingReserved(gateway.url, fleet.tokenOf(team), 10_000);
	const whole = await check(fleet);
	// Nothing was killed yet: the ledger has what the provider billed, to the nano-dollar.
	expect(whole.spentNanoUsd).toBe(whole.billedNanoUsd);

	const sending = sendAll(fleet, requests / 2);
	await gateway.kill();
	await gateway.start();
	await sending;
	await untilNothingReserved(gateway.url, fleet.tokenOf(team), 15_000);
	const killed = await check(fleet);
	expect(killed.billedNanoUsd).toBeLessThanOrEqual(killed.spentNanoUsd);

	await redis.command('FLUSHDB');
	await check(fleet);
});

async function createBudgets(fleet: Fleet): Promise<void> {
	const records = openSqliteRecords({ dataDir: fleet.dataDir }, { clock: systemClock, log: createRecordingLog() });
	const nowMs = Date.now();
	for (const budget of budgets) {
		expect(await records.budgets.create({ ...budget, team, createdAtMs: nowMs, updatedAtMs: nowMs })).toBe('created');
	}
	await records.close();
	for (const { url } of fleet.gateways) {
		await eventually(
			'the budgets are in force',
			async () => (await spentOf(url, fleet.tokenOf(team))).size === budgets.length || undefined,
		);
	}
}

async function sendAll(fleet: Fleet, count: number): Promise<readonly Seen[]> {
	const caller = createCaller(fleet.tokenOf(team));
	const seen = await Promise.all(
		Array.from({ length: count }, (_, index) => {
			const model = models[index % models.length] ?? models[0];
			const plan: RequestPlan = { format: model.startsWith('claude') ? 'messages' : 'chat', model, capTokens: outputTokens };
			return callGateway(fleet.gateways[index % 2]?.url ?? '', caller, plan);
		}),
	);
	caller.agent.destroy();
	return seen;
}

/** @throws unless ledger, counters and limits agree for every budget. */
async function check(fleet: Fleet): Promise<{ spentNanoUsd: bigint; billedNanoUsd: bigint }> {
	const ledger = await eventually('every entry is closed', async () => {
		const view = await readLedger(fleet.dataDir, team);
		return view.rows.every(({ closed }) => closed !== undefined) ? view : undefined;
	});
	expect(ledger.differences).toEqual([]);
	expectReckonedCosts(ledger.rows);
	for (const budget of budgets) {
		const counted = ledger.rows.filter((row) => isInScope(budget, { ...row, attributes: {} }, false));
		for (const [period, rows] of Map.groupBy(counted, ({ startedMs }) => windowAt(budget, startedMs).period)) {
			expect([budget.id, period, costOf(rows) <= budget.limitNanoUsd]).toEqual([budget.id, period, true]);
		}
		for (const { url } of fleet.gateways) {
			await eventually(`the counter of ${counterName(budget)} agrees with the ledger`, async () => {
				const current = counted.filter(({ startedMs }) => windowAt(budget, startedMs).period === windowAt(budget, Date.now()).period);
				return (await spentOf(url, fleet.tokenOf(team))).get(budget.id) === costOf(current) || undefined;
			});
		}
	}
	const bill = await fleet.simulator.requests();
	return {
		spentNanoUsd: ledger.spentNanoUsd,
		billedNanoUsd: bill.reduce((sum, row) => sum + reckonNanoUsd(row.model, billedCounts(row)), 0n),
	};
}

function costOf(rows: readonly LedgerEntry[]): bigint {
	return rows.reduce((sum, { closed }) => sum + (closed?.costNanoUsd ?? 0n), 0n);
}

/** Spend by the id of the budget. */
async function spentOf(url: string, accessToken: string): Promise<ReadonlyMap<string, bigint>> {
	const response = await fetch(`${url}/v1/limits`, { headers: { authorization: `Bearer ${accessToken}` } });
	const { budgets: found } = (await response.json()) as { budgets: { id: string; spent_usd: string }[] };
	return new Map(found.map(({ id, spent_usd: spent }) => [id, nanoUsdOf(spent)]));
}
