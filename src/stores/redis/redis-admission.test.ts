import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually, freePort } from '../../../test/support/product.ts';
import { rateLimits } from '../../../test/support/rate-limits.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { openSteeredRedis } from '../../../test/support/redis-admission-subject.ts';
import { type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { systemClock } from '../../io/system-clock.ts';
import { admissionContract } from '../contracts/admission.contract.ts';
import type { AdmissionStore } from '../contracts/admission.ts';
import { openRedisAdmission } from './redis-admission.ts';

const fixtures = join(import.meta.dirname, '../../../test/fixtures/tls-localhost');
const month = { budget: 'month', period: '2026-11' };
const reservation = { ...month, limitNanoUsd: 1000n, amountNanoUsd: 10n, check: 'after' as const };
const noKnownCounters = { tokensToday: 0, endedIds: [], budgets: [{ ...month, settledNanoUsd: 0n }] };

let server: RedisServer;

beforeAll(async () => {
	server = await startRedis();
});
afterAll(() => server.stop());

admissionContract('Redis', () => openSteeredRedis(server), { modelRuns: 30 });

describe('Redis itself', () => {
	beforeEach(() => server.command('FLUSHALL'));

	test('keeps no key for ever, and the keys of a team live and die together', async () => {
		const store = await open(server.url);
		await store.restore({ team: 'red', ...noKnownCounters, endedIds: ['old'] });
		await wholeCall(store, 'red');
		await store.release('unknown', 'blue');
		await store.restoreReservations('red', [{ id: 'again', admittedMs: 0, reservationMs: 1000, reservations: [reservation] }]);
		await store.admit({
			id: 'open',
			team: 'red',
			limits: [],
			reservations: [reservation],
			reservationMs: 1000,
		});
		const client = watch(new Redis(server.url));
		const remaining = Object.fromEntries(
			await Promise.all((await client.keys('*')).map(async (key) => [key, await client.ttl(key)] as const)),
		);
		expect(Object.keys(remaining).toSorted()).toEqual([
			'tollgate:{blue}:ended:unknown',
			'tollgate:{red}:calls',
			'tollgate:{red}:counters',
			'tollgate:{red}:ended:old',
			'tollgate:{red}:ended:one',
			'tollgate:{red}:ends',
		]);
		expect(Math.min(...Object.values(remaining))).toBeGreaterThan(890);
		expect(remaining['tollgate:{red}:counters']).toBeGreaterThan(60 * 86_400);
		expect(remaining['tollgate:{red}:calls']).toBe(remaining['tollgate:{red}:counters']);
		expect(remaining['tollgate:{red}:ends']).toBe(remaining['tollgate:{red}:counters']);
	});

	test('is asked once for an operation', async () => {
		const store = await open(server.url);
		await store.restore({ team: 'red', ...noKnownCounters });
		await wholeCall(store, 'red');
		const client = watch(new Redis(server.url));
		const evaluated = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
		const before = await evaluated();
		await wholeCall(store, 'red', 'two');
		expect((await evaluated()) - before).toBe(2);
	});

	test('that is a cluster finds all keys of a team in one place, whatever its name', async () => {
		const cluster = await startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
		onTestFinished(() => cluster.stop());
		await cluster.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
		const store = await open(cluster.url);
		for (const team of ['red', '{red}', 'a}b{c', '}x', 'größe 12']) {
			await eventually('a cluster', () =>
				store.restore({ team, ...noKnownCounters }).then(
					() => true,
					() => undefined,
				),
			);
			await store.restoreReservations(team, [
				{ id: 'x', admittedMs: 0, reservationMs: 1, reservations: [reservation] },
				{ id: 'y', admittedMs: 0, reservationMs: 1, reservations: [reservation] },
			]);
			expect(await wholeCall(store, team)).toMatchObject({ isDuplicate: false, isLate: false });
		}
	});

	test.each([2, 4])('admits exactly the limit over %i processes whose clocks disagree', async (count) => {
		await (await open(server.url)).restore({ team: 'red', ...noKnownCounters });
		const responses = await Promise.all(
			Array.from({ length: count }, (_, index) =>
				query(server.url, { requests: 1000 / count, name: `p${index}`, skewMs: (index - 1) * 300_000 }),
			),
		);
		const byMinute = new Map<number, { requested: number; admitted: number }>();
		for (const [minute, isAdmitted] of responses.flat()) {
			const { requested, admitted } = byMinute.get(minute) ?? { requested: 0, admitted: 0 };
			byMinute.set(minute, { requested: requested + 1, admitted: admitted + (isAdmitted ? 1 : 0) });
		}
		expect(responses.flat()).toHaveLength(1000);
		// One minute, or two when the test began at the end of one.
		for (const { requested, admitted } of byMinute.values()) expect(admitted).toBe(Math.min(100, requested));
	});
});

describe('the connection', () => {
	const secret = 'p@ss:w/rd #1';

	test('logs in as the URL says', async () => {
		const guarded = await startRedis('--user', 'default', 'off', '--user', 'gate', 'on', `>${secret.replace(' ', '_')}`, '~*', '+@all');
		onTestFinished(() => guarded.stop());
		const url = `redis://gate:${encodeURIComponent(secret.replace(' ', '_'))}@127.0.0.1:${guarded.port}/3`;
		const store = await open(url);
		await store.restore({ team: 'red', ...noKnownCounters });
		expect(await wholeCall(store, 'red')).toMatchObject({ isLate: false });
	});

	test('never shows a password, in no error and no log', async () => {
		const log = createRecordingLog();
		const guarded = await startRedis('--requirepass', 'another');
		onTestFinished(() => guarded.stop());
		for (const url of [
			`redis://:${encodeURIComponent(secret)}@127.0.0.1:${guarded.port}`,
			`redis://:${encodeURIComponent(secret)}@127.0.0.1:1`,
		]) {
			const store = await open(url, log);
			const cause: unknown = await store.release('one', 'red').catch((error: unknown) => error);
			expect(cause).toHaveProperty('name', 'CountersUnreachable');
			const shown = inspect([cause, log.lines], { depth: 20, showHidden: true });
			expect(shown).toContain('127.0.0.1');
			for (const form of [secret, encodeURIComponent(secret)]) expect(shown).not.toContain(form);
		}
		expect(log.lines.map(({ event }) => event)).toContain('redis connection failed');
	}, 10_000);

	test('is waited for neither at the start nor at the end when the server does not respond', async () => {
		const log = createRecordingLog();
		// Blocks the responses of scripts, and of all later commands.
		await server.command('CLIENT', 'PAUSE', '60000', 'WRITE');
		try {
			const store = await openRedisAdmission({ url: server.url }, { clock: systemClock, log });
			const late = store.release('one', 'red').catch((cause: unknown) => cause);
			await store.close();
			expect(await late).toHaveProperty('name', 'CountersUnreachable');
		} finally {
			await server.command('CLIENT', 'UNPAUSE');
		}
		// The socket timeout is five seconds.
		expect(inspect(log.lines)).not.toContain('Socket timeout');
	}, 30_000);

	test.each(['redis://:p%zz-secret@host', 'redis://:secret@host:99999', 'http://:secret@host', 'redis://:secret@host/shop'])(
		'does not take %s, and does not repeat it',
		async (url) => {
			const cause: unknown = await open(url).catch((error: unknown) => error);
			expect(cause).toHaveProperty('name', 'StoreUnusable');
			expect(inspect(cause, { depth: 20 })).not.toContain('secret');
		},
	);

	test('is encrypted with rediss, and only with a certificate that is trusted', async () => {
		const port = String(await freePort());
		const tls = ['--tls-port', port, '--tls-cert-file', join(fixtures, 'certificate.pem'), '--tls-key-file', join(fixtures, 'key.pem')];
		const guarded = await startRedis(...tls, '--tls-auth-clients', 'no');
		onTestFinished(() => guarded.stop());
		const log = createRecordingLog();
		const store = await open(`rediss://localhost:${port}`, log);
		await expect(store.release('one', 'red')).rejects.toThrow('is not connected');
		expect(inspect(log.lines)).toMatch(/self-signed|unable to verify/);
		await (await open(guarded.url)).restore({ team: 'red', ...noKnownCounters });
		const trusted = { NODE_EXTRA_CA_CERTS: join(fixtures, 'certificate.pem') };
		expect(await query(`rediss://localhost:${port}`, { requests: 1, name: 'tls', skewMs: 0 }, trusted)).toMatchObject([
			[expect.any(Number), true],
		]);
	});
});

async function open(url: string, log = createRecordingLog()): Promise<AdmissionStore> {
	const store = await openRedisAdmission({ url }, { clock: systemClock, log });
	onTestFinished(() => store.close());
	return store;
}

function watch(client: Redis): Redis {
	onTestFinished(() => client.disconnect());
	return client;
}

async function wholeCall(store: AdmissionStore, team: string, id = 'one') {
	await store.admit({ id, team, limits: rateLimits({ requestsPerMinute: 10 }), reservations: [reservation], reservationMs: 1000 });
	return store.settle({ id, team, admittedMs: Date.now(), tokens: 1, costNanoUsd: 1n, budgets: [month] });
}

/** Admits requests from another process. @returns for each request its minute by the server's clock, and whether it was admitted. */
async function query(
	url: string,
	{ requests, name, skewMs }: { requests: number; name: string; skewMs: number },
	env: Record<string, string> = {},
): Promise<[minute: number, isAdmitted: boolean][]> {
	const script = `
		const now = Date.now;
		Date.now = () => now() + ${skewMs};
		const { openRedisAdmission } = await import(${JSON.stringify(join(import.meta.dirname, 'redis-admission.ts'))});
		const { systemClock } = await import(${JSON.stringify(join(import.meta.dirname, '../../io/system-clock.ts'))});
		const log = { debug() {}, info() {}, warn() {}, error() {} };
		const store = await openRedisAdmission({ url: ${JSON.stringify(url)} }, { clock: systemClock, log });
		for (let isConnected = false; !isConnected; ) {
			isConnected = await store.release('nobody', 'red').then(() => true, () => new Promise((resolve) => setTimeout(resolve, 20, false)));
		}
		const answers = await Promise.all(Array.from({ length: ${requests} }, (_, index) =>
			store.admit({ id: '${name}-' + index, team: 'red', limits: [{ kind: 'rpm', limit: 100 }], reservations: [], reservationMs: 1000 })));
		console.log(JSON.stringify(answers.map(({ isAdmitted, reading }) => [Math.floor(reading.nowMs / 60000), isAdmitted])));
		await store.close();`;
	const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
		env: { ...process.env, ...env },
	});
	return JSON.parse(stdout) as [number, boolean][];
}
