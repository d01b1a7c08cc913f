/** Requests of each endpoint in parallel: a budget binds, and each ledger entry is what the provider bills. */
import { expect, onTestFinished, test } from 'vitest';
import { billedCounts } from '../support/accounting-bill.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { nanoUsdOf, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { print } from '../support/accounting-print.ts';
import { callGateway, createCaller, type RequestPlan } from '../support/accounting-request.ts';
import { readLedgerOnceWritten, untilNothingReserved } from '../support/ledger-view.ts';

const requests = 300;
const capTokens = 500;
const firstByte = 'slow-first-byte-3000';

interface Load {
	readonly plan: RequestPlan;
	readonly fault: string;
	/** Budget for which about half of the requests can be reserved at once. */
	readonly halfUsd: string;
	/** End of a complete response. */
	readonly end: string;
	/** Error of a request that the budget cannot reserve now. */
	readonly error: Readonly<Record<string, string>>;
}

const loads: readonly Load[] = [
	{
		plan: { format: 'responses', model: 'gpt-4o', text: 'Say hello.', capTokens, isStreaming: true },
		fault: `tokens-250-${firstByte}`,
		halfUsd: '0.75',
		end: 'event: response.completed',
		error: { code: 'rate_limit_exceeded', gateway_code: 'budget_reserved' },
	},
	{
		plan: { format: 'completions', model: 'gpt-3.5-turbo-instruct', text: 'Say hello.', capTokens, isStreaming: true },
		fault: `tokens-250-${firstByte}`,
		halfUsd: '0.15',
		end: 'data: [DONE]',
		error: { code: 'budget_reserved' },
	},
	{
		plan: { format: 'embeddings', model: 'text-embedding-3-small', text: 'A long text. '.repeat(2000) },
		fault: firstByte,
		halfUsd: '0.075',
		end: '"usage"',
		error: { code: 'budget_reserved' },
	},
];

const cases = loads.flatMap((load) => [
	{ ...load, name: load.plan.format, share: 'all', budget: '10.00', expected: requests },
	{ ...load, name: load.plan.format, share: 'about half', budget: load.halfUsd, expected: undefined },
]);

test.each(cases)(
	'300 requests for $name at once on a budget of which $share fit',
	async ({ plan, fault, end, error, budget, expected }) => {
		const fleet = await startFleet({
			teams: { crowd: { monthlyBudgetUsd: budget } },
			transfersReservation: true,
			budgets: { reservation: 'worst_case' },
		});
		onTestFinished(() => fleet.close());
		await fleet.simulator.addFaults({ fault });
		const caller = createCaller(fleet.tokenOf('crowd'));
		const url = fleet.gateways[0]?.url ?? '';
		const seen = await Promise.all(Array.from({ length: requests }, () => callGateway(url, caller, plan)));
		caller.agent.destroy();
		await untilNothingReserved(url, fleet.tokenOf('crowd'));
		const admitted = seen.filter(({ status }) => status === 200);
		const { spentNanoUsd } = await readLedgerOnceWritten(fleet.dataDir, 'crowd', admitted);
		const bill = await fleet.simulator.requests();
		const billed = bill.reduce((sum, row) => sum + reckonNanoUsd(row.model, billedCounts(row)), 0n);
		print(`${admitted.length} of ${requests} requests for ${plan.format} succeed; they cost $${usdOf(spentNanoUsd)} of $${budget}`);
		expect(spentNanoUsd).toBe(billed);
		expect(spentNanoUsd).toBeLessThanOrEqual(nanoUsdOf(budget));
		expect(bill).toHaveLength(admitted.length);
		for (const { text } of admitted) expect(text).toContain(end);
		if (expected === undefined) {
			expect(admitted.length).toBeGreaterThan(50);
			expect(admitted.length).toBeLessThan(requests);
		} else expect(admitted).toHaveLength(expected);
		const rejected = seen.filter(({ status }) => status !== 200).map(({ status, text }) => [status, JSON.parse(text) as unknown]);
		for (const one of rejected) expect(one).toMatchObject([429, { error }]);
	},
);
