/** Sequential client: exactly the requests that its limits allow pass, because each finds the one before it settled. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { nanoUsdOf, plainCounts, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { callGateway, createCaller, type RequestPlan, type Seen } from '../support/accounting-request.ts';
import { readLimits } from '../support/ledger-view.ts';
import { type RedisDatabase, shareRedis } from '../support/shared-stores.ts';

/** Tokens that the simulator counts for the question of `bodyOf`, and tokens that it generates. */
const inputTokens = 6;
const outputTokens = 294;
const plan: RequestPlan = { format: 'chat', model: 'gpt-4o', capTokens: 500 };
const costNanoUsd = reckonNanoUsd(plan.model, plainCounts(inputTokens, outputTokens));
const limitNanoUsd = 43n * costNanoUsd;

describe.each(['memory', 'redis'] as const)('with counters in %s', (counters) => {
	let redis: RedisDatabase | undefined;
	let fleet: Fleet;
	beforeAll(async () => {
		if (counters === 'redis') redis = await shareRedis();
		fleet = await startFleet({
			teams: { whole: { dailyTokens: 1000 }, streamed: { dailyTokens: 1000 }, money: { monthlyBudgetUsd: usdOf(limitNanoUsd) } },
			counters: redis?.url ?? 'memory',
			budgets: { reservation: 'worst_case' },
		});
		await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` });
	});
	afterAll(async () => {
		await fleet.close();
		await redis?.stop();
	});

	test.each([
		['whole', false],
		['streamed', true],
	])('1,000 tokens a day are four requests of 300, %s', async (team, isStreaming) => {
		const passed = await untilRejected(fleet, team, { ...plan, isStreaming });
		expect(passed.rejected).toMatchObject({ reason: 'Daily token limit exceeded (1200/1000 tokens per day)' });
		expect(passed.count).toBe(4);
	});

	test('a worst_case budget admits requests until the next one may exceed the remaining budget', async () => {
		const { count, rejected } = await untilRejected(fleet, 'money', plan);
		const [budget] = (await readLimits(fleet.gateways[0]?.url ?? '', fleet.tokenOf('money'))).budgets;
		expect(budget).toMatchObject({ spentNanoUsd: BigInt(count) * costNanoUsd, reservedNanoUsd: 0n });
		const maxCostUsd = /can cost ([\d.]+) USD/.exec(String(rejected['reason']))?.[1] ?? '';
		const fitting = (limitNanoUsd - nanoUsdOf(maxCostUsd)) / costNanoUsd + 1n;
		expect(BigInt(count)).toBe(fitting);
		expect(count).toBeGreaterThan(30);
	});
});

async function untilRejected(fleet: Fleet, team: string, one: RequestPlan): Promise<{ count: number; rejected: Record<string, unknown> }> {
	const caller = createCaller(fleet.tokenOf(team));
	try {
		for (let count = 0; ; count++) {
			const { status, text }: Seen = await callGateway(fleet.gateways[0]?.url ?? '', caller, one);
			if (status === 200) continue;
			expect(status).toBe(429);
			return { count, rejected: JSON.parse(text) as Record<string, unknown> };
		}
	} finally {
		caller.agent.destroy();
	}
}
