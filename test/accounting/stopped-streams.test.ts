/** Setting `on_stream_over: stop`: streams end before their budget is exceeded, and nearly all of it can be used. */
import { expect, onTestFinished, test } from 'vitest';
import { billedCounts } from '../support/accounting-bill.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { nanoUsdOf, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { print } from '../support/accounting-print.ts';
import { callGateway, createCaller, type Seen } from '../support/accounting-request.ts';
import { readLedger, untilCountersSay, untilNothingReserved } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { startRedis } from '../support/redis-server.ts';

const streams = 500;
const budgetNanoUsd = nanoUsdOf('10.00');
/** Plans whose streams together would cost about four times the budget. */
const plans = [
	{ format: 'chat', model: 'gpt-4-turbo', outputTokens: 2600, eventMs: 40, ending: 'length' },
	{ format: 'messages', model: 'claude-sonnet-4-5', outputTokens: 5300, eventMs: 40, ending: 'error' },
] as const;

test.each(plans)(
	'$model: 500 streams at once use at least 95 % of ten dollars, and at most 100.1 %',
	{ timeout: 240_000 },
	async (plan) => {
		const { format, model, outputTokens, eventMs, ending } = plan;
		const redis = await startRedis();
		onTestFinished(() => redis.stop());
		const fleet = await startFleet({
			teams: { crowd: { monthlyBudgetUsd: usdOf(budgetNanoUsd) } },
			clockErrors: [0, 0],
			counters: redis.url,
			transfersReservation: true,
			budgets: { reservation: 'estimate', on_stream_over: 'stop', stopped_stream: ending },
		});
		onTestFinished(() => fleet.close());
		await fleet.simulator.pace(eventMs);
		await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` });
		const caller = createCaller(fleet.tokenOf('crowd'));
		const urls = fleet.gateways.map(({ url }) => url);
		const startedMs = performance.now();
		const seen = await Promise.all(
			Array.from({ length: streams }, (_, index) =>
				callGateway(urls[index % urls.length] ?? '', caller, { format, model, isStreaming: true, capTokens: 8000 }),
			),
		);
		const seconds = (performance.now() - startedMs) / 1000;
		caller.agent.destroy();
		const bill = await eventually('the bill is final', async () => {
			const rows = await fleet.simulator.requests();
			return rows.every(({ outcome }) => outcome !== 'pending') ? rows : undefined;
		});
		const billedNanoUsd = bill.reduce((sum, row) => sum + reckonNanoUsd(row.model, billedCounts(row)), 0n);
		await untilNothingReserved(urls[0] ?? '', fleet.tokenOf('crowd'));
		const { spentNanoUsd } = await readLedger(fleet.dataDir, 'crowd');
		await untilCountersSay(spentNanoUsd, urls[0] ?? '', fleet.tokenOf('crowd'));
		const share = (nanoUsd: bigint): number => Number((nanoUsd * 1_000_000n) / budgetNanoUsd) / 10_000;
		const passed = seen.filter(({ status }) => status === 200);
		print(
			`${model}: ${passed.length} streams on $10, two gateways: billed ${share(billedNanoUsd)} %, booked ${share(spentNanoUsd)} % of the budget, ${bill.filter(({ outcome }) => outcome === 'aborted').length} stopped; ${seconds.toFixed(1)} s`,
		);
		expect(passed).toHaveLength(streams);
		for (const one of passed) expect(endingOf(one)).toMatch(ending === 'length' ? /^(?:length|stop)$/ : /^(?:budget_exceeded|stop)$/);
		expect(share(billedNanoUsd)).toBeLessThanOrEqual(100.1);
		expect(share(billedNanoUsd)).toBeGreaterThanOrEqual(95);
		expect(share(spentNanoUsd)).toBeLessThanOrEqual(100.1);
	},
);

function endingOf({ text }: Seen): string {
	if (text.includes('"code":"budget_exceeded"')) return 'budget_exceeded';
	if (!/data: \[DONE\]\n\n$|event: message_stop\n[^\n]*\n\n$/.test(text)) return `cut: ${text.slice(-300)}`;
	return /"(?:finish_reason":"length|stop_reason":"max_tokens)"/.test(text) ? 'length' : 'stop';
}
