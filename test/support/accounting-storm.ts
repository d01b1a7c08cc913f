/** Many clients of a team with a nearly exhausted budget, over three gateways, with failures and disconnects. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../simulator/seeded-random.ts';
import { type BilledRequest, billedCounts } from './accounting-bill.ts';
import { type Fleet, startFleet } from './accounting-fleet.ts';
import { plainCounts, reckonNanoUsd, usdOf } from './accounting-prices.ts';
import { print } from './accounting-print.ts';
import { callGateway, createCaller, type RequestPlan, type Seen } from './accounting-request.ts';
import { expectReckonedCosts, type LedgerView, readLedger, untilCountersSay, untilNothingReserved } from './ledger-view.ts';
import { eventually } from './product.ts';
import { shareRedis } from './shared-stores.ts';

const calls = 500;
/** Period in which the requests start. */
const spreadMs = 800;
const outputTokens = 1500;
const models = { chat: 'gpt-4.1', messages: 'claude-sonnet-4-6' } as const;

/** Input tokens by the simulator's count. */
const inputTokens = 10;
/** Cost of a successful request to the more expensive model. */
const typicalNanoUsd = reckonNanoUsd(models.messages, plainCounts(inputTokens, outputTokens));
const budgetNanoUsd = 50n * typicalNanoUsd;

/** Maximum reservation of one request: its bytes and its output limit. */
const maxReservationNanoUsd = reckonNanoUsd(models.messages, plainCounts(400, outputTokens));

interface Round {
	readonly seen: readonly Seen[];
	readonly bill: readonly BilledRequest[];
	readonly billedNanoUsd: bigint;
	readonly ledgerView: LedgerView;
	readonly spentNanoUsd: bigint;
}

/** @throws unless in each round the provider's bill, the ledger and the counters stay within the budget, to the nano-dollar. */
export async function expectNoOverspending(rounds: number): Promise<void> {
	const fleet = await openFleet('worst_case', rounds);
	const outcomes = new Set<string>();
	for (let round = 0; round < rounds; round++) {
		const seed = Date.now() % 1_000_000;
		print(`worst case, round ${round}, seed ${seed}`);
		const { bill, billedNanoUsd, ledgerView, spentNanoUsd, seen } = await runRound(fleet, `team-${round}`, seed, { fillsUp: true });
		expect(billedNanoUsd).toBeLessThanOrEqual(budgetNanoUsd);
		expect(spentNanoUsd).toBe(ledgerView.spentNanoUsd);
		expect(spentNanoUsd).toBeLessThanOrEqual(budgetNanoUsd);
		// Nearly all of the budget is used: the rest is less than one more request might cost.
		expect(budgetNanoUsd - spentNanoUsd).toBeLessThan(maxReservationNanoUsd);
		print(describe({ bill, billedNanoUsd, ledgerView, spentNanoUsd, seen }));
		for (const { outcome } of bill) outcomes.add(outcome);
	}
	expect(outcomes).toContain('rejected');
	expect(outcomes).toContain('aborted');
}

/** Reservations by estimate are not a bound: in-flight requests continue after the budget is exhausted. */
export async function expectBoundedOvershoot(): Promise<void> {
	const fleet = await openFleet('estimate', 1);
	const seed = Date.now() % 1_000_000;
	print(`estimate, seed ${seed}`);
	const round = await runRound(fleet, 'team-0', seed, { fillsUp: false });
	print(describe(round));
	const { ledgerView, spentNanoUsd, billedNanoUsd } = round;
	expect(spentNanoUsd).toBe(ledgerView.spentNanoUsd);
	expect(spentNanoUsd).toBeGreaterThanOrEqual(budgetNanoUsd);
	expect(billedNanoUsd - budgetNanoUsd).toBeLessThanOrEqual(BigInt(maxConcurrency(ledgerView)) * typicalNanoUsd);
	expect(spentNanoUsd - budgetNanoUsd).toBeLessThanOrEqual(BigInt(maxConcurrency(ledgerView)) * typicalNanoUsd);
}

async function openFleet(reservation: 'worst_case' | 'estimate', teams: number): Promise<Fleet> {
	const redis = await shareRedis();
	onTestFinished(() => redis.stop());
	const names = Array.from({ length: teams }, (_, index) => [`team-${index}`, { monthlyBudgetUsd: usdOf(budgetNanoUsd) }]);
	const fleet = await startFleet({
		teams: Object.fromEntries(names) as Record<string, { monthlyBudgetUsd: string }>,
		clockErrors: [0, 0, 0],
		counters: redis.url,
		transfersReservation: true,
		// Denied if the store fails: otherwise a busy machine that delays the store would break the budget.
		budgets: { reservation, store_failure: 'deny' },
	});
	onTestFinished(() => fleet.close());
	return fleet;
}

async function runRound(fleet: Fleet, team: string, seed: number, { fillsUp }: { fillsUp: boolean }): Promise<Round> {
	const { simulator } = fleet;
	await simulator.startNewBill();
	await simulator.clearFaults();
	await simulator.pace(2);
	await simulator.addFaults(
		{ fault: `tokens-${outputTokens}` },
		{ fault: 'slow-first-byte-60', rate: 0.5, seed },
		{ fault: 'slow-first-byte-250', rate: 0.3, seed: seed + 1 },
		{ fault: '500', rate: 0.05, seed: seed + 2 },
		{ fault: 'reset', rate: 0.02, seed: seed + 3 },
		{ fault: 'cut-after-8', rate: 0.03, seed: seed + 4 },
	);
	const random = createSeededRandom(seed);
	const caller = createCaller(fleet.tokenOf(team));
	const urls = fleet.gateways.map(({ url }) => url);
	const plans = Array.from({ length: calls }, () => ({
		plan: planCall(random),
		delayMs: random.integer(0, spreadMs),
		url: random.pick(urls, ''),
	}));
	const seen = await Promise.all(
		plans.map(async ({ plan, delayMs, url }) => {
			await sleep(delayMs);
			return callGateway(url, caller, plan);
		}),
	);
	await simulator.clearFaults();
	await simulator.addFaults({ fault: `tokens-${outputTokens}` });
	const [first = ''] = urls;
	await untilNothingReserved(first, fleet.tokenOf(team), 8000);
	if (fillsUp) seen.push(...(await fillUp(first, fleet.tokenOf(team))));
	caller.agent.destroy();
	return closeRound(fleet, team, seen);
}

/** Sends requests one after the other until the budget rejects one. */
async function fillUp(url: string, accessToken: string): Promise<Seen[]> {
	const caller = createCaller(accessToken);
	const seen: Seen[] = [];
	for (let last = 200; last !== 429 && seen.length <= 100; ) {
		// Waits, because a response may arrive before it is settled.
		await untilNothingReserved(url, accessToken);
		const one = await callGateway(url, caller, { format: 'messages', model: models.messages, capTokens: outputTokens });
		last = one.status;
		seen.push(one);
		if (last === 503) await sleep(100);
	}
	caller.agent.destroy();
	expect(seen.at(-1)?.status).toBe(429);
	return seen;
}

async function closeRound(fleet: Fleet, team: string, seen: readonly Seen[]): Promise<Round> {
	const [gateway] = fleet.gateways;
	if (gateway === undefined) throw new Error('a fleet of none');
	const bill = await eventually('the bill is final', async () => {
		const rows = await fleet.simulator.requests();
		return rows.every(({ outcome }) => outcome !== 'pending') ? rows : undefined;
	});
	await untilNothingReserved(gateway.url, fleet.tokenOf(team));
	const ledgerView = await readLedger(fleet.dataDir, team);
	const limits = await untilCountersSay(ledgerView.spentNanoUsd, gateway.url, fleet.tokenOf(team));
	expect(ledgerView.differences).toEqual([]);
	expect(ledgerView.rows.filter(({ closed }) => closed === undefined)).toEqual([]);
	expectReckonedCosts(ledgerView.rows);
	const billedNanoUsd = bill.reduce((sum, row) => sum + reckonNanoUsd(row.model, billedCounts(row)), 0n);
	return { seen, bill, billedNanoUsd, ledgerView, spentNanoUsd: limits.budgets[0]?.spentNanoUsd ?? -1n };
}

function planCall(random: SeededRandom): RequestPlan {
	const format = random.pick(['chat', 'messages'] as const, 'chat');
	const disconnectAfterMs = random.next() < 0.1 ? random.integer(5, 300) : undefined;
	return {
		format,
		model: models[format],
		isStreaming: random.next() < 0.4,
		capTokens: outputTokens,
		...(disconnectAfterMs !== undefined && { disconnectAfterMs }),
	};
}

/** Maximum number of concurrent requests, by the ledger. */
function maxConcurrency({ rows }: LedgerView): number {
	const changes = rows.flatMap(({ startedMs, closed }) => [
		{ atMs: startedMs, by: 1 },
		{ atMs: closed?.endedMs ?? Number.POSITIVE_INFINITY, by: -1 },
	]);
	let open = 0;
	let max = 0;
	for (const { by } of changes.toSorted((one, other) => one.atMs - other.atMs || other.by - one.by)) {
		open += by;
		max = Math.max(max, open);
	}
	return max;
}

function describe({ bill, billedNanoUsd, spentNanoUsd, ledgerView, seen }: Round): string {
	const outcomes = Map.groupBy(bill, ({ outcome }) => outcome);
	const upstream = [...outcomes].map(([outcome, rows]) => `${rows.length} ${outcome}`).join(', ');
	const left = seen.filter(({ hasDisconnected }) => hasDisconnected).length;
	const denied = seen.filter(({ status }) => status === 503).length;
	return `budget ${usdOf(budgetNanoUsd)}, charged ${usdOf(spentNanoUsd)}, billed ${usdOf(billedNanoUsd)}; ${upstream}; ${left} clients left; ${denied} without counters; at most ${maxConcurrency(ledgerView)} at once`;
}
