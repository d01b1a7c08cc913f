/** Tests with real servers that really fail. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { rateLimits } from '../../test/support/rate-limits.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts';
import { RequestLog } from '../../test/support/request-capture.ts';
import { openSlowLink, type SlowLink } from '../../test/support/slow-link.ts';
import { until } from '../../test/support/until.ts';
import { systemClock } from '../io/system-clock.ts';
import type { AdmissionStore } from './contracts/admission.ts';
import { failOpen } from './failing-open-admission.ts';
import type { FailingOpenAdmission } from './failing-open-settings.ts';
import { openRedisAdmission } from './redis/redis-admission.ts';

const month = { budget: 'month', period: '2026-11' };
const reservation = { ...month, limitNanoUsd: 1_000_000n, amountNanoUsd: 10n, check: 'after' as const };

let server: RedisServer;
let link: SlowLink;
let log: RecordingLog;
let record: RequestLog;
let direct: AdmissionStore;
let store: FailingOpenAdmission;

beforeAll(async () => {
	server = await startRedis();
	link = await openSlowLink(server.port);
});
afterAll(async () => {
	await link.close();
	await server.stop();
});

beforeEach(async () => {
	await server.command('FLUSHALL');
	log = createRecordingLog();
	record = new RequestLog();
	direct = await openRedisAdmission({ url: server.url }, { clock: systemClock, log });
	store = failOpen(
		await openRedisAdmission({ url: `redis://127.0.0.1:${link.port}` }, { clock: systemClock, log }),
		{ budgetsOnFailure: 'local' },
		{ clock: systemClock, log, sumUp: record.sumUp },
	);
	await requests('warm', 50);
});
afterEach(async () => {
	await store.close();
	await direct.close();
});

/**
 * Complete requests, one after the other. @returns for each whether it was admitted in time, by a timer that a busy machine delays as well.
 */
async function requests(name: string, count: number, withinMs = 1000): Promise<boolean[]> {
	const inTime: boolean[] = [];
	for (let index = 0; index < count; index++) {
		const id = `${name}-${index}`;
		let isInTime = true;
		const timer = setTimeout(() => (isInTime = false), withinMs);
		expect(await admit(id, 100_000)).toMatchObject({ isAdmitted: true });
		clearTimeout(timer);
		inTime.push(isInTime);
		const settlement = { id, team: 'red', admittedMs: Date.now(), tokens: 2, costNanoUsd: 7n, budgets: [month] };
		record.close(settlement);
		await store.settle(settlement);
	}
	return inTime;
}

function admit(id: string, requestsPerMinute: number | null = null) {
	return store.admit({ id, team: 'red', limits: rateLimits({ requestsPerMinute }), reservations: [reservation], reservationMs: 60_000 });
}

/** Tolerates the few that a busy machine delays. */
function areMost(inTime: readonly boolean[], percent: number): boolean {
	return inTime.filter(Boolean).length >= (inTime.length * percent) / 100;
}

/** Time until the store enforces limits again. */
async function enforcementMs(): Promise<number> {
	const startMs = performance.now();
	for (let index = 0; ; index++) {
		const admission = await store.admit({
			id: `none-${startMs}-${index}`,
			team: 'red',
			limits: rateLimits({ requestsPerMinute: 0 }),
			reservations: [],
			reservationMs: 1000,
		});
		if (!admission.isAdmitted) return performance.now() - startMs;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

async function counted(): Promise<bigint | undefined> {
	return (await direct.read('red', [month])).budgets[0]?.settledNanoUsd;
}

const changes = () => log.lines.filter(({ event }) => event.startsWith('counter store')).map(({ level, event }) => `${level}: ${event}`);
const onceEach = ['warn: counter store unreachable, requests pass uncounted', 'info: counter store reachable again'];

describe('while the server is', () => {
	test.each<{ what: string; fail: () => unknown; heal: () => unknown }>([
		{ what: 'killed', fail: () => server.kill(), heal: () => server.restart() },
		{ what: 'stopped', fail: () => server.signal('SIGSTOP'), heal: () => server.signal('SIGCONT') },
		{ what: 'slow', fail: () => link.setDelay(200), heal: () => link.setDelay(0) },
		{ what: 'a replica', fail: () => server.command('REPLICAOF', '127.0.0.1', '1'), heal: () => server.command('REPLICAOF', 'NO', 'ONE') },
		{
			what: 'out of memory',
			fail: () => server.command('CONFIG', 'SET', 'maxmemory', '1'),
			heal: () => server.command('CONFIG', 'SET', 'maxmemory', '0'),
		},
	])('$what, every operation has a result soon, and nothing is lost', async ({ what, fail, heal }) => {
		try {
			await fail();
			expect(areMost(await requests(`first-${what}`, 10, 60), 80)).toBe(true);
			expect(store.state()).toMatchObject({ isReachable: false, outages: 1 });
			expect(areMost(await requests(`later-${what}`, 200, 2), 90)).toBe(true);
			expect(store.state().uncounted).toBeGreaterThanOrEqual(205);
		} finally {
			await heal();
		}
		expect(await enforcementMs()).toBeLessThan(2000);
		await until(() => store.state().replayQueue === 0);
		expect(await counted()).toBe(260n * 7n);
		expect(changes()).toEqual(onceEach);
	});
});

test('flushed scripts are sent again without an effect on requests', async () => {
	await server.command('SCRIPT', 'FLUSH');
	await requests('flushed', 20);
	expect(store.state()).toMatchObject({ failures: 0, uncounted: 0 });
	expect(await counted()).toBe(70n * 7n);
});

test('a store that was emptied is restored before it is trusted, with what is in flight', async () => {
	await admit('in-flight');
	await server.command('FLUSHALL');
	await requests('after', 1);
	expect((await direct.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 51n * 7n, reservedNanoUsd: 10n }]);
	expect((await direct.read('red', [])).tokensToday).toBe(102);
	expect(record.requested).toBe(2);
	expect(store.state()).toMatchObject({ failures: 0, uncounted: 0 });
});

test('a store that was restarted while idle has the in-flight reservations again, and counts nothing twice', async () => {
	await admit('in-flight');
	await server.restart();
	await until(() => record.requested === 2, 'the restoration');
	await until(() => store.state().replayQueue === 0);
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 350n, reservedNanoUsd: 10n }]);
	const settlement = { id: 'in-flight', team: 'red', admittedMs: Date.now(), tokens: 2, costNanoUsd: 7n, budgets: [month] };
	record.close(settlement);
	expect(await store.settle(settlement)).toMatchObject({ isLate: false, isDuplicate: false });
	expect(await counted()).toBe(357n);
});

test('a store that was emptied before the ledger had the latest ends receives them again', async () => {
	await admit('unshipped');
	await store.settle({ id: 'unshipped', team: 'red', admittedMs: Date.now(), tokens: 2, costNanoUsd: 7n, budgets: [month] });
	await server.restart();
	await until(() => record.requested === 2, 'the restoration');
	await until(() => store.state().replayQueue === 0);
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 357n, reservedNanoUsd: 0n }]);
});

test('counters that were restored without the latest ends receive them from each process', async () => {
	const other = failOpen(
		await openRedisAdmission({ url: server.url }, { clock: systemClock, log }),
		{ budgetsOnFailure: 'local' },
		{ clock: systemClock, log, sumUp: record.sumUp },
	);
	onTestFinished(() => other.close());
	for (const [one, id] of [
		[store, 'unwritten'],
		[other, 'unwritten-too'],
	] as const) {
		await one.admit({ id, team: 'red', limits: [], reservations: [reservation], reservationMs: 60_000 });
		await one.settle({ id, team: 'red', admittedMs: Date.now(), tokens: 2, costNanoUsd: 7n, budgets: [month] });
	}
	await server.command('FLUSHALL');
	expect((await direct.read('red', [month]).catch(() => undefined))?.budgets).toBeUndefined();
	for (const one of [store, other]) await one.read('red', [month]);
	await until(() => store.state().replayQueue + other.state().replayQueue === 0);
	for (const one of [store, other]) expect((await one.read('red', [month])).budgets[0]?.settledNanoUsd).toBe(52n * 7n);
	expect((await direct.read('red', [])).tokensToday).toBe(104);
});

test('reservations of a dead gateway are restored from the ledger, until their requests are settled', async () => {
	const orphan = { id: 'orphan', admittedMs: Date.now(), reservationMs: 60_000, reservations: [{ ...month, amountNanoUsd: 10n }] };
	// The ledger does not have the end or the release of the request yet either.
	record.open.push(orphan, { ...orphan, id: 'given-back' });
	await admit('given-back');
	await store.release('given-back', 'red');
	await server.restart();
	await until(() => record.requested === 2, 'the restoration');
	await until(() => store.state().replayQueue === 0);
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 350n, reservedNanoUsd: 10n }]);
	await store.settle({ id: 'orphan', team: 'red', admittedMs: Date.now(), tokens: 2, costNanoUsd: 7n, budgets: [month] });
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 357n, reservedNanoUsd: 0n }]);
});

test('a late settlement of a request that the restored totals include is not counted twice', async () => {
	await server.kill();
	const settlement = { id: 'told-late', team: 'red', admittedMs: Date.now(), tokens: 2, costNanoUsd: 7n, budgets: [month] };
	record.close(settlement, Date.now() - 100_000);
	await store.settle(settlement);
	await server.restart();
	await until(() => record.requested === 2, 'the restoration');
	await until(() => store.state().replayQueue === 0);
	expect(await counted()).toBe(357n);
});

test('a server that comes back with old counters is not trusted', async () => {
	await server.command('SAVE');
	await requests('unsaved', 10);
	await server.restart();
	await until(() => store.read('red', [month]) !== undefined);
	expect(await enforcementMs()).toBeLessThan(2000);
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 60n * 7n, reservedNanoUsd: 0n }]);
	expect(await counted()).toBe(60n * 7n);
});

test('a server that is not there at the start is not waited for, and used when it comes', async () => {
	await server.kill();
	const late = failOpen(
		await openRedisAdmission({ url: server.url }, { clock: systemClock, log }),
		{ budgetsOnFailure: 'local' },
		{ clock: systemClock, log, sumUp: record.sumUp },
	);
	expect(
		await late.admit({
			id: 'early',
			team: 'red',
			limits: rateLimits({ requestsPerMinute: 0, dailyTokens: 0 }),
			reservations: [reservation],
			reservationMs: 1000,
		}),
	).toMatchObject({
		isAdmitted: true,
		isUncounted: true,
		reading: { budgets: [{ settledNanoUsd: 350n, reservedNanoUsd: 10n }] },
	});
	await server.restart();
	await until(() => late.state().replayQueue === 0, 'the delivery');
	expect(
		await late.admit({ id: 'later', team: 'red', limits: rateLimits({ requestsPerMinute: 0 }), reservations: [], reservationMs: 1000 }),
	).toMatchObject({
		isAdmitted: false,
	});
	await late.close();
});
