/** Streams of the Responses API in parallel: a budget binds, and each ledger entry is what the provider bills. */
import { expect, onTestFinished, test } from 'vitest';
import { billedCounts } from '../support/accounting-bill.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { nanoUsdOf, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { print } from '../support/accounting-print.ts';
import { callGateway, createCaller, type RequestPlan } from '../support/accounting-request.ts';
import { readLedgerOnceWritten, untilNothingReserved } from '../support/ledger-view.ts';

const requests = 300;
const outputTokens = 250;
const plan: RequestPlan = { format: 'responses', model: 'gpt-4o', text: 'Say hello.', capTokens: 500, isStreaming: true };

test.each([
	['all fit', '10.00', requests],
	['about half fit', '0.75', undefined],
] as const)('300 streams at once on a budget of which %s', async (_what, budget, expected) => {
	const fleet = await startFleet({
		teams: { crowd: { monthlyBudgetUsd: budget } },
		transfersReservation: true,
		budgets: { reservation: 'worst_case' },
	});
	onTestFinished(() => fleet.close());
	await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}-slow-first-byte-3000` });
	const caller = createCaller(fleet.tokenOf('crowd'));
	const url = fleet.gateways[0]?.url ?? '';
	const seen = await Promise.all(Array.from({ length: requests }, () => callGateway(url, caller, plan)));
	caller.agent.destroy();
	await untilNothingReserved(url, fleet.tokenOf('crowd'));
	const admitted = seen.filter(({ status }) => status === 200);
	const { spentNanoUsd } = await readLedgerOnceWritten(fleet.dataDir, 'crowd', admitted);
	const bill = await fleet.simulator.requests();
	const billed = bill.reduce((sum, row) => sum + reckonNanoUsd(row.model, billedCounts(row)), 0n);
	print(`${admitted.length} of ${requests} streams succeed; they cost $${usdOf(spentNanoUsd)} of $${budget}`);
	expect(spentNanoUsd).toBe(billed);
	expect(spentNanoUsd).toBeLessThanOrEqual(nanoUsdOf(budget));
	expect(bill).toHaveLength(admitted.length);
	for (const { text } of admitted) expect(text).toContain('event: response.completed');
	if (expected === undefined) expect(admitted.length).toBeGreaterThan(50);
	else expect(admitted).toHaveLength(expected);
	const rejected = seen.filter(({ status }) => status !== 200).map(({ status, text }) => [status, JSON.parse(text) as unknown]);
	for (const one of rejected) expect(one).toMatchObject([429, { error: { code: 'rate_limit_exceeded', gateway_code: 'budget_reserved' } }]);
});
