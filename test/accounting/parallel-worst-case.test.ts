/** Reservation `worst_case`: a budget of ten dollars admits 300 concurrent requests of each of two models. */
import { expect, onTestFinished, test } from 'vitest';
import { billedCounts } from '../support/accounting-bill.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { nanoUsdOf, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { print } from '../support/accounting-print.ts';
import { callGateway, createCaller, type RequestPlan } from '../support/accounting-request.ts';
import { readLedgerOnceWritten, untilNothingReserved } from '../support/ledger-view.ts';

const requests = 300;
/** Tokens by the simulator's count: one per four characters of text, and three per message. */
const inputTokens = 210;
const outputTokens = 250;
const text = 'word '.repeat(((inputTokens - 3) * 4) / 5 + 1).slice(0, (inputTokens - 3) * 4);
const plans: readonly RequestPlan[] = [
	{ format: 'chat', model: 'gpt-4o', text, capTokens: 500 },
	{ format: 'messages', model: 'claude-sonnet-4-5', text, capTokens: 500 },
];

test('300 requests at once to each of two models succeed on one budget of ten dollars', async () => {
	const fleet = await startFleet({
		teams: { crowd: { monthlyBudgetUsd: '10.00' } },
		transfersReservation: true,
		budgets: { reservation: 'worst_case' },
	});
	onTestFinished(() => fleet.close());
	await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}-slow-first-byte-3000` });
	const caller = createCaller(fleet.tokenOf('crowd'));
	const url = fleet.gateways[0]?.url ?? '';
	const seen = await Promise.all(plans.flatMap((plan) => Array.from({ length: requests }, () => callGateway(url, caller, plan))));
	caller.agent.destroy();
	await untilNothingReserved(url, fleet.tokenOf('crowd'));
	const admitted = seen.filter(({ status }) => status === 200);
	const { rows, spentNanoUsd } = await readLedgerOnceWritten(fleet.dataDir, 'crowd', admitted);
	const bill = await fleet.simulator.requests();
	expect(new Set(bill.map(({ tokens }) => `${tokens.input} ${tokens.output}`))).toEqual(new Set([`${inputTokens} ${outputTokens}`]));
	const billed = bill.reduce((sum, row) => sum + reckonNanoUsd(row.model, billedCounts(row)), 0n);
	for (const { model } of plans) {
		const entry = rows.find((row) => row.model === model);
		const { reservedNanoUsd = 0n, closed } = entry ?? {};
		const passed = seen.filter(({ status, plan }) => status === 200 && plan.model === model).length;
		print(
			`${model}: ${passed} of ${requests} succeed; each reserves $${usdOf(reservedNanoUsd)} and costs $${usdOf(closed?.costNanoUsd ?? 0n)}`,
		);
	}
	expect(new Set(seen.map(({ status }) => status))).toEqual(new Set([200]));
	expect(spentNanoUsd).toBe(billed);
	expect(spentNanoUsd).toBeLessThanOrEqual(nanoUsdOf('10.00'));
});
