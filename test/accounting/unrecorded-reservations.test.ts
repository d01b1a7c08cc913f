/** Gateway that is killed after it admitted a request and before it recorded it: the next run releases the reservation. */
import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { allModels } from '../../src/core/budget-scope.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import { periodOf } from '../../src/policy/limits/utc-time.ts';
import { openRedisAdmission } from '../../src/stores/redis/redis-admission.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { callGateway, createCaller } from '../support/accounting-request.ts';
import { readLimits, untilNothingReserved } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { startRedis } from '../support/redis-server.ts';

test('what a request reserved without a ledger entry is released at the restart, and what other gateways reserve stays', async () => {
	const redis = await startRedis();
	onTestFinished(() => redis.stop());
	const fleet = await startFleet({
		teams: { killed: { monthlyBudgetUsd: '10', dailyTokens: 1_000_000 } },
		clockErrors: [0, 0],
		counters: redis.url,
	});
	onTestFinished(() => fleet.close());
	const [killed, other] = fleet.gateways;
	if (killed === undefined || other === undefined) throw new Error('a fleet of less than two');
	const token = fleet.tokenOf('killed');
	const caller = createCaller(token);
	onTestFinished(() => caller.agent.destroy());
	const runsBefore = runsOf(fleet.dataDir);
	expect(runsBefore).toHaveLength(2);
	for (const { url } of fleet.gateways) {
		expect((await callGateway(url, caller, { format: 'chat', model: 'gpt-4o', capTokens: 100 })).status).toBe(200);
	}
	await killed.kill();
	// Reserves for both runs, as if each had died between the two steps. The file of the running gateway is still locked, which a start
	// detects.
	for (const owner of runsBefore) await reserve(redis.url, owner);
	const before = await readLimits(other.url, token);
	expect(before.budgets[0]?.reservedNanoUsd).toBe(2_000_000n);
	await killed.start();
	await eventually('what the dead run reserved is released', async () => {
		const [budget] = (await readLimits(killed.url, token)).budgets;
		return budget?.reservedNanoUsd === 1_000_000n ? budget : undefined;
	});
	expect(runsOf(fleet.dataDir)).toHaveLength(2);
	await other.kill();
	await other.start();
	await untilNothingReserved(other.url, token);
	expect((await callGateway(other.url, caller, { format: 'chat', model: 'gpt-4o', capTokens: 100 })).status).toBe(200);
});

function runsOf(dataDir: string): string[] {
	return readdirSync(dataDir).flatMap((name) => /^counters-run-([0-9a-f]+)\.lock$/.exec(name)?.[1] ?? []);
}

/** Reserves like a gateway of this run before it records the request. */
async function reserve(url: string, owner: string): Promise<void> {
	const store = await openRedisAdmission({ url, owner }, { clock: systemClock, log: createRecordingLog() });
	const reservation = { budget: allModels, period: periodOf(Date.now()), limitNanoUsd: 10n ** 10n, amountNanoUsd: 1_000_000n };
	const admission = await store.admit({
		id: `unrecorded-${owner}`,
		team: 'killed',
		limits: [],
		reservedTokens: 100,
		reservations: [{ ...reservation, check: 'before' }],
		reservationMs: 600_000,
	});
	expect(admission.isAdmitted).toBe(true);
	await store.close();
}
