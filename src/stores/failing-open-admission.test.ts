import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { rateLimits } from '../../test/support/rate-limits.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { RequestLog } from '../../test/support/request-capture.ts';
import { createUnreliableCounters, type Fate, type UnreliableCounters } from '../../test/support/unreliable-counters.ts';
import type { Admission } from '../core/counters.ts';
import { type AdmissionRequest, CountersUnreachable, type Settlement } from './contracts/admission.ts';
import { failOpen } from './failing-open-admission.ts';
import type { FailingOpenAdmission, FailingOpenSettings } from './failing-open-settings.ts';

const month = { budget: 'month', period: '2026-01' };
const reservation = { ...month, limitNanoUsd: 100n, amountNanoUsd: 10n, check: 'after' as const };
const request = { team: 'red', limits: [], reservations: [reservation], reservationMs: 60_000 };

let clock: ManualClock;
let log: RecordingLog;
let record: RequestLog;
let counters: UnreliableCounters;
let store: FailingOpenAdmission;

function begin(budgetsOnFailure: FailingOpenSettings['budgetsOnFailure'] = 'local'): void {
	clock = new ManualClock();
	log = createRecordingLog();
	record = new RequestLog();
	counters = createUnreliableCounters(clock);
	store = failOpen(counters, { budgetsOnFailure }, { clock, log, sumUp: record.sumUp });
}

beforeEach(() => begin());

/** Waits while the clock advances in small steps. */
async function pass<T>(promise: Promise<T>): Promise<T> {
	let isOver = false;
	const ended = promise.finally(() => (isOver = true));
	ended.catch(() => undefined);
	for (;;) {
		await turn();
		if (isOver) return ended;
		clock.advance(7);
	}
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function passMs(ms: number): Promise<void> {
	for (let passed = 0; passed < ms; passed += 50) {
		clock.advance(50);
		await turn();
	}
}

const admit = (id: string, more: Partial<AdmissionRequest> = {}): Promise<Admission> => pass(store.admit({ ...request, id, ...more }));

function settle(id: string, costNanoUsd = 7n) {
	const settlement: Settlement = { id, team: 'red', admittedMs: clock.nowMs(), tokens: 1, costNanoUsd, budgets: [month] };
	record.close(settlement, clock.nowMs());
	return pass(store.settle(settlement));
}

const reading = async () => (await counters.direct.read('red', [month])).budgets[0];

async function breakDown(fate: Fate = 'refuse'): Promise<void> {
	counters.fate = () => fate;
	for (let index = 0; index < 5; index++) await pass(store.read('red', [month]));
	expect(store.state().isReachable).toBe(false);
}

async function heal(): Promise<void> {
	counters.fate = () => 'serve';
	await passMs(1500);
	expect(store.state()).toMatchObject({ isReachable: true, replayQueue: 0 });
}

describe('while all is well', () => {
	test('the results of the store are returned, and limits apply', async () => {
		expect(await admit('one', { limits: rateLimits({ requestsPerMinute: 1 }) })).toMatchObject({
			isAdmitted: true,
			reading: { requestsThisMinute: 1 },
		});
		expect(await admit('two', { limits: rateLimits({ requestsPerMinute: 1 }) })).toMatchObject({ isAdmitted: false, binding: 'rpm' });
		expect(await settle('one')).toMatchObject({ isLate: false });
		expect(await pass(store.read('red', [month]))).toMatchObject({
			tokensToday: 1,
			budgets: [{ settledNanoUsd: 7n, reservedNanoUsd: 0n }],
		});
		expect(store.state()).toEqual({
			isReachable: true,
			uncounted: 0,
			rejected: 0,
			failures: 0,
			outages: 0,
			replayQueue: 0,
			lost: 0,
			unrestoredTeams: 0,
		});
		expect(log.lines).toEqual([]);
		clock.advance(1000);
		expect(clock.pending).toBe(0);
	});

	test('what the store does not know is summed up once, however many wait for it', async () => {
		record.close({ id: 'old', team: 'red', admittedMs: 0, tokens: 5, costNanoUsd: 95n, budgets: [month] }, 0);
		const responses = await pass(Promise.all(Array.from({ length: 20 }, (_, index) => store.admit({ ...request, id: `r${index}` }))));
		expect(responses.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(0);
		expect(responses[0]).toMatchObject({ binding: 'budget', reading: { tokensToday: 5, budgets: [{ settledNanoUsd: 95n }] } });
		expect(record.requested).toBe(1);
	});

	test('the time that sums of the ledger take does not count as an outage of the store', async () => {
		const slowly = async (...requested: Parameters<typeof record.sumUp>) => {
			await new Promise<void>((resolve) => void clock.after(300, resolve));
			return record.sumUp(...requested);
		};
		store = failOpen(counters, { budgetsOnFailure: 'local' }, { clock, log, sumUp: slowly });
		const requests = Array.from({ length: 20 }, (_, index) =>
			store.admit({ ...request, id: `r${index}`, limits: rateLimits({ requestsPerMinute: 5 }) }),
		);
		const responses = await pass(Promise.all(requests));
		expect(responses.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(5);
		expect(store.state()).toMatchObject({ uncounted: 0, failures: 0 });
	});
});

describe('a failure', () => {
	test.each<Fate>(['drop', 'mute'])('that is silence (%s) is waited for less than 50 ms, five times, and then no more', async (fate) => {
		await admit('before');
		counters.fate = () => fate;
		for (let index = 0; index < 5; index++) {
			const startMs = clock.monotonicMs();
			expect(await admit(`r${index}`, { limits: rateLimits({ requestsPerMinute: 0 }) })).toMatchObject({
				isAdmitted: true,
				isUncounted: true,
			});
			expect(clock.monotonicMs() - startMs).toBeLessThan(50);
			expect(clock.monotonicMs() - startMs).toBeGreaterThan(40);
		}
		const startMs = clock.monotonicMs();
		expect(await admit('later', { limits: rateLimits({ requestsPerMinute: 0, dailyTokens: 0 }) })).toMatchObject({
			isAdmitted: true,
			isUncounted: true,
		});
		expect(clock.monotonicMs()).toBe(startMs);
		expect(store.state()).toMatchObject({ isReachable: false, uncounted: 6, failures: 5, outages: 1 });
	});

	test('is logged when the store is given up and when it is back, once each', async () => {
		await breakDown();
		for (let index = 0; index < 20; index++) await admit(`r${index}`);
		await passMs(5000);
		await heal();
		expect(log.lines.map(({ level, event }) => `${level}: ${event}`)).toEqual([
			'warn: counter store unreachable, requests pass uncounted',
			'info: counter store reachable again',
		]);
		expect(log.lines[0]?.fields).toEqual({ cause: 'refused', budgets: 'local' });
		expect(log.lines[1]?.fields).toMatchObject({ uncounted: 10 });
	});

	test('now and then is no outage', async () => {
		let requested = 0;
		counters.fate = () => (++requested % 4 === 0 ? 'serve' : 'refuse');
		for (let index = 0; index < 20; index++) await pass(store.release(`r${index}`, 'red'));
		expect(store.state().outages).toBe(0);
	});

	test('of the ledger lets requests pass too', async () => {
		const failing = failOpen(counters, { budgetsOnFailure: 'local' }, { clock, log, sumUp: () => Promise.reject(new Error('disk gone')) });
		expect(await pass(failing.admit({ ...request, id: 'one' }))).toMatchObject({ isAdmitted: true, isUncounted: true });
	});

	test('that is an internal error is not hidden', async () => {
		counters.admit = () => Promise.reject(new TypeError('a defect'));
		await expect(pass(store.admit({ ...request, id: 'one' }))).rejects.toThrow('a defect');
	});

	test('does not end while the store can only be read', async () => {
		await breakDown();
		const { release } = counters;
		counters.fate = () => 'serve';
		const probes: string[] = [];
		counters.release = (id) => {
			probes.push(id);
			return Promise.reject(new CountersUnreachable('READONLY'));
		};
		await passMs(3000);
		expect(probes.length).toBeGreaterThan(2);
		expect(new Set(probes).size).toBe(probes.length);
		expect(store.state()).toMatchObject({ isReachable: false, outages: 1 });
		counters.release = release;
		await heal();
	});
});

describe('a team whose counters cannot be restored', () => {
	let isBroken: boolean;

	beforeEach(() => {
		isBroken = true;
		const sumUp: typeof record.sumUp = (team, ...requested) =>
			team === 'blue' && isBroken ? Promise.reject(new Error('too slow')) : record.sumUp(team, ...requested);
		store = failOpen(counters, { budgetsOnFailure: 'local' }, { clock, log, sumUp });
	});

	test('passes uncounted, while limits bind the other teams', async () => {
		for (let index = 0; index < 8; index++) {
			expect(await admit(`b${index}`, { team: 'blue', limits: rateLimits({ requestsPerMinute: 0 }) })).toMatchObject({
				isAdmitted: true,
				isUncounted: true,
			});
			expect(await admit(`r${index}`, { limits: rateLimits({ requestsPerMinute: 1 }) })).toMatchObject({ isAdmitted: index === 0 });
		}
		expect(store.state()).toMatchObject({ isReachable: true, outages: 0, unrestoredTeams: 1 });
		expect(log.lines.map(({ event }) => event)).toEqual(['counters of a team cannot be restored, its requests pass uncounted']);
	});

	test('is limited again once they are, with all that passed meanwhile', async () => {
		await admit('one', { team: 'blue' });
		const settlement = { id: 'one', team: 'blue', admittedMs: clock.nowMs(), tokens: 1, costNanoUsd: 7n, budgets: [month] };
		record.close(settlement, clock.nowMs());
		await pass(store.settle(settlement));
		isBroken = false;
		await passMs(1500);
		expect(store.state()).toMatchObject({ replayQueue: 0, unrestoredTeams: 0 });
		expect(await admit('two', { team: 'blue', limits: rateLimits({ requestsPerMinute: 0 }) })).toMatchObject({
			isAdmitted: false,
			binding: 'rpm',
		});
		expect((await counters.direct.read('blue', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 7n, reservedNanoUsd: 0n }]);
		expect(log.lines.at(-1)?.event).toBe('counters of all teams restored');
	});

	test('does not keep an outage from ending for the others', async () => {
		await admit('own');
		await admit('other', { team: 'blue' });
		await breakDown();
		await admit('more', { team: 'blue' });
		counters.empty(false);
		counters.fate = () => 'serve';
		await passMs(1500);
		expect(store.state()).toMatchObject({ isReachable: true, unrestoredTeams: 1 });
		expect(await admit('late', { limits: rateLimits({ requestsPerMinute: 0 }) })).toMatchObject({ isAdmitted: false, binding: 'rpm' });
	});
});

test('counters are restored even if summing up takes longer than a replay may', async () => {
	const sumUp: typeof record.sumUp = async (...requested) => {
		await new Promise<void>((resolve) => void clock.after(1500, resolve));
		return record.sumUp(...requested);
	};
	store = failOpen(counters, { budgetsOnFailure: 'local' }, { clock, log, sumUp });
	await admit('own');
	await breakDown();
	await settle('own');
	counters.empty(false);
	counters.fate = () => 'serve';
	await passMs(6000);
	expect(store.state()).toMatchObject({ isReachable: true, replayQueue: 0, unrestoredTeams: 0 });
	expect(await reading()).toEqual({ ...month, settledNanoUsd: 7n, reservedNanoUsd: 0n });
});

describe('budgets during an outage', () => {
	beforeEach(async () => {
		// Another process has spent 30 and reserves 20; this one reserves 10.
		record.close({ id: 'old', team: 'red', admittedMs: 0, tokens: 5, costNanoUsd: 30n, budgets: [month] }, 0);
		await admit('own');
		await counters.direct.admit({ ...request, id: 'other', reservations: [{ ...reservation, amountNanoUsd: 20n }] });
		await pass(store.read('red', [month]));
	});

	test('continue from known counters: spent and reserved by other processes, and reserved here', async () => {
		await breakDown();
		const admitted: boolean[] = [];
		for (let index = 0; index < 5; index++) admitted.push((await admit(`r${index}`)).isAdmitted);
		expect(admitted).toEqual([true, true, true, true, false]);
		expect(await admit('more')).toMatchObject({
			isAdmitted: false,
			binding: 'budget',
			reading: { budgets: [{ settledNanoUsd: 30n, reservedNanoUsd: 70n }] },
		});
		await settle('own', 1n);
		expect((await admit('again', { reservations: [{ ...reservation, amountNanoUsd: 9n }] })).isAdmitted).toBe(true);
		expect(store.state()).toMatchObject({ uncounted: 5, rejected: 2 });
		await heal();
		expect(await reading()).toEqual({ ...month, settledNanoUsd: 31n, reservedNanoUsd: 69n });
	});

	test('pass under `allow`, and are booked afterwards', async () => {
		begin('allow');
		await admit('own');
		await breakDown();
		for (let index = 0; index < 30; index++) expect((await admit(`r${index}`)).isAdmitted).toBe(true);
		for (let index = 0; index < 30; index++) await settle(`r${index}`);
		await heal();
		expect(await reading()).toEqual({ ...month, settledNanoUsd: 210n, reservedNanoUsd: 10n });
	});

	test('reject under `deny`, but only requests with one', async () => {
		begin('deny');
		await admit('own');
		await breakDown();
		expect(await admit('one')).toMatchObject({ isAdmitted: false, binding: 'store' });
		expect((await admit('two', { reservations: [] })).isAdmitted).toBe(true);
		await heal();
		expect((await admit('one')).isAdmitted).toBe(true);
	});

	test('of a team that this process does not know are summed up from the ledger', async () => {
		record.close({ id: 'blue', team: 'blue', admittedMs: 0, tokens: 5, costNanoUsd: 95n, budgets: [month] }, 0);
		await breakDown();
		expect(await admit('one', { team: 'blue' })).toMatchObject({ isAdmitted: false, binding: 'budget' });
	});
});

describe('afterwards', () => {
	test('a request that was rejected here but admitted by the store reserves nothing', async () => {
		await admit('own', { reservations: [{ ...reservation, amountNanoUsd: 95n }] });
		counters.fate = () => 'mute';
		await counters.direct.release('own', 'red');
		expect((await admit('one')).isAdmitted).toBe(false);
		counters.fate = () => 'serve';
		expect((await reading())?.reservedNanoUsd).toBe(10n);
		await passMs(1500);
		expect((await reading())?.reservedNanoUsd).toBe(0n);
	});

	test('a settlement whose result was lost is booked once', async () => {
		await admit('own');
		counters.fate = () => 'mute';
		await settle('own');
		counters.fate = () => 'serve';
		await passMs(1500);
		expect(store.state().replayQueue).toBe(0);
		expect(await reading()).toEqual({ ...month, settledNanoUsd: 7n, reservedNanoUsd: 0n });
	});

	test('the first end of a request counts', async () => {
		await admit('own');
		await breakDown();
		await settle('own');
		await pass(store.release('own', 'red'));
		await heal();
		expect(await reading()).toEqual({ ...month, settledNanoUsd: 7n, reservedNanoUsd: 0n });
	});

	test('an emptied store receives reservations on budgets that no request names', async () => {
		await admit('own');
		counters.empty(false);
		expect(await admit('other', { reservations: [] })).toMatchObject({ isAdmitted: true });
		expect((await reading())?.reservedNanoUsd).toBe(10n);
	});

	test('what the store will never take does not keep it from the rest', async () => {
		await admit('own');
		await breakDown();
		await settle('poison', 1n);
		await settle('own', 2n);
		const { settle: take } = counters;
		counters.settle = (settlement) => (settlement.id === 'poison' ? Promise.reject(new RangeError('too much')) : take(settlement));
		await heal();
		expect(store.state().lost).toBe(1);
		expect(await reading()).toMatchObject({ settledNanoUsd: 2n });
	});

	test('a graceful stop delivers what waits, and says so when it cannot', async () => {
		await admit('own');
		await breakDown();
		await settle('own');
		counters.fate = () => 'serve';
		await pass(store.close());
		expect([await reading(), counters.isClosed, log.lines.length]).toEqual([
			{ ...month, settledNanoUsd: 7n, reservedNanoUsd: 0n },
			true,
			2,
		]);
		begin();
		await admit('own');
		await breakDown('drop');
		await settle('own');
		await pass(store.close());
		expect(log.lines.at(-1)).toMatchObject({ level: 'warn', event: 'counter store did not receive all updates', fields: { requests: 1 } });
		clock.advance(10_000);
		expect(clock.pending).toBe(0);
	});

	test('a raised reservation is reserved again as it was raised', async () => {
		await admit('own');
		expect(await pass(store.extend('own', 'red', [{ ...reservation, amountNanoUsd: 60n }]))).toBe(true);
		counters.empty(true);
		await passMs(1500);
		expect((await reading())?.reservedNanoUsd).toBe(60n);
	});
});

test('whatever fails, whenever: each operation has a result, and in the end each request is counted once and no reservation is left', async () => {
	const openRequest = fc.record({ end: fc.constantFrom('settle', 'settle', 'release'), cost: fc.bigInt(0n, 20n), pauseMs: fc.nat(400) });
	const fates = fc.infiniteStream(fc.constantFrom<Fate>('serve', 'serve', 'serve', 'serve', 'drop', 'mute', 'refuse'));
	const outages = fc.array(
		fc.record({ afterMs: fc.nat(2000), lastsMs: fc.nat(3000), empties: fc.constantFrom('no', 'silently', 'noticed') }),
		{ maxLength: 3 },
	);
	const property = fc.asyncProperty(
		fc.array(openRequest, { minLength: 5, maxLength: 25 }),
		fates,
		outages,
		async (plans, stream, breaks) => {
			begin('allow');
			let isDown = false;
			counters.fate = () => (isDown ? 'refuse' : nextOf(stream));
			const lives = plans.map(async ({ end, cost, pauseMs }, index) => {
				const id = `c${index}`;
				await wait(pauseMs * 5);
				expect((await store.admit({ ...request, id, reservations: [{ ...reservation, limitNanoUsd: 10n ** 9n }] })).isAdmitted).toBe(true);
				await wait(pauseMs);
				if (end === 'release') return store.release(id, 'red');
				const settlement = { id, team: 'red', admittedMs: clock.nowMs(), tokens: 1, costNanoUsd: cost, budgets: [month] };
				record.close(settlement, clock.nowMs());
				return store.settle(settlement);
			});
			const trouble = breaks.map(async ({ afterMs, lastsMs, empties }) => {
				await wait(afterMs);
				isDown = true;
				if (empties !== 'no') counters.empty(false);
				await wait(lastsMs);
				isDown = false;
				if (empties === 'noticed') counters.empty(true);
			});
			await pass(Promise.all([...lives, ...trouble]));
			counters.fate = () => 'serve';
			await passMs(6000);
			expect(store.state()).toMatchObject({ isReachable: true, replayQueue: 0, lost: 0 });
			await pass(store.read('red', [month]));
			expect(await reading()).toEqual({ ...month, settledNanoUsd: record.spentNanoUsd('red', month), reservedNanoUsd: 0n });
		},
	);
	await fc.assert(property, { numRuns: 200 });
});

function nextOf(stream: Iterator<Fate>): Fate {
	const next = stream.next();
	return next.done === true ? 'serve' : next.value;
}

const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
