import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../../test/support/collect-garbage.ts';
import { chatBody, chatPath, GatewayBench, jsonResponse, testSettings } from '../../../test/support/gateway-bench.ts';
import { createMemoryLedger } from '../../../test/support/memory-ledger.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import type { CloseListener, Ledger } from '../../stores/contracts/ledger.ts';

const usage = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };
/** Cost of 1000 input and 500 output tokens at gpt-5's list price of 1.25 and 10 USD. */
const costOfUsage = 6_250_000n;
const standard = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: '1.00' };

async function bookOne(close: Ledger['close']) {
	const ledger: Ledger = { ...createMemoryLedger(), close };
	const bench = new GatewayBench({ tiers: { ...testSettings.tiers, standard } }, { ledger });
	bench.respond = () => jsonResponse(200, JSON.stringify({ id: 'x', choices: [], usage }));
	const { status } = await bench.ask(chatPath, chatBody);
	await bench.gateway.settled();
	const [all] = (await bench.admission.read('team-1', [{ budget: 'all', period: periodOf(bench.clock.nowMs()) }])).budgets;
	return { status, settled: all?.settledNanoUsd, reserved: all?.reservedNanoUsd, log: bench.log.lines.map(({ event }) => event) };
}

describe('the cost of a request whose entry cannot be closed', () => {
	it('now is counted: the ledger stores the close, and writes it later', async () => {
		const settled = await bookOne((_row, reported) => reported(new UpstreamError('records_unavailable')));
		expect(settled).toEqual({ status: 200, settled: costOfUsage, reserved: 0n, log: [] });
	});

	it('at all stays reserved, and operators get a log line', async () => {
		const settled = await bookOne(() => {
			throw new RangeError('no such amount');
		});
		expect(settled).toMatchObject({ status: 200, settled: 0n, log: ['the cost of a request could not be settled'] });
		expect(settled.reserved).toBeGreaterThan(0n);
	});
});

describe('a request that waits for the ledger', () => {
	it('has settled the counters when its response is there', async () => {
		const ledger: Ledger = { ...createMemoryLedger(), close: () => undefined };
		const bench = new GatewayBench({ tiers: { ...testSettings.tiers, standard } }, { ledger });
		bench.respond = () => jsonResponse(200, JSON.stringify({ id: 'x', choices: [], usage }));
		await bench.ask(chatPath, chatBody);
		const reading = await bench.admission.read('team-1', [{ budget: 'all', period: periodOf(bench.clock.nowMs()) }]);
		expect(reading).toMatchObject({ tokensToday: 1500, budgets: [{ settledNanoUsd: costOfUsage, reservedNanoUsd: 0n }] });
	});

	it('is not kept alive by the pending write', async () => {
		const waiting: CloseListener[] = [];
		const ledger: Ledger = {
			...createMemoryLedger(),
			close: (_row, reported) => {
				waiting.push(reported);
			},
		};
		const bench = new GatewayBench({}, { ledger });
		bench.respond = () => jsonResponse(200, JSON.stringify({ id: 'x', choices: [], usage }));
		// Separate function, whose stack frame does not keep the response alive.
		const inferenceRequest = await (async () => {
			const { record } = await bench.ask(chatPath, chatBody);
			if (record === undefined) throw new Error('the answer has no facts');
			return new WeakRef(record);
		})();
		bench.sent.length = 0;
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
		expect([waiting.length, inferenceRequest.deref()]).toEqual([1, undefined]);
	});
});
