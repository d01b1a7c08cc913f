/** Calls of tools that the provider runs, under `budgets.reservation: worst_case`: a request cannot cost more than it reserves. */
import { describe, expect, test } from 'vitest';
import { GatewayBench, sentText, testSettings } from '../../../test/support/gateway-bench.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { isJsonObject } from '../../wire/json/parse-body.ts';

const webSearchNanoUsd = 10_000_000n;
const unlimited = { requestsPerMinute: null, dailyTokens: null };

function createBench(reservation: 'estimate' | 'worst_case' = 'worst_case'): GatewayBench {
	return new GatewayBench({
		tiers: { sandbox: { ...unlimited, monthlyBudgetUsd: null }, standard: { ...unlimited, monthlyBudgetUsd: '1000.00' } },
		budgets: { ...testSettings.budgets, reservation, toolsUsd: { web_search: '0.01' } },
	});
}

const ask = (bench: GatewayBench, more: object, path = '/v1/responses'): Promise<HttpResponse> =>
	bench.ask(path, JSON.stringify({ model: 'gpt-4o', input: 'Hi', max_output_tokens: 100, ...more }));

function sentMember(bench: GatewayBench, name: string): unknown {
	const [sent] = bench.sent;
	const body: unknown = sent && JSON.parse(sentText(sent));
	return isJsonObject(body) ? body[name] : undefined;
}

const reservedBy = async (more: object): Promise<bigint> => {
	const bench = createBench();
	await ask(bench, more);
	return (await bench.ledger.list({ limit: 1 })).rows[0]?.reservedNanoUsd ?? 0n;
};

const tools = [{ type: 'web_search' }];
const warning = 'max_tool_calls: limited to 9, for a budget';

describe('a request of the Responses API with hosted tools', () => {
	test.each([
		['absent', {}, 9, warning],
		['null', { max_tool_calls: null }, 9, warning],
		['too high', { max_tool_calls: 30 }, 9, warning],
		['no number of calls', { max_tool_calls: 1.5 }, 9, warning],
		['lower', { max_tool_calls: 4 }, 4, undefined],
	])('is sent with a limit of calls that is reserved: %s', async (_case, limit, sent, warned) => {
		const bench = createBench();
		const response = await ask(bench, { tools, ...limit });
		expect([response.status, sentMember(bench, 'max_tool_calls'), response.headers['x-gateway-warnings']]).toEqual([200, sent, warned]);
	});

	test('reserves the price of each call that its limit allows', async () => {
		const least = await reservedBy({ tools, max_tool_calls: 1 });
		for (const [max_tool_calls, calls] of [
			[2, 2n],
			[9, 9n],
			[10, 9n],
		] as const) {
			expect((await reservedBy({ tools, max_tool_calls })) - least).toBe((calls - 1n) * webSearchNanoUsd);
		}
	});

	test('is sent unchanged without a worst case, and without hosted tools', async () => {
		const estimated = createBench('estimate');
		await ask(estimated, { tools });
		const plain = createBench();
		await ask(plain, { tools: [{ type: 'function', name: 'f', parameters: {} }] });
		expect([sentMember(estimated, 'max_tool_calls'), sentMember(plain, 'max_tool_calls')]).toEqual([undefined, undefined]);
	});

	test('gets an output cap, too', async () => {
		const bench = createBench();
		const response = await ask(bench, { tools, max_output_tokens: undefined });
		expect([sentMember(bench, 'max_tool_calls'), sentMember(bench, 'max_output_tokens')]).toEqual([9, expect.any(Number)]);
		expect(response.headers['x-gateway-warnings']).toMatch(/^the output is capped at \d+ tokens, for a budget; max_tool_calls: limited/);
	});

	test('is not changed if it only compacts a conversation', async () => {
		const bench = createBench();
		const added = { type: 'additional_tools', role: 'developer', tools };
		await ask(bench, { input: [added, { role: 'user', content: 'Hi' }], max_output_tokens: undefined }, '/v1/responses/compact');
		expect([bench.sent.length, sentMember(bench, 'max_tool_calls')]).toEqual([1, undefined]);
	});
});
