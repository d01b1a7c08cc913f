import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/support/product.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { type RedisDatabase, shareRedis } from '../../../test/support/shared-stores.ts';
import { systemClock } from '../../io/system-clock.ts';
import { IpRateWindow } from '../../policy/firewall/ip-rate-window.ts';
import { SharedIpRate } from '../../policy/firewall/shared-ip-rate.ts';
import { sourceKey } from '../../policy/firewall/source-key.ts';
import { CountersUnreachable } from '../contracts/admission.ts';
import type { SourceCounts } from '../contracts/source-counts.ts';
import { openRedisSourceCounts } from './redis-source-counts.ts';

let server: RedisDatabase;

beforeAll(async () => {
	server = await shareRedis();
});
afterAll(() => server.stop());

/** Waits for a connection. */
async function open(url = server.url): Promise<SourceCounts> {
	const counts = openRedisSourceCounts({ url }, createRecordingLog());
	onTestFinished(() => counts.close());
	await eventually('a connection', () =>
		counts.add([{ source: 'probe', requests: 0 }], 300).then(
			() => true,
			() => undefined,
		),
	);
	return counts;
}

test('adds up what several processes tell, source by source, and forgets it with the window', async () => {
	const [red, blue] = [await open(), await open()];
	const two = [
		{ source: 'a', requests: 3 },
		{ source: 'b', requests: 1 },
	];
	expect(await red.add(two, 3)).toEqual([3, 1]);
	expect(await blue.add(two, 3)).toEqual([6, 2]);
	expect(await red.add([{ source: 'a', requests: 0 }], 3)).toEqual([6]);
	const client = new Redis(server.url);
	onTestFinished(() => client.disconnect());
	const keys = await client.keys('*');
	expect(keys.toSorted()).toEqual(['tollgate:source:3:a', 'tollgate:source:3:b']);
	for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(2000);
	await eventually(
		'the end of the window',
		async () => ((await red.add([{ source: 'a', requests: 0 }], 3))[0] === 0 ? true : undefined),
		6000,
	);
	await eventually('no key left', async () => ((await client.keys('*')).length === 0 ? true : undefined), 6000);
});

test('a server that is gone fails at once', async () => {
	const gone = openRedisSourceCounts({ url: 'redis://127.0.0.1:1' }, createRecordingLog());
	onTestFinished(() => gone.close());
	await expect(gone.add([{ source: 'a', requests: 1 }], 300)).rejects.toBeInstanceOf(CountersUnreachable);
});

describe('rate windows of several processes on one server', () => {
	test.each([2, 4])(
		'%i of them admit the limit within a hundredth, at five requests in the time that the server takes to respond',
		async (processes) => {
			const limit = 2000;
			const source = sourceKey(`198.51.100.${processes}`);
			const log = createRecordingLog();
			const rates = await Promise.all(
				Array.from({ length: processes }, async () => {
					const counts = await open();
					const window = new IpRateWindow({ requests: limit, windowSeconds: 300, maxSources: 100 }, 1);
					return new SharedIpRate(window, (some) => counts.add(some, 300), { clock: systemClock, log });
				}),
			);
			const client = new Redis(server.url);
			onTestFinished(() => client.disconnect());
			let admitted = 0;
			for (let index = 0; index < 2500; index++) {
				if (rates[index % processes]?.admit(source, systemClock.monotonicMs()) === true) admitted++;
				if (index % 5 === 0) await client.ping();
			}
			expect(log.lines).toEqual([]);
			expect(admitted).toBeGreaterThanOrEqual(limit * 0.99);
			expect(admitted).toBeLessThanOrEqual(limit * 1.01);
		},
	);
});
