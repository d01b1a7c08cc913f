/** Gateway that is killed at random times under load, and restarted with the same ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../simulator/seeded-random.ts';
import { type Fleet, startFleet } from './accounting-fleet.ts';
import { print } from './accounting-print.ts';
import { callGateway, createCaller, type RequestPlan, type Seen } from './accounting-request.ts';
import { expectReckonedCosts, readLedger, untilCountersSay, untilNothingReserved } from './ledger-view.ts';
import { eventually } from './product.ts';
import { type RedisDatabase, shareRedis } from './shared-stores.ts';

const callers = 24;
/** Upper bound of a request's duration. Below: the time to settle it, and the rounding of a store. */
const maxCallMs = 5000;
const reservationsEndMs = maxCallMs + 30_000 + 5000;

/** @throws unless after each kill the ledger has every complete response exactly once, and no reservation remains. */
export async function expectNoLostEntries(
	kills: number,
	counters: 'memory' | 'redis',
	{ waitsForReservations }: { waitsForReservations: boolean },
): Promise<void> {
	const fleet = await openFleet(counters);
	const [gateway] = fleet.gateways;
	if (gateway === undefined) throw new Error('a fleet of none');
	const token = fleet.tokenOf('killed');
	const seed = Date.now() % 1_000_000;
	print(`${kills} kills with counters in ${counters}, seed ${seed}`);
	const random = createSeededRandom(seed);
	const seen: Seen[] = [];
	for (let kill = 0; kill < kills; kill++) {
		const load = startLoad(gateway.url, token, random, seen);
		await sleep(random.integer(20, 400));
		await gateway.kill();
		await load.stop();
		await gateway.start();
		await untilNothingReserved(gateway.url, token, counters === 'memory' ? 1000 : 5000);
	}
	const caller = createCaller(token);
	for (let index = 0; index < 20; index++) expect((await callGateway(gateway.url, caller, planCall(random))).status).toBe(200);
	caller.agent.destroy();
	await expectLedger(fleet, seen, counters);
	if (waitsForReservations) await untilNothingReserved(gateway.url, token, reservationsEndMs);
}

async function openFleet(counters: 'memory' | 'redis'): Promise<Fleet> {
	let redis: RedisDatabase | undefined;
	if (counters === 'redis') redis = await shareRedis();
	onTestFinished(() => redis?.stop());
	const fleet = await startFleet({
		teams: { killed: { monthlyBudgetUsd: '1000000', dailyTokens: 1e12 } },
		counters: redis?.url ?? 'memory',
		gateway: { timeouts: { total_ms: maxCallMs, stream_total_ms: maxCallMs } },
	});
	onTestFinished(() => fleet.close());
	await fleet.simulator.pace(5);
	await fleet.simulator.addFaults({ fault: 'slow-first-byte-30', rate: 0.5 });
	return fleet;
}

function startLoad(url: string, token: string, random: SeededRandom, seen: Seen[]): { stop(): Promise<void> } {
	const caller = createCaller(token);
	let isOver = false;
	const work = async (): Promise<void> => {
		while (!isOver) {
			const one = await callGateway(url, caller, planCall(random));
			seen.push(one);
			if (one.status === 0) await sleep(20);
		}
	};
	const all = Promise.all(Array.from({ length: callers }, work));
	return {
		async stop() {
			isOver = true;
			await all;
			caller.agent.destroy();
		},
	};
}

function planCall(random: SeededRandom): RequestPlan {
	const format = random.pick(['chat', 'messages'] as const, 'chat');
	return { format, model: format === 'chat' ? 'gpt-4o' : 'claude-sonnet-4-6', isStreaming: random.next() < 0.5, capTokens: 500 };
}

async function expectLedger(fleet: Fleet, seen: readonly Seen[], counters: 'memory' | 'redis'): Promise<void> {
	const [gateway] = fleet.gateways;
	const token = fleet.tokenOf('killed');
	// Waits, because the last responses may arrive before they are settled.
	const { rows, spentNanoUsd, differences } = await eventually('every row is closed', async () => {
		const ledgerView = await readLedger(fleet.dataDir, 'killed');
		return ledgerView.rows.every(({ closed }) => closed !== undefined) ? ledgerView : undefined;
	});
	const { budgets } = await untilCountersSay(spentNanoUsd, gateway?.url ?? '', token);
	const [budget] = budgets;
	if (budget === undefined) throw new Error('the team has no budget');
	if (counters === 'memory') expect(budget.reservedNanoUsd).toBe(0n);
	expect(differences).toEqual([]);
	const rowOf = new Map(rows.map((row) => [row.id, row]));
	expect(rowOf.size).toBe(rows.length);
	expect(seen.filter(({ status }) => status !== 200 && status !== 0).map(({ status }) => status)).toEqual([]);

	const whole = seen.filter(({ isWhole }) => isWhole);
	const missing = whole.filter(({ requestId }) => !rowOf.has(requestId ?? ''));
	expect(missing.map(({ requestId }) => requestId)).toEqual([]);
	expectReckonedCosts(rows);
	const interrupted = rows.filter(({ closed }) => closed?.outcome === 'interrupted').length;
	print(
		`${seen.length} calls, ${whole.length} seen whole, ${rows.length} rows, ${interrupted} interrupted; ledger ${spentNanoUsd}, counters ${budget.spentNanoUsd} and ${budget.reservedNanoUsd} held`,
	);
	// Ensures that the kills interrupted requests.
	expect(interrupted).toBeGreaterThan(0);
}
