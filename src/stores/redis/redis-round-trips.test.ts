/** Number of requests to the server, counted by a proxy in front of it. The store's own clock stands still. */
import { setImmediate } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { openSlowLink, type SlowLink } from '../../../test/support/slow-link.ts';
import type { AdmissionStore } from '../contracts/admission.ts';
import { openRedisAdmission } from './redis-admission.ts';

const month = { budget: 'month', period: '2026-11' };
const reservation = { ...month, limitNanoUsd: 1000n, amountNanoUsd: 10n, check: 'after' as const };

let server: RedisServer;
let link: SlowLink;
let clock: ManualClock;
let store: AdmissionStore;

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
	clock = new ManualClock();
	store = await open();
	await store.restore({ team: 'red', tokensToday: 0, endedIds: [], budgets: [{ ...month, settledNanoUsd: 0n }] });
});

async function open(): Promise<AdmissionStore> {
	const opened = await openRedisAdmission({ url: `redis://127.0.0.1:${link.port}` }, { clock, log: createRecordingLog() });
	onTestFinished(() => opened.close());
	return opened;
}

const admit = (id: string) => store.admit({ id, team: 'red', limits: [], reservations: [reservation], reservationMs: 60_000 });
const settle = async (id: string) => store.settle({ id, team: 'red', admittedMs: 0, tokens: 1, costNanoUsd: 7n, budgets: [month] });

/** Waits until everything in transit has arrived. */
async function turns(): Promise<void> {
	for (let turn = 0; turn < 10; turn++) await setImmediate();
}

test('a request is one round trip: its end is sent with the next request, which already sees it', async () => {
	const ends: ReturnType<typeof settle>[] = [];
	const before = link.pieces;
	for (let request = 0; request < 20; request++) {
		const { reading } = await admit(`call-${request}`);
		expect(reading.budgets).toEqual([{ ...month, settledNanoUsd: 7n * BigInt(request), reservedNanoUsd: 10n }]);
		ends.push(settle(`call-${request}`));
		await turns();
	}
	expect(link.pieces - before).toBe(20);
	clock.advance(3);
	expect(new Set((await Promise.all(ends)).map(({ isDuplicate, isLate }) => isDuplicate || isLate))).toEqual(new Set([false]));
	expect(link.pieces - before).toBe(21);
});

test('without another request ends are sent together after a moment, and many at once', async () => {
	for (let request = 0; request < 30; request++) await admit(`call-${request}`);
	const before = link.pieces;
	const some = Array.from({ length: 10 }, (_, request) => settle(`call-${request}`));
	const released = store.release('call-10', 'red');
	await turns();
	expect(link.pieces).toBe(before);
	clock.advance(3);
	await Promise.all([...some, released]);
	expect(link.pieces - before).toBe(1);
	await Promise.all(Array.from({ length: 25 }, (_, request) => settle(`call-${request}`)));
	expect((await store.read('red', [month])).budgets).toEqual([{ ...month, settledNanoUsd: 7n * 24n, reservedNanoUsd: 50n }]);
});

test('waiting ends are sent before the connection is closed', async () => {
	await admit('one');
	const [settled] = await Promise.all([settle('one'), store.close()]);
	expect(settled).toMatchObject({ isLate: false, budgets: [{ settledNanoUsd: 7n, reservedNanoUsd: 0n }] });
});

test('the first request of all finds its script on the server', async () => {
	await server.command('SCRIPT', 'FLUSH');
	await server.command('CONFIG', 'RESETSTAT');
	store = await open();
	await admit('one');
	await store.extend('one', 'red', [{ ...reservation, amountNanoUsd: 20n }]);
	const end = settle('one');
	clock.advance(3);
	await end;
	const client = new Redis(server.url);
	onTestFinished(() => client.disconnect());
	const counts = await client.info('commandstats');
	expect(counts).toMatch(/cmdstat_evalsha:calls=4,.*failed_calls=0/);
	expect(counts).not.toContain('cmdstat_eval:');
});
