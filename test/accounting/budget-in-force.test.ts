/** Warnings, rejections, caps of one model, and changed budgets, over two gateways that share counters and records. */

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { plainBudget } from '../../src/core/budget.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import type { Budget, RecordStore } from '../../src/stores/contracts/records.ts';
import { openSqliteRecords } from '../../src/stores/sqlite/sqlite-records.ts';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { plainCounts, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { type Limits, readLimits, untilNothingReserved } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { type RedisDatabase, shareRedis } from '../support/shared-stores.ts';

const models = { dear: 'gpt-4o', cheap: 'gpt-4o-mini' } as const;
const outputTokens = 400;
/** Tokens that the simulator counts for the question, three for the message included. */
const inputTokens = 6;
const costNanoUsd = reckonNanoUsd(models.dear, plainCounts(inputTokens, outputTokens));

let redis: RedisDatabase;
let fleet: Fleet;
let records: RecordStore;
beforeAll(async () => {
	redis = await shareRedis();
	fleet = await startFleet({ teams: { warned: {}, crowded: {}, capped: {} }, clockErrors: [0, 0], counters: redis.url });
	await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` });
	records = openSqliteRecords({ dataDir: fleet.dataDir }, { clock: systemClock, log: createRecordingLog() });
});
afterAll(async () => {
	await records.close();
	await fleet.close();
	await redis.stop();
});

test('80 % is logged once for all gateways, 100 % rejects without a provider request, a raised limit applies within a second', async () => {
	const warned = openTeam('warned');
	const whole = 10n * costNanoUsd;
	expect(await records.budgets.create(budgetOf('warned', { limitNanoUsd: whole }))).toBe('created');
	await warned.untilLimitIs(whole);
	for (let calls = 1; calls <= 10; calls++) {
		expect((await warned.spend(calls % 2)).status, `call ${calls}`).toBe(200);
		const { budgets } = await warned.untilSettled();
		expect(budgets[0]?.spentNanoUsd).toBe(BigInt(calls) * costNanoUsd);
		await warned.expectWarnings(calls < 8 ? 0 : 1);
	}
	expect(warned.warnings()[0]).toMatchObject({ percent: 80, spentUsd: shortUsd(8n * costNanoUsd), limitUsd: shortUsd(whole) });

	const reason = `Monthly budget exceeded (${shortUsd(whole)}/${shortUsd(whole)} USD)`;
	await warned.expectRejected({ error: { code: 'budget_exceeded' }, action: 'reject', reason });

	const raised = 20n * costNanoUsd;
	const raisedMs = performance.now();
	expect(await records.budgets.replace(budgetOf('warned', { limitNanoUsd: raised }))).toBe('replaced');
	await warned.untilLimitIs(raised);
	expect(performance.now() - raisedMs).toBeLessThan(1500);
	for (let calls = 11; calls <= 20; calls++) {
		expect((await warned.spend(calls % 2)).status, `call ${calls}`).toBe(200);
		await warned.untilSettled();
		// After the limit was raised to twenty requests, the threshold of 80 % is crossed a second time.
		await warned.expectWarnings(calls < 16 ? 1 : 2);
	}
	expect((await warned.spend(0)).status).toBe(429);
});

test('many concurrent requests cross the threshold once', async () => {
	const crowded = openTeam('crowded');
	const whole = 50n * costNanoUsd;
	await records.budgets.create(budgetOf('crowded', { limitNanoUsd: whole }));
	await crowded.untilLimitIs(whole);
	const seen = await Promise.all(Array.from({ length: 48 }, (_, index) => crowded.spend(index % 2)));
	expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
	await crowded.untilSettled();
	await crowded.expectWarnings(1);
});

test('the cap of a model blocks that model alone, and what it spends counts on both budgets', async () => {
	const capped = openTeam('capped');
	const cap = 2n * costNanoUsd;
	await records.budgets.create(budgetOf('capped', { limitNanoUsd: 100n * costNanoUsd }));
	await records.budgets.create(budgetOf('capped', { id: 'cap', model: models.dear, limitNanoUsd: cap }));
	await capped.untilLimitIs(100n * costNanoUsd, 2);
	for (const index of [0, 1]) {
		expect((await capped.spend(index)).status).toBe(200);
		await capped.untilSettled();
	}
	const reason = `Monthly budget of the model ${models.dear} exceeded (${shortUsd(cap)}/${shortUsd(cap)} USD)`;
	await capped.expectRejected({ error: { code: 'model_budget_exceeded' }, action: 'reject', reason });
	for (const index of [0, 1]) expect((await capped.spend(index, models.cheap)).status).toBe(200);
	const { budgets } = await capped.untilSettled();
	const cheapNanoUsd = reckonNanoUsd(models.cheap, plainCounts(inputTokens, outputTokens));
	expect(budgets).toMatchObject([
		{ model: null, spentNanoUsd: cap + 2n * cheapNanoUsd },
		{ model: models.dear, spentNanoUsd: cap },
	]);
});

interface TeamAtWork {
	/** Sends one request, to the first gateway or the second. */
	spend(gateway: number, model?: string): Promise<Seen>;
	/** Waits until both gateways use the limit. */
	untilLimitIs(limitNanoUsd: bigint, budgets?: number): Promise<void>;
	untilSettled(): Promise<Limits>;
	/** Expects a rejection by both gateways, and no request to the provider. */
	expectRejected(body: object): Promise<void>;
	warnings(): readonly Record<string, unknown>[];
	expectWarnings(count: number): Promise<void>;
}

function openTeam(team: string): TeamAtWork {
	const { gateways, simulator } = fleet;
	const token = fleet.tokenOf(team);
	const caller = createCaller(token);
	const spend: TeamAtWork['spend'] = (gateway, model = models.dear) =>
		callGateway(gateways[gateway]?.url ?? '', caller, { format: 'chat', model, capTokens: outputTokens });
	const warnings = (): Record<string, unknown>[] =>
		gateways.flatMap(({ log }) => log).filter((line) => line['msg'] === 'budget warning' && line['team'] === team);
	onTestFinished(() => caller.agent.destroy());
	return {
		spend,
		warnings,
		async untilLimitIs(limitNanoUsd, count = 1) {
			for (const { url } of gateways) {
				await eventually('the budget is in force', async () => {
					const { budgets } = await readLimits(url, token);
					return budgets.length === count && budgets[0]?.limitNanoUsd === limitNanoUsd ? true : undefined;
				});
			}
		},
		untilSettled: () => untilNothingReserved(gateways[0]?.url ?? '', token),
		async expectRejected(body) {
			const requested = (await simulator.requests()).length;
			for (const index of gateways.keys()) {
				const { status, text, headers } = await spend(index);
				expect(status).toBe(429);
				expect(JSON.parse(text)).toMatchObject(body);
				expect(headers['x-should-retry']).toBe('false');
			}
			expect(await simulator.requests()).toHaveLength(requested);
		},
		async expectWarnings(count) {
			await eventually(`${count} warnings`, () => (warnings().length >= count ? true : undefined));
			// Ordering: log lines written before these responses are in the logs by then, a surplus warning included.
			for (const { url } of gateways) await readLimits(url, token);
			expect(warnings()).toHaveLength(count);
		},
	};
}

function budgetOf(team: string, changes: Partial<Budget>): Budget {
	const nowMs = Date.now();
	return {
		...plainBudget,
		id: `${team}-own`,
		team,
		model: null,
		limitNanoUsd: 0n,
		warningThresholdPercent: 80,
		hardLimitPercent: 100,
		createdAtMs: nowMs,
		updatedAtMs: nowMs,
		...changes,
	};
}

/** Formats with at least two decimals, as the gateway does. */
function shortUsd(nanoUsd: bigint): string {
	const [whole = '', fraction = ''] = usdOf(nanoUsd).split('.');
	return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}
