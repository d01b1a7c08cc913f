/** Concurrent requests reserve tokens of the daily limit: usage stays near the limit, and is not three hundred times a request. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { print } from '../support/accounting-print.ts';
import { callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { readLimits } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { type RedisDatabase, shareRedis } from '../support/shared-stores.ts';

const requests = 300;
const limit = 1000;
/** Tokens of one request: 6 that the simulator counts for the question, 294 that it generates. */
const tokens = 300;

describe.each(['memory', 'redis'] as const)('with counters in %s', (counters) => {
	let redis: RedisDatabase | undefined;
	let fleet: Fleet;
	beforeAll(async () => {
		if (counters === 'redis') redis = await shareRedis();
		fleet = await startFleet({ teams: { crowd: { dailyTokens: limit } }, counters: redis?.url ?? 'memory', transfersReservation: true });
		await fleet.simulator.addFaults({ fault: 'tokens-294-slow-first-byte-3000' });
	});
	afterAll(async () => {
		await fleet.close();
		await redis?.stop();
	});

	test('300 requests of 300 tokens at once use as many of 1,000 tokens as if they came one after the other', async () => {
		const url = fleet.gateways[0]?.url ?? '';
		const token = fleet.tokenOf('crowd');
		const caller = createCaller(token);
		const seen = await Promise.all(
			Array.from({ length: requests }, () => callGateway(url, caller, { format: 'chat', model: 'gpt-4o', capTokens: 4000 })),
		);
		caller.agent.destroy();
		const passed = seen.filter(({ status }) => status === 200);
		const used = await eventually('all are settled', async () => {
			const { tokensUsed } = await readLimits(url, token);
			return tokensUsed === passed.length * tokens ? tokensUsed : undefined;
		});
		print(`${requests} requests of ${tokens} tokens at once, ${limit} tokens a day, counters in ${counters}: ${used} tokens used`);
		expect(used).toBe(Math.ceil(limit / tokens) * tokens);
		const reserved = seen.map(bodyOf).filter(({ reason }) => reason?.startsWith('Daily token limit is reserved'));
		expect(reserved.length).toBeGreaterThan(requests / 2);
		for (const { reason, allowed, retry_after_seconds: seconds, headers } of reserved) {
			expect(reason).toMatch(/^Daily token limit is reserved by requests in flight \(\d+ used, \d+ reserved, limit 1000 tokens per day\)$/);
			expect([allowed, headers['retry-after'], headers['x-should-retry']]).toEqual([false, String(seconds), undefined]);
			expect(seconds).toBeGreaterThanOrEqual(1);
			expect(seconds).toBeLessThanOrEqual(30);
		}
	});
});

interface Rejected {
	readonly reason?: string;
	readonly allowed?: boolean;
	readonly retry_after_seconds?: number;
	readonly headers: Seen['headers'];
}

function bodyOf({ text, headers }: Seen): Rejected {
	return { ...(JSON.parse(text) as object), headers };
}
