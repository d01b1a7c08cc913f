/**
 * Rate limit under a thousand concurrent requests: exactly the limit is admitted, for any number of gateways that share the counters.
 * Errors of their clocks have no effect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { untilMinuteHasCapacity } from '../support/accounting-minute.ts';
import { callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { eventually } from '../support/product.ts';
import { type RedisDatabase, shareRedis } from '../support/shared-stores.ts';

const limit = 100;
const calls = 1000;
const burstMs = 10_000;
const attempts = 5;
/** Delay after which a gateway tries an unreachable store again. */
const reachableAgainMs = 2000;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

test('1,000 concurrent requests over 1, 2 and 4 gateways with Redis: 100 pass in each case', { timeout: 150_000 }, async () => {
	const redis = await openRedis();
	const fleet = await openFleet({ counters: redis.url, clockErrors: [0, 0, 0, 0] });
	for (const gateways of [1, 2, 4]) await expectExactLimit(fleet, gateways);
});

test('with clocks that differ by ten seconds too', { timeout: 150_000 }, async () => {
	const redis = await openRedis();
	const fleet = await openFleet({ counters: redis.url, clockErrors: [-5, 5] });
	expect(await clockError(fleet, 0)).toBeLessThan(-4);
	expect(await clockError(fleet, 1)).toBeGreaterThan(3);
	await expectExactLimit(fleet, 2);
});

test('one gateway behind an edge, with counters of its own', { timeout: 150_000 }, async () => {
	const fleet = await openFleet({ roles: ['edge', 'gateway'] });
	await expectExactLimit(fleet, 1);
});

async function openRedis(): Promise<RedisDatabase> {
	const redis = await shareRedis();
	closing.push(() => redis.stop());
	return redis;
}

async function openFleet(plan: { counters?: string; clockErrors?: number[]; roles?: string[] }): Promise<Fleet> {
	const teams = [1, 2, 4].flatMap((gateways) =>
		Array.from({ length: attempts }, (_, attempt) => [teamOf(gateways, attempt), { rpm: limit }]),
	);
	const fleet = await startFleet({
		teams: Object.fromEntries(teams) as Record<string, { rpm: number }>,
		transfersReservation: true,
		...plan,
	});
	closing.unshift(() => fleet.close());
	return fleet;
}

function teamOf(gateways: number, attempt: number): string {
	return `over-${gateways}-${attempt}`;
}

/**
 * Expects the exact limit in one of several bursts. On a crowded machine a counter store may respond too late, and a request passes
 * uncounted. The logs report each such request, and the test repeats the burst.
 */
async function expectExactLimit(fleet: Fleet, gateways: number): Promise<void> {
	const disturbances: string[] = [];
	for (let attempt = 0; attempt < attempts; attempt++) {
		const disturbance = await expectBurst(fleet, teamOf(gateways, attempt), gateways);
		if (disturbance === undefined) return;
		disturbances.push(disturbance);
		await sleep(reachableAgainMs);
	}
	throw new Error(`no burst over ${gateways} gateways was undisturbed: ${disturbances.join(', ')}`);
}

/** Returns the disturbance that makes the burst inconclusive; undefined if there was none. */
async function expectBurst(fleet: Fleet, team: string, gateways: number): Promise<string | undefined> {
	await fleet.simulator.startNewBill();
	const caller = createCaller(fleet.tokenOf(team));
	const urls = fleet.gateways.slice(0, gateways).map(({ url }) => url);
	await untilMinuteHasCapacity(burstMs);
	const minute = Math.floor(Date.now() / 60_000);
	const seen = await Promise.all(
		Array.from({ length: calls }, async (_, index) => {
			const call = await callGateway(urls[index % urls.length] ?? '', caller, { format: 'chat', model: 'gpt-4o-mini' });
			return { ...call, remainingSeconds: 60 - ((Date.now() / 1000) % 60) };
		}),
	);
	caller.agent.destroy();
	if (Math.floor(Date.now() / 60_000) !== minute) return 'it took longer than its minute';
	const passed = seen.filter(({ status }) => status === 200);
	expect(passed.length + seen.filter(({ status }) => status === 429).length).toBe(calls);
	expect(await fleet.simulator.requests()).toHaveLength(passed.length);
	const uncounted = await countUncounted(fleet, passed);
	if (uncounted > 0) {
		expect(passed.length - uncounted).toBeLessThanOrEqual(limit);
		return `${uncounted} calls passed uncounted`;
	}
	expect(passed).toHaveLength(limit);
	for (const { status, text, headers, remainingSeconds } of seen) {
		if (status === 200) continue;
		const body = JSON.parse(text) as { retry_after_seconds: number };
		expect(body).toEqual({
			type: 'error',
			allowed: false,
			reason: `RPM limit exceeded (${limit}/${limit} requests per minute)`,
			retry_after_seconds: expect.any(Number) as unknown,
			error: expect.objectContaining({ code: 'rpm_limit_exceeded' }) as unknown,
			request_id: headers['x-request-id'],
		});
		// Tolerance: the response may have waited for this process.
		expect(body.retry_after_seconds).toBeGreaterThanOrEqual(remainingSeconds - 1);
		expect(body.retry_after_seconds).toBeLessThanOrEqual(remainingSeconds + burstMs / 1000);
		expect(headers['retry-after']).toBe(String(body.retry_after_seconds));
	}
	await expectTrueWait(urls, fleet.tokenOf(team));
	return undefined;
}

/** Counts the requests whose log line says that they passed uncounted. */
async function countUncounted(fleet: Fleet, passed: readonly Seen[]): Promise<number> {
	const ids = new Set(passed.map(({ requestId }) => requestId));
	return eventually('every call is in the logs', () => {
		const lines = fleet.gateways
			.flatMap(({ log }) => log)
			.filter((line) => line['msg'] === 'request' && ids.has(String(line['requestId'])));
		return lines.length === ids.size ? lines.filter((line) => line['isUncounted'] === true).length : undefined;
	});
}

/** Sends one more request alone, so that nothing delays its response. */
async function expectTrueWait(urls: readonly string[], accessToken: string): Promise<void> {
	for (const url of urls) {
		const caller = createCaller(accessToken);
		const { status, text } = await callGateway(url, caller, { format: 'messages', model: 'claude-haiku-4-5' });
		const remainingSeconds = 60 - ((Date.now() / 1000) % 60);
		caller.agent.destroy();
		expect(status).toBe(429);
		const { retry_after_seconds: reportedSeconds } = JSON.parse(text) as { retry_after_seconds: number };
		expect(Math.abs(reportedSeconds - remainingSeconds)).toBeLessThanOrEqual(1.1);
	}
}

/** Error of a gateway's clock in seconds, rounded down, from its responses. */
async function clockError(fleet: Fleet, index: number): Promise<number> {
	const gateway = fleet.gateways[index];
	if (gateway === undefined) throw new Error('no such gateway');
	const trueMs = Date.now();
	const response = await fetch(`${gateway.url}/readyz`);
	await response.arrayBuffer();
	return (Date.parse(response.headers.get('date') ?? '') - trueMs) / 1000;
}
