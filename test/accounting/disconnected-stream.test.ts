/** Clients that disconnect at any point of a stream: the provider detects it, and delivered output is charged. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countTokens } from '../../simulator/token-count.ts';
import type { LedgerEntry } from '../../src/stores/contracts/ledger.ts';
import type { BilledRequest } from '../support/accounting-bill.ts';
import { type Fleet, startFleet } from '../support/accounting-fleet.ts';
import { callGateway, createCaller, deliveredText, type RequestPlan, type Seen } from '../support/accounting-request.ts';
import { readLedgerOnceWritten, untilNothingReserved } from '../support/ledger-view.ts';

const points = 40;
const outputTokens = 120;
const models = { chat: 'gpt-4o', messages: 'claude-sonnet-4-6' } as const;
/** Text in the last event before the one with the usage. */
const lastWords = { chat: '"finish_reason":"stop"', messages: 'event: content_block_stop' } as const;
type Format = keyof typeof models;

let fleet: Fleet;
beforeAll(async () => {
	fleet = await startFleet({ teams: { leaving: { monthlyBudgetUsd: '1000' } } });
});
afterAll(() => fleet.close());

describe.for(['chat', 'messages'] as const)('%s', (format) => {
	test(`a client that disconnects at one of ${points} points: the provider detects it within a second, delivered output is charged`, async () => {
		await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` });
		await fleet.simulator.pace(20);
		const eventsOfAll = format === 'chat' ? outputTokens + 1 : outputTokens / 6 + 3;
		const drops = Array.from({ length: points }, (_, point) => Math.max(1, Math.round((point / points) * eventsOfAll)));
		const calls = await disconnectAll(
			format,
			drops.map((events) => (text) => text.split('\n\n').length > events),
		);
		expect(calls).toHaveLength(points);
		for (const { seen, row, billed } of calls) {
			const delivered = countTokens(deliveredText(format, seen.text));
			const remainingMs = performance.timeOrigin + seen.endedMs;
			expect(row.closed).toMatchObject({ outcome: 'client_closed', status: 200, isEstimated: true });
			expect(row.closed?.usage.outputTokens).toBeGreaterThanOrEqual(delivered);
			expect(row.closed?.usage.inputTokens).toBeGreaterThan(0);
			expect(row.closed?.costNanoUsd).toBeGreaterThan(0n);
			expect(billed.outcome).toBe('aborted');
			expect(Date.parse(billed.time) + (billed.duration_ms ?? Number.NaN) - remainingMs).toBeLessThanOrEqual(1000);
		}
		const someText = calls.filter(({ seen }) => deliveredText(format, seen.text) !== '');
		expect(someText.length).toBeGreaterThan(points / 2);
		for (const { row } of someText) expect(row.closed?.usage.outputTokens ?? 0).toBeGreaterThan(0);
	});

	test('a client that disconnects just before the usage is charged for all of it', async () => {
		// Few events, each followed by enough time to disconnect.
		await fleet.simulator.clearFaults();
		await fleet.simulator.pace(100);
		await fleet.simulator.script({ pieces: longText, count: 5 });
		const all = countTokens(longText.join(''));
		const calls = await disconnectAll(
			format,
			Array.from({ length: 5 }, () => (text) => text.includes(lastWords[format])),
		);
		for (const { row, billed } of calls) {
			expect(billed.tokens.output).toBe(all);
			expect(row.closed?.outcome).toBe('client_closed');
			const charged = row.closed?.usage.outputTokens ?? 0;
			// On a busy machine the usage may arrive before the gateway detects the disconnect.
			if (row.closed?.isEstimated === false) expect(charged).toBe(all);
			expect(charged).toBeGreaterThanOrEqual(all);
			// Upper bound of the estimate: a token for three bytes instead of four.
			expect(charged).toBeLessThanOrEqual(Math.ceil((all * 4) / 3) + longText.length);
		}
		expect(calls.some(({ row }) => row.closed?.isEstimated === true)).toBe(true);
	});
});

const longText = Array.from(
	{ length: 8 },
	(_, index) => `Part ${index} of a text that has many words and no end in sight, or so it seems. `,
);

interface Remaining {
	readonly seen: Seen;
	readonly row: LedgerEntry;
	readonly billed: BilledRequest;
}

async function disconnectAll(format: Format, conditions: readonly ((text: string) => boolean)[]): Promise<Remaining[]> {
	const [gateway] = fleet.gateways;
	const url = gateway?.url ?? '';
	const caller = createCaller(fleet.tokenOf('leaving'));
	const plan: RequestPlan = { format, model: models[format], isStreaming: true, capTokens: 1000 };
	const calls = await Promise.all(
		conditions.map(async (disconnectWhen) => {
			const seen = await callGateway(url, caller, { ...plan, disconnectWhen });
			expect(seen.hasDisconnected).toBe(true);
			return seen;
		}),
	);
	await untilNothingReserved(url, fleet.tokenOf('leaving'));
	const billOf = new Map((await fleet.simulator.requests()).map((row) => [row.id, row]));
	caller.agent.destroy();
	const { rows, differences } = await readLedgerOnceWritten(fleet.dataDir, 'leaving', calls);
	expect(differences).toEqual([]);
	const rowOf = new Map(rows.map((row) => [row.id, row]));
	return calls.map((seen) => {
		const [row, billed] = [rowOf.get(seen.requestId ?? ''), billOf.get(seen.upstreamId ?? '')];
		if (row === undefined || billed === undefined) throw new Error(`${seen.requestId} is not in the books of both`);
		return { seen, row, billed };
	});
}
