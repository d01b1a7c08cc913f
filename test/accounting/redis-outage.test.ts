/** Counters in Redis that is killed, stopped, emptied or slow while two gateways serve requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { untilMinuteHasCapacity } from '../support/accounting-minute.ts';
import { print } from '../support/accounting-print.ts';
import { type Caller, callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { readLedger, untilCountersSay, untilNothingReserved } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { openSlowLink, type SlowLink } from '../support/slow-link.ts';

/** Limit of added latency: 50 ms for the first requests by the counters' specification, doubled for a busy machine. */
const maxAddedMs = 100;
/** Limit of the median, because most requests do not wait at all. */
const maxAddedTypicalMs = 20;
const enforcedAgainMs = 3000;
const pauseMs = 25;

let redis: RedisServer;
let link: SlowLink;
let fleet: Fleet;
beforeEach(async () => {
	redis = await startRedis();
	link = await openSlowLink(redis.port);
	const teams = { spending: { monthlyBudgetUsd: '1000' }, limited: { rpm: 3 } };
	fleet = await startFleet({ teams, clockErrors: [0, 0], counters: `redis://127.0.0.1:${link.port}` });
});
afterEach(async () => {
	await fleet.close();
	await link.close();
	await redis.stop();
});

interface Outage {
	readonly name: string;
	begin(): Promise<void> | void;
	/** Ends the outage; undefined for one that is momentary. */
	end?(): Promise<void> | void;
}

const weathers: readonly Outage[] = [
	{ name: 'emptied', begin: async () => expect(await redis.command('FLUSHALL')).toBe('+OK') },
	{ name: 'slow', begin: () => link.setDelay(400), end: () => link.setDelay(0) },
	{ name: 'stopped', begin: () => redis.signal('SIGSTOP'), end: () => redis.signal('SIGCONT') },
	{ name: 'killed', begin: () => redis.kill(), end: () => redis.restart() },
];

test('while the store is emptied, slow, stopped, killed: every request succeeds, limits are enforced again within 3 s, totals are correct', {
	timeout: 90_000,
}, async () => {
	const spending = createCaller(fleet.tokenOf('spending'));
	const limited = createCaller(fleet.tokenOf('limited'));
	await exhaust(limited);
	await traffic(spending, 20);
	const usual = gatewayTimes(await traffic(spending, 40));
	for (const { name, begin, end } of weathers) {
		const noise = watchNoise();
		const during = traffic(spending, 50);
		await sleep(4 * pauseMs);
		await begin();
		const calls = await during;
		expect(calls.filter(({ status }) => status !== 200).map(({ status, text }) => `${name}: ${status} ${text}`)).toEqual([]);
		const times = gatewayTimes(calls);
		const noiseMs = await noise.stop();
		await untilMinuteHasCapacity(2 * enforcedAgainMs);
		await end?.();
		const backMs = await untilEnforced(limited);
		print(
			`${name}: ${describe(times)}; usually ${describe(usual)}; ${noiseMs.toFixed(0)} ms without any store; enforced again after ${backMs.toFixed(0)} ms`,
		);
		// Doubled, because the gateway and the process that measures it may both wait for a core.
		expect(times.slowestMs).toBeLessThanOrEqual(2 * Math.max(usual.slowestMs, noiseMs) + maxAddedMs);
		expect(times.medianMs).toBeLessThanOrEqual(usual.medianMs + maxAddedTypicalMs);
		expect(backMs).toBeLessThanOrEqual(enforcedAgainMs);
		await expectTotals();
	}
	spending.agent.destroy();
	limited.agent.destroy();
});

/** Sends requests at intervals over both gateways, non-streaming and streaming. */
async function traffic(caller: Caller, calls: number): Promise<Seen[]> {
	const running: Promise<Seen>[] = [];
	for (let index = 0; index < calls; index++) {
		const url = fleet.gateways[index % 2]?.url ?? '';
		const format = index % 3 === 0 ? 'messages' : 'chat';
		running.push(
			callGateway(url, caller, { format, model: format === 'chat' ? 'gpt-4o' : 'claude-sonnet-4-6', isStreaming: index % 5 === 0 }),
		);
		await sleep(pauseMs);
	}
	return Promise.all(running);
}

/** Measures the maximum latency of a request that needs no store, because a busy machine delays everything. */
function watchNoise(): { stop(): Promise<number> } {
	let isOver = false;
	let worstMs = 0;
	const watch = async (url: string): Promise<void> => {
		while (!isOver) {
			const startedMs = performance.now();
			await (await fetch(`${url}/healthz`)).arrayBuffer();
			worstMs = Math.max(worstMs, performance.now() - startedMs);
			await sleep(10);
		}
	};
	const watching = Promise.all(fleet.gateways.map(({ url }) => watch(url)));
	return {
		async stop() {
			isOver = true;
			await watching;
			return worstMs;
		},
	};
}

interface Times {
	readonly slowestMs: number;
	readonly medianMs: number;
}

/** Durations in the gateway until its response, without the provider's time, from the response headers. */
function gatewayTimes(calls: readonly Seen[]): Times {
	const sorted = calls
		.map(({ headers }) => Number(/^gateway;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1]))
		.toSorted((one, other) => one - other);
	return { slowestMs: sorted.at(-1) ?? Number.NaN, medianMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN };
}

function describe({ slowestMs, medianMs }: Times): string {
	return `slowest ${slowestMs.toFixed(0)} ms, half within ${medianMs.toFixed(1)} ms`;
}

/** Sends requests until both gateways reject them. */
async function exhaust(caller: Caller): Promise<void> {
	await untilEnforced(caller);
}

/** Returns the time until each gateway rejects a request. */
async function untilEnforced(caller: Caller): Promise<number> {
	const startedMs = performance.now();
	for (const { url } of fleet.gateways) {
		await eventually(
			'the limit holds again',
			async () => ((await callGateway(url, caller, { format: 'chat', model: 'gpt-4o-mini' })).status === 429 ? true : undefined),
			10_000,
		);
	}
	return performance.now() - startedMs;
}

/** Compares the totals of both gateways and the ledger, to the nano-dollar. */
async function expectTotals(): Promise<void> {
	const token = fleet.tokenOf('spending');
	for (const { url } of fleet.gateways) await untilNothingReserved(url, token);
	const { spentNanoUsd, rows, differences } = await readLedger(fleet.dataDir, 'spending');
	expect(differences).toEqual([]);
	expect(rows.filter(({ closed }) => closed?.outcome !== 'complete')).toEqual([]);
	for (const { url } of fleet.gateways) await untilCountersSay(spentNanoUsd, url, token);
}
