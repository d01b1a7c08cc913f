/** Mix of all kinds of requests, and the comparison of all books that record them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createSeededRandom, type SeededRandom } from '../../simulator/seeded-random.ts';
import { unitsPerToken } from '../../simulator/token-count.ts';
import { plainBudget } from '../../src/core/budget.ts';
import { systemClock } from '../../src/io/system-clock.ts';
import type { LedgerEntry } from '../../src/stores/contracts/ledger.ts';
import { openSqliteRecords } from '../../src/stores/sqlite/sqlite-records.ts';
import { type BilledRequest, billedCounts } from './accounting-bill.ts';
import { type Fleet, startFleet } from './accounting-fleet.ts';
import { type Rates, reckonNanoUsd, usdOf } from './accounting-prices.ts';
import { print } from './accounting-print.ts';
import { callGateway, createCaller, deliveredText, type RequestPlan, type Seen } from './accounting-request.ts';
import { countsOf, expectReckonedCosts, readLedger, readLimits, untilCountersSay, untilNothingReserved } from './ledger-view.ts';
import { eventually } from './product.ts';
import { createRecordingLog } from './recording-log.ts';
import { shareRedis } from './shared-stores.ts';

const atOnce = 40;
/** Delay until a change made directly in the records takes effect. */
const bindsWithinMs = 1000;

/** Fault of each model's requests; requests to other models succeed. */
const upstreamErrorOf: Readonly<Record<string, string>> = {
	'gpt-4.1-mini': '503',
	'claude-opus-4-5': '529',
	'gpt-4o-2024-05-13': 'usage-missing',
	'claude-opus-4-6': 'usage-missing',
	'gpt-4.1-nano': 'cut-after-4',
	'claude-opus-4-7': 'cut-mid-event-5',
	'chatgpt-4o-latest': 'error-mid-stream-3',
	'claude-haiku-4-5': 'error-mid-stream-4',
};

type Kind = 'plain' | 'reasoning' | 'cached' | 'leaving' | 'odd';

interface Mixed extends RequestPlan {
	readonly kind: Kind;
	readonly cachesForAnHour: boolean;
}

export interface MixBounds {
	/** Time after which no further requests are sent, */
	readonly withinMs: number;
	/** except up to this minimum. */
	readonly minCalls: number;
}

/**
 * @throws unless ledger, sums, counters of the team and of a model's cap, an independent computation and the provider's bill agree to the
 * nano-dollar.
 */
export async function expectLedgerToAgree(
	calls: number,
	{ withinMs, minCalls }: MixBounds = { withinMs: Number.POSITIVE_INFINITY, minCalls: calls },
): Promise<void> {
	const redis = await shareRedis();
	onTestFinished(() => redis.stop());
	const fleet = await startFleet({
		teams: { mixed: { dailyTokens: 1e12 } },
		clockErrors: [0, 0],
		counters: redis.url,
	});
	onTestFinished(() => fleet.close());
	await addBudgets(fleet);
	await fleet.simulator.pace(1);
	await fleet.simulator.addFaults(...Object.entries(upstreamErrorOf).map(([model, fault]) => ({ model, fault })));
	const seed = Date.now() % 1_000_000;
	print(`${calls} mixed calls, seed ${seed}`);
	const random = createSeededRandom(seed);
	const seen = await callAll(
		fleet,
		{ calls, minCalls, untilMs: performance.now() + withinMs, midway: () => reprice(fleet.dataDir) },
		random,
	);

	const [url = ''] = fleet.gateways.map((gateway) => gateway.url);
	await untilNothingReserved(url, fleet.tokenOf('mixed'));
	const bill = await eventually('the bill is final', async () => {
		const rows = await fleet.simulator.requests();
		return rows.every(({ outcome }) => outcome !== 'pending') ? rows : undefined;
	});
	const ledgerView = await readLedger(fleet.dataDir, 'mixed');
	expect(ledgerView.differences).toEqual([]);
	expectEachOnce(seen, ledgerView.rows);
	expectReckonedCosts(ledgerView.rows, ratesOf);
	expect(new Set(ledgerView.rows.filter(({ model }) => model === repricedModel).map((row) => ratesOf(row) === undefined)).size).toBe(2);
	const summed = ledgerView.sums.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n);
	expect(summed).toBe(ledgerView.spentNanoUsd);
	const limits = await untilCountersSay(ledgerView.spentNanoUsd, url, fleet.tokenOf('mixed'));
	expect(ledgerView.sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(ledgerView.rows.length);
	expect(limits.tokensUsed).toBe(ledgerView.rows.reduce((sum, row) => sum + tokensOf(row), 0));
	const ofCapped = ledgerView.rows
		.filter(({ model }) => model === repricedModel)
		.reduce((sum, { closed }) => sum + (closed?.costNanoUsd ?? 0n), 0n);
	expect(limits.budgets.map(({ model, spentNanoUsd }) => [model, spentNanoUsd])).toEqual([
		[null, ledgerView.spentNanoUsd],
		[repricedModel, ofCapped],
	]);
	const exact = expectBillToAgree(seen, ledgerView.rows, bill);
	print(describe(ledgerView.rows, exact, ledgerView.spentNanoUsd));
}

const repricedModel = 'gpt-4o';
/** Rates chosen so that every cost is rounded. */
const otherRates: Rates = [2_500_001n, 1_250_007n, 2_500_001n, 4_000_002n, 10_000_333n, 10_000_333n];

/** Adds a budget for all models and one for a single model: a request to that model counts in both. */
async function addBudgets({ dataDir, gateways, tokenOf }: Fleet): Promise<void> {
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log: createRecordingLog() });
	for (const [id, model] of [
		['all', null],
		['capped', repricedModel],
	] as const) {
		const nowMs = Date.now();
		const terms = { limitNanoUsd: 10n ** 14n, warningThresholdPercent: 80, hardLimitPercent: 100, createdAtMs: nowMs, updatedAtMs: nowMs };
		expect(await records.budgets.create({ ...plainBudget, id, team: 'mixed', model, ...terms })).toBe('created');
	}
	await records.close();
	for (const { url } of gateways) {
		await eventually('the budgets are in force', async () => (await readLimits(url, tokenOf('mixed'))).budgets.length === 2 || undefined);
	}
}

/** Changes a price under load: in-flight requests keep the price of their start. */
async function reprice(dataDir: string): Promise<void> {
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log: createRecordingLog() });
	const [inputPicoUsd = 0n, cacheReadPicoUsd = 0n, cacheWritePicoUsd = 0n, , outputPicoUsd = 0n] = otherRates;
	const rates = { inputPicoUsd, cacheReadPicoUsd, cacheWritePicoUsd, outputPicoUsd };
	await records.priceOverrides.create({ provider: 'provider_b', model: repricedModel, ...rates, updatedAtMs: Date.now() });
	await records.close();
	await sleep(bindsWithinMs);
}

function ratesOf({ priceVersion }: LedgerEntry): Rates | undefined {
	return priceVersion.startsWith('override:') ? otherRates : undefined;
}

interface Stretch {
	readonly calls: number;
	readonly minCalls: number;
	readonly untilMs: number;
	/** Runs in parallel with the second third of the minimum requests; later requests wait for it. */
	readonly midway: () => Promise<void>;
}

async function callAll(fleet: Fleet, { calls, minCalls, untilMs, midway }: Stretch, random: SeededRandom): Promise<Seen[]> {
	const caller = createCaller(fleet.tokenOf('mixed'));
	const seen: Seen[] = [];
	const third = Math.floor(minCalls / 3);
	let made = 0;
	let changing: Promise<void> | undefined;
	const canContinue = (): boolean => made < calls && (made < minCalls || performance.now() < untilMs);
	const work = async (worker: number): Promise<void> => {
		const url = fleet.gateways[worker % fleet.gateways.length]?.url ?? '';
		while (canContinue()) {
			made++;
			if (made > third) changing ??= midway();
			if (made > 2 * third) await changing;
			seen.push(inBrief(await callGateway(url, caller, planCall(random))));
		}
	};
	await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)));
	caller.agent.destroy();
	return seen;
}

/** Drops texts to save memory; only those of broken responses are checked. */
function inBrief(seen: Seen): Seen {
	return seen.isWhole && (seen.plan as Mixed).kind !== 'odd' ? { ...seen, text: '' } : seen;
}

const largeSystem = 'You answer questions about the harbor of a small town in the north. '.repeat(80);

function planCall(random: SeededRandom): Mixed {
	const format = random.pick(['chat', 'messages'] as const, 'chat');
	const kind = random.pick<Kind>(['plain', 'reasoning', 'cached', 'leaving', 'odd'], 'plain');
	const isStreaming = kind === 'leaving' || random.next() < 0.5;
	const common = {
		format,
		kind,
		isStreaming,
		capTokens: 3000,
		text: `Question ${random.letters(random.integer(3, 40))}`,
		cachesForAnHour: false,
	};
	switch (kind) {
		case 'odd': {
			const odd = Object.keys(upstreamErrorOf).filter((model) => model.startsWith('claude') === (format === 'messages'));
			return { ...common, model: random.pick(odd, '') };
		}
		case 'reasoning':
			if (format === 'chat') return { ...common, model: 'o4-mini', extra: { reasoning_effort: random.pick(['low', 'high'], 'low') } };
			return { ...common, model: 'claude-sonnet-4-5', extra: { thinking: { type: 'enabled', budget_tokens: 1024 } } };
		case 'cached':
			return format === 'chat' ? cachedChat(common, random) : cachedMessage(common, random);
		case 'leaving': {
			const bytes = random.integer(1, 5000);
			return { ...common, model: format === 'chat' ? 'gpt-4.1' : 'claude-sonnet-4-6', disconnectWhen: (text) => text.length >= bytes };
		}
		case 'plain':
			return { ...common, model: format === 'chat' ? 'gpt-4o' : 'claude-sonnet-4-0' };
	}
}

type Common = Omit<Mixed, 'model'>;

/** Request with a long prompt, which OpenAI caches automatically. */
function cachedChat(common: Common, random: SeededRandom): Mixed {
	const system = `${random.integer(1, 3)} ${largeSystem}`;
	const messages = [
		{ role: 'system', content: system },
		{ role: 'user', content: common.text },
	];
	return { ...common, model: 'gpt-4o-mini', extra: { messages } };
}

function cachedMessage(common: Common, random: SeededRandom): Mixed {
	const cachesForAnHour = random.next() < 0.5;
	const control = { type: 'ephemeral', ttl: cachesForAnHour ? '1h' : '5m' };
	// Separate prompts for the two cache durations.
	const text = `${control.ttl} ${random.integer(1, 12)} ${largeSystem}`;
	return { ...common, cachesForAnHour, model: 'claude-opus-4-8', extra: { system: [{ type: 'text', text, cache_control: control }] } };
}

/** Each response's id is in the ledger exactly once. Other entries belong to requests whose client disconnected before a response. */
function expectEachOnce(seen: readonly Seen[], rows: readonly LedgerEntry[]): void {
	const ids = new Set(rows.map(({ id }) => id));
	expect(ids.size).toBe(rows.length);
	const requestIds = seen.flatMap(({ requestId }) => requestId ?? []);
	expect(new Set(requestIds).size).toBe(requestIds.length);
	expect(requestIds.filter((id) => !ids.has(id))).toEqual([]);
	expect(rows.length).toBeLessThanOrEqual(seen.length);
	expect(rows.length - requestIds.length).toBeLessThanOrEqual(seen.filter(({ status }) => status === 0).length);
	expect(rows.filter(({ closed }) => closed === undefined)).toEqual([]);
}

/** Returns the number of requests that cost exactly what the provider billed. */
function expectBillToAgree(seen: readonly Seen[], rows: readonly LedgerEntry[], bill: readonly BilledRequest[]): number {
	const billOf = new Map(bill.map((row) => [row.id, row]));
	const rowOf = new Map(rows.map((row) => [row.id, row]));
	let exact = 0;
	for (const { plan, requestId, upstreamId, isWhole, hasDisconnected, text } of seen) {
		if (requestId === undefined || upstreamId === undefined) continue;
		const { kind, cachesForAnHour } = plan as Mixed;
		const billed = billOf.get(upstreamId);
		const row = rowOf.get(requestId);
		if (billed === undefined || row === undefined) throw new Error(`${requestId} is not in the books of both`);
		const billedNanoUsd = reckonNanoUsd(billed.model, billedCounts(billed, cachesForAnHour), ratesOf(row));
		const { outcome, costNanoUsd = -1n, isEstimated } = row.closed ?? {};
		// Id and kind identify the request in a failure message.
		const charged = { outcome, costNanoUsd, isEstimated, requestId, kind };
		if (isWhole && !hasDisconnected && kind !== 'odd') {
			expect(charged).toEqual({ outcome: 'complete', costNanoUsd: billedNanoUsd, isEstimated: false, requestId, kind });
			exact++;
		} else if (billed.outcome === 'rejected') {
			expect(charged).toEqual({ outcome: 'upstream_error', costNanoUsd: 0n, isEstimated: false, requestId, kind });
		} else {
			// Output in transit when a stream broke was billed, but no client received it.
			const delivered = Math.ceil(deliveredText(plan.format, text).length / unitsPerToken);
			const counts = billedCounts(billed, cachesForAnHour);
			const min = row.isStreaming ? { ...counts, output: Math.min(counts.output, delivered) } : counts;
			const minNanoUsd = reckonNanoUsd(billed.model, min, ratesOf(row));
			if (costNanoUsd < minNanoUsd) throw new Error(`${requestId}: ${kind} ${row.model}, ${costNanoUsd} instead of ${minNanoUsd}`);
		}
	}
	return exact;
}

function tokensOf(row: LedgerEntry): number {
	const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning } = countsOf(row);
	return input + cacheRead + cacheWrite + cacheWriteHour + output + reasoning;
}

function describe(rows: readonly LedgerEntry[], exact: number, spentNanoUsd: bigint): string {
	const outcomes = [...Map.groupBy(rows, ({ closed }) => closed?.outcome)].map(([outcome, some]) => `${some.length} ${outcome}`).join(', ');
	const caching = rows.filter((row) => countsOf(row).cacheRead > 0).length;
	const writing = rows.filter((row) => countsOf(row).cacheWriteHour > 0).length;
	return `${rows.length} rows: ${outcomes}; ${exact} exactly as billed; ${caching} read a cache, ${writing} wrote one for an hour; ${usdOf(spentNanoUsd)} USD`;
}
