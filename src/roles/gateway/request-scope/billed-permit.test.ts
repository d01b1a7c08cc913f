/** Reservation of a permit while its request runs, and the settlement at the end. */
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import type { Price } from '../../../core/price.ts';
import { Rejection } from '../../../core/rejection.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { noUsage } from '../../../core/usage.ts';
import type { BudgetTerms } from '../../../policy/limits/terms-resolver.ts';
import { TypicalRequest } from '../../../policy/limits/typical-requests.ts';
import type { AdmissionStore, BudgetReservation, Settlement } from '../../../stores/contracts/admission.ts';
import type { ClosedEntry, OpenEntry } from '../../../stores/contracts/ledger.ts';
import type { MeteredUsage } from '../../../wire/usage/usage-meter.ts';
import { chatUsage } from '../../../wire/usage/usage-reader.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { GatewayWork } from '../gateway-work.ts';
import type { EndedRequest } from '../model-metrics.ts';
import { BilledPermit, type PermitSettings } from './billed-permit.ts';
import { completed, failed, RequestScope, upstreamError } from './request-scope.ts';

/** Price per token: 1 nanodollar of input, 10 of output. */
const price: Price = {
	version: 'test',
	tiers: [
		{
			upToInputTokens: null,
			inputPicoUsd: 1000n,
			cacheReadPicoUsd: 1000n,
			cacheWritePicoUsd: 1000n,
			cacheWriteHourPicoUsd: 1000n,
			outputPicoUsd: 10_000n,
			reasoningPicoUsd: 10_000n,
		},
	],
};

const reservation: BudgetReservation = { budget: 'all', period: '2026-01', limitNanoUsd: 10_000n, amountNanoUsd: 105n, check: 'before' };
const budget: BudgetTerms = {
	id: 'b',
	model: null,
	budget: 'all',
	client: null,
	provider: null,
	attribute: null,
	period: '2026-01',
	window: 'month',
	isEnforced: true,
	report: 'nothing',
	fallbackModel: null,
	ledgerName: 'all',
	limitNanoUsd: 10_000n,
	budgetNanoUsd: 10_000n,
	warningThresholdPercent: 80,
};

const entry: OpenEntry = {
	id: 'req-1',
	startedMs: Date.UTC(2026, 0, 1) + 60_000,
	team: 'team-1',
	clientId: 'client-1',
	provider: 'provider_b',
	model: 'gpt-4o',
	dialect: 'chat',
	isStreaming: true,
	priceVersion: 'test',
	reservedNanoUsd: 105n,
	budgets: ['all'],
	endpoint: '/v1/chat/completions',
	attributes: '',
};

const charge = (inputTokens: number, outputTokens: number, isEstimated: boolean) => ({
	isEstimated,
	usage: { ...noUsage, inputTokens, outputTokens },
	costNanoUsd: BigInt(inputTokens + 10 * outputTokens),
});

const metered = (outputTokens: number, more: Partial<MeteredUsage> = {}): MeteredUsage => ({
	usage: { ...noUsage, inputTokens: 5, outputTokens },
	isEstimated: true,
	...more,
});

/** A permit that reserves 10 output tokens of at most 100, with ports that record their calls. */
class Bench {
	readonly clock = new ManualClock();
	readonly log = createRecordingLog();
	readonly scope = new RequestScope('req-1', this.log);
	readonly work = new GatewayWork();
	readonly typical = new TypicalRequest();
	readonly opened: string[] = [];
	readonly closed: ClosedEntry[] = [];
	readonly settled: Settlement[] = [];
	readonly released: string[] = [];
	readonly counted: EndedRequest[] = [];
	readonly warned: bigint[] = [];
	/** Amounts of each extension. */
	readonly extended: bigint[] = [];
	readonly renewed: number[] = [];
	readonly aborts: string[] = [];
	extend: () => Promise<boolean> = () => Promise.resolve(true);
	grow: () => Promise<bigint | undefined> = () => Promise.resolve(105n);
	settle: () => ReturnType<AdmissionStore['settle']> = () => ({ isDuplicate: false, isLate: false, budgets: [] });
	readonly permit: BilledPermit;

	constructor(terms: Partial<PermitSettings> = {}, onStreamOver: 'extend' | 'stop' = 'extend') {
		const admission = {
			extend: (_id: string, _team: string, reservations: readonly BudgetReservation[]) => {
				this.extended.push(...reservations.map(({ amountNanoUsd }) => amountNanoUsd));
				return this.extend();
			},
			grow: (_id: string, _team: string, _holds: readonly BudgetReservation[], reservationMs: number) => {
				this.renewed.push(reservationMs);
				return this.grow();
			},
			settle: (settlement: Settlement) => {
				this.settled.push(settlement);
				return this.settle();
			},
			release: (id: string) => {
				this.released.push(id);
				return Promise.resolve();
			},
		};
		const ledger = {
			open: ({ id }: OpenEntry) => {
				this.opened.push(id);
				return { failure: undefined };
			},
			close: (closed: ClosedEntry, reported: () => void) => {
				this.closed.push(closed);
				reported();
			},
		};
		const deps = {
			ports: { clock: this.clock, log: this.log, admission, ledger },
			work: this.work,
			settings: { budgets: { onStreamOver } },
			requestMetrics: { ended: (call: EndedRequest) => void this.counted.push(call) },
			warnOfBudgets: ({ costNanoUsd }: { costNanoUsd: bigint }) => void this.warned.push(costNanoUsd),
		} as unknown as GatewayDeps;
		// Process clocks do not start with a request.
		this.clock.advance(60_000);
		this.scope.attach({ abort: ({ code }) => void this.aborts.push(code), release: () => undefined });
		this.permit = new BilledPermit(
			{
				entry,
				earlierTargets: 0,
				price,
				budgets: [budget],
				reservations: [reservation],
				reservationMs: 30_000,
				stopsAtNanoUsd: undefined,
				inputTokens: 5,
				outputTokens: 10,
				maxOutputTokens: 100,
				allowedOutputTokens: 100,
				choices: 1,
				typical: this.typical,
				isUsageInjected: false,
				reader: chatUsage,
				hasHostedTools: false,
				canHideReasoning: false,
				isBackground: false,
				capEdits: [],
				usageEdits: [],
				...terms,
			},
			this.scope,
			deps,
		);
	}

	send(): void {
		void this.permit.open();
		this.permit.markSent();
	}

	/** Delivers this number of output tokens. */
	async deliver(tokens: number): Promise<void> {
		const meter = this.permit.createMeter();
		vi.spyOn(meter, 'deliveredTokens').mockReturnValue(tokens);
		this.permit.delivered(meter);
		await new Promise((resolve) => setImmediate(resolve));
	}
}

describe('a request that costs', () => {
	it('owes its reservation from when it is sent until the provider rejects it', () => {
		const { permit, ...bench } = new Bench();
		void permit.open();
		expect([permit.canCost, permit.owedNanoUsd]).toEqual([false, 0n]);
		permit.markSent();
		expect([permit.canCost, permit.owedNanoUsd]).toEqual([true, 105n]);
		permit.markRejected();
		expect([permit.canCost, permit.owedNanoUsd]).toEqual([false, 0n]);
		bench.scope.end(failed(new UpstreamError('provider_unreachable')));
		expect(bench.closed).toMatchObject([{ outcome: 'broken', status: 502, ...charge(0, 0, false) }]);
	});

	it('is sent only with its ledger entry', () => {
		const { permit } = new Bench();
		expect(() => permit.markSent()).toThrow('before its ledger entry was open');
	});

	it('counts as a reservation until it ends, if a budget limits it', () => {
		const { scope, work } = new Bench();
		expect(work.openReservations).toBe(1);
		scope.end(completed(200));
		expect([work.openReservations, new Bench({ reservations: [] }).work.openReservations]).toEqual([0, 0]);
	});
});

it('a permit contains the edits of the request', () => {
	const edits = { capEdits: [{ start: 1, end: 2, text: '7' }], usageEdits: [{ start: 3, end: 3, text: 'x' }] };
	expect(new Bench(edits).permit.edits).toMatchObject(edits);
});

describe('the end of a request', () => {
	it('without a sent request or an open ledger entry only releases the counters', async () => {
		const bench = new Bench();
		bench.scope.end(failed(new Rejection('client_closed')));
		await bench.work.settlements.settled();
		expect([bench.released, bench.closed, bench.settled, bench.work.openReservations]).toEqual([['req-1'], [], [], 0]);
	});

	it.each([0, 1])('that was not sent closes its entry as not sent, after %i other targets', async (earlierTargets) => {
		const bench = new Bench({ earlierTargets });
		if (earlierTargets === 0) void bench.permit.open();
		bench.scope.end(failed(new Rejection('provider_busy')));
		await bench.work.settlements.settled();
		expect(bench.closed).toMatchObject([{ id: 'req-1', outcome: 'not_sent', ...charge(0, 0, false) }]);
		expect([bench.released, bench.settled, bench.counted]).toEqual([['req-1'], [], []]);
		expect(bench.scope.recorder.record.costNanoUsd).toBeUndefined();
	});

	it.each([
		['completes without a response to read', completed(200), 'complete', charge(5, 10, true)],
		['the provider answers with an error', upstreamError(429, undefined), 'upstream_error', charge(0, 0, false)],
		['the client disconnects', failed(new Rejection('client_closed')), 'client_closed', charge(5, 10, true)],
		['the process shuts down', failed(new Rejection('draining')), 'broken', charge(5, 10, true)],
		['the provider fails', failed(new UpstreamError('provider_disconnected')), 'broken', charge(5, 10, true)],
	] as const)('that was sent: %s', async (_how, outcome, expected, charged) => {
		const bench = new Bench();
		bench.send();
		bench.clock.advance(700);
		bench.scope.end(outcome);
		await bench.work.settlements.settled();
		expect(bench.closed).toEqual([{ id: 'req-1', endedMs: entry.startedMs + 700, outcome: expected, status: outcome.status, ...charged }]);
		expect(bench.settled).toMatchObject([
			{
				id: 'req-1',
				team: 'team-1',
				admittedMs: entry.startedMs,
				tokens: charged.usage.inputTokens + charged.usage.outputTokens,
				costNanoUsd: charged.costNanoUsd,
				budgets: [{ budget: 'all' }],
			},
		]);
		expect(bench.counted).toMatchObject([{ provider: 'provider_b', model: 'gpt-4o', team: 'team-1', upstreamMs: 700, ...charged }]);
		expect(bench.warned).toEqual([charged.costNanoUsd]);
		expect(bench.scope.recorder.record).toMatchObject({ costNanoUsd: charged.costNanoUsd, outputTokens: charged.usage.outputTokens });
	});

	it('after a complete response charges that, whatever the client gets', () => {
		const bench = new Bench();
		bench.send();
		const usage = { ...noUsage, inputTokens: 7, outputTokens: 3 };
		bench.permit.meterResponse(Buffer.from('{}'), { isObject: true, usage });
		bench.scope.end(failed(new Rejection('client_closed')));
		expect(bench.closed).toMatchObject([{ outcome: 'complete', status: 499, ...charge(7, 3, false) }]);
	});

	it('after an unreadable response charges the reservation', () => {
		const bench = new Bench();
		bench.send();
		bench.permit.meterResponse(Buffer.from('...'), undefined);
		bench.scope.end(completed(200));
		expect(bench.closed).toMatchObject([charge(5, 10, true)]);
	});

	it('of a response without usage charges its text, at most the output limit', () => {
		const texts = ['hi', 'word '.repeat(500)];
		const tokens = texts.map((content) => {
			const bench = new Bench({ canHideReasoning: true });
			bench.permit.meterResponse(Buffer.from(JSON.stringify({ choices: [{ message: { content } }] })), {
				isObject: true,
				usage: undefined,
			});
			return bench.permit.chargedUsage?.usage.outputTokens;
		});
		expect(tokens[0]).toBeLessThan(10);
		expect(tokens[1]).toBe(100);
	});

	it('records the usual output of a choice and the usual time, of complete requests only', () => {
		for (const outcome of [completed(200), failed(new Rejection('client_closed'))]) {
			const bench = new Bench({ choices: 2 });
			bench.send();
			bench.clock.advance(13_000);
			bench.permit.meterStream(metered(16, { isEstimated: false }));
			bench.scope.end(outcome);
			const isComplete = outcome.kind === 'completed';
			expect([bench.typical.outputTokens, bench.typical.durationMs]).toEqual(isComplete ? [256 - 31, 6000] : [256, 5000]);
		}
	});

	it('records the usual length of tokens only from usage that the provider reported', () => {
		const learned = (more: Partial<MeteredUsage>, outcome = completed(200)): number => {
			const bench = new Bench();
			bench.send();
			bench.permit.meterStream(metered(90, { countedTokens: 50, isEstimated: false, ...more }));
			bench.scope.end(outcome);
			return bench.typical.tokensPerCounted;
		};
		expect(learned({})).toBeCloseTo(1.1);
		expect([learned({ isEstimated: true }), learned({}, failed(new Rejection('draining')))]).toEqual([1, 1]);
	});

	it.each([
		['was settled before', {}, { isDuplicate: true, isLate: false, budgets: [] }],
		['no budget bounds', { budgets: [], reservations: [] }, { isDuplicate: false, isLate: false, budgets: [] }],
	])('that %s warns of no budget', (_which, terms, settled) => {
		const bench = new Bench(terms);
		bench.settle = () => settled;
		bench.send();
		bench.scope.end(completed(200));
		expect([bench.settled.length, bench.warned]).toEqual([1, []]);
	});

	it('waits for counters elsewhere, warns then, and logs settlements that fail', async () => {
		const later = new Bench();
		later.settle = () => Promise.resolve({ isDuplicate: false, isLate: false, budgets: [] });
		const lost = new Bench();
		lost.settle = () => Promise.reject(new Error('away'));
		for (const bench of [later, lost]) {
			bench.send();
			bench.scope.end(completed(200));
			expect([bench.work.settlements.count, bench.warned]).toEqual([1, []]);
			await bench.work.settlements.settled();
		}
		expect([later.warned, later.log.lines]).toEqual([[105n], []]);
		expect(lost.log.lines).toMatchObject([
			{ level: 'error', event: 'the cost of a request could not be settled', fields: { requestId: 'req-1', team: 'team-1' } },
		]);
	});
});

describe('the charge of a stream', () => {
	it.each([
		['reported usage as it is', false, metered(3, { isEstimated: false, hidesReasoning: true }), 3],
		['estimated usage as it was seen', false, metered(3), 3],
		['at least the reservation where thoughts may be hidden', true, metered(3), 10],
		['at least the reservation where the response hides thoughts', false, metered(3, { hidesReasoning: true }), 10],
		['what was seen where the response shows its thoughts', true, metered(3, { hidesReasoning: false }), 3],
		['what was seen where that is more than the reservation', true, metered(30), 30],
		['at most what can be written', false, metered(300), 100],
	] as const)('%s', (_rule, canHideReasoning, seen, expected) => {
		const { permit } = new Bench({ canHideReasoning });
		expect(permit.charged(seen).usage.outputTokens).toBe(expected);
	});

	it('has no more reasoning than output', () => {
		const { permit } = new Bench();
		const usage = { ...noUsage, outputTokens: 300, reasoningTokens: 200 };
		expect(permit.charged({ usage, isEstimated: true })).toEqual({
			usage: { ...usage, outputTokens: 100, reasoningTokens: 100 },
			isEstimated: true,
		});
	});

	it.each([
		[0, 10],
		[10, 10],
		[100, 50],
		[101, 51],
		[4000, 2000],
		[20_000, 5000],
	])('whose client disconnected early after %i ms: the maximum reasoning until then, of a choice 500 tokens a second', (ms, expected) => {
		const bench = new Bench({ canHideReasoning: true, maxOutputTokens: 5000, allowedOutputTokens: 5000 });
		bench.send();
		bench.clock.advance(ms);
		bench.permit.meterStream(metered(3));
		bench.scope.end(failed(new Rejection('client_closed')));
		expect(bench.closed).toMatchObject([{ outcome: 'client_closed', status: 200, ...charge(5, expected, true) }]);
		expect(bench.permit.settled?.usage.outputTokens).toBe(expected);
	});

	it('of two choices is twice as much', () => {
		const { permit, ...bench } = new Bench({ canHideReasoning: true, choices: 2 });
		void permit.open();
		permit.markSent();
		bench.clock.advance(40);
		expect([permit.charged(metered(3), true), permit.charged(metered(3))].map(({ usage }) => usage.outputTokens)).toEqual([40, 10]);
	});
});

describe('the reservation of a stream', () => {
	it('grows to twice the visible output when the stream exceeds it, at most to the output limit', async () => {
		const bench = new Bench();
		for (const tokens of [9, 10]) await bench.deliver(tokens);
		expect(bench.extended).toEqual([]);
		for (const tokens of [11, 22, 23, 46, 60, 100, 200]) await bench.deliver(tokens);
		expect(bench.extended).toEqual([5n + 220n, 5n + 460n, 5n + 1000n]);
	});

	it('does not grow without a budget, nor twice at a time', async () => {
		const free = new Bench({ reservations: [] });
		await free.deliver(50);
		const slow = new Bench();
		let respond: ((isReserved: boolean) => void) | undefined;
		slow.extend = () => new Promise((resolve) => (respond = resolve));
		await slow.deliver(11);
		await slow.deliver(40);
		respond?.(true);
		await slow.deliver(41);
		expect([free.extended, slow.extended]).toEqual([[], [225n]]);
		await slow.deliver(42);
		expect(slow.extended).toEqual([225n, 845n]);
	});

	it.each([
		['extend', []],
		['stop', ['budget_exceeded']],
	] as const)('for which the budget has no more, under %s', async (onStreamOver, aborts) => {
		const bench = new Bench({}, onStreamOver);
		bench.extend = () => Promise.resolve(false);
		await bench.deliver(11);
		await bench.deliver(22);
		expect([bench.aborts, bench.extended]).toEqual([aborts, [225n]]);
	});

	it('that cannot grow is tried again once the requested amount is visible', async () => {
		const bench = new Bench({}, 'stop');
		bench.extend = () => Promise.reject(new Error('away'));
		for (const tokens of [11, 22, 23]) await bench.deliver(tokens);
		expect([bench.aborts, bench.extended]).toEqual([[], [225n, 465n]]);
		expect(bench.log.lines).toMatchObject([
			{ level: 'debug', event: 'a reservation could not be raised', fields: { requestId: 'req-1' } },
			{ level: 'debug' },
		]);
	});

	it('is renewed after each third of its time, until the end', () => {
		const bench = new Bench();
		const renewals = [0, 9999, 1, 0, 9999, 1].map((ms) => {
			bench.clock.advance(ms);
			bench.permit.renew();
			return bench.renewed.length;
		});
		expect([renewals, bench.renewed]).toEqual([
			[0, 0, 1, 1, 1, 2],
			[30_000, 30_000],
		]);
		bench.scope.end(completed(200));
		bench.clock.advance(30_000);
		bench.permit.renew();
		expect(bench.renewed).toHaveLength(2);
	});

	it('that cannot be renewed is logged, and the stream continues', async () => {
		const bench = new Bench();
		bench.grow = () => Promise.reject(new Error('away'));
		bench.clock.advance(10_000);
		bench.permit.renew();
		await new Promise((resolve) => setImmediate(resolve));
		expect(bench.log.lines).toMatchObject([
			{ level: 'debug', event: 'a reservation could not be renewed', fields: { requestId: 'req-1' } },
		]);
		expect(bench.aborts).toEqual([]);
	});

	it('is renewed by its growth, if the budget can stop the stream', async () => {
		const bench = new Bench({ stopsAtNanoUsd: 105n });
		const { permit } = bench;
		bench.grow = () => Promise.resolve(10_000n);
		bench.send();
		const meter = permit.createMeter();
		meter.pushOpaque(Buffer.alloc(400));
		permit.delivered(meter);
		await new Promise((resolve) => setImmediate(resolve));
		expect([permit.isStoppable, bench.renewed, bench.extended, bench.aborts]).toEqual([true, [30_000], [], []]);
		bench.scope.end(completed(200));
		meter.pushOpaque(Buffer.alloc(4000));
		permit.delivered(meter);
		expect(bench.renewed, 'after the end').toHaveLength(1);
	});

	it('stops the stream if the budget has no more, and is the whole charge', async () => {
		const { permit, ...bench } = new Bench({ stopsAtNanoUsd: 105n }, 'stop');
		void permit.open();
		permit.markSent();
		const meter = permit.createMeter();
		for (let part = 0; part < 5; part++) {
			meter.pushOpaque(Buffer.alloc(4));
			permit.delivered(meter);
			await new Promise((resolve) => setImmediate(resolve));
		}
		expect(bench.aborts).toEqual(['budget_exceeded']);
		permit.meterStream(meter.read());
		bench.scope.end(failed(new Rejection('budget_exceeded')));
		expect(meter.deliveredTokens()).toBeLessThan(10);
		expect(bench.closed).toMatchObject([{ outcome: 'broken', ...charge(5, 10, true) }]);
	});

	it('of a stream that a budget can stop follows closely counted text, others the maximum', () => {
		const { permit, typical } = new Bench({ stopsAtNanoUsd: 105n });
		typical.tokensPerCounted = 2;
		const [close, rough] = [permit.createMeter(), new Bench().permit.createMeter()];
		for (const meter of [close, rough]) meter.pushOpaque(Buffer.alloc(30));
		expect([close.read().countedTokens, rough.read().countedTokens]).toEqual([rough.deliveredTokens(), undefined]);
		expect(close.deliveredTokens()).toBe(2 * rough.deliveredTokens());
	});

	it('is stopped by a budget only if that is configured', () => {
		expect(new Bench().permit.isStoppable).toBe(false);
	});
});

describe('a transfer to another target', () => {
	it('records the possible cost of this one as a separate entry', async () => {
		const bench = new Bench({ earlierTargets: 1 });
		bench.send();
		await bench.permit.transferReservation();
		expect(bench.opened).toEqual(['req-1', 'req-1.2']);
		expect(bench.closed).toMatchObject([{ id: 'req-1.2', outcome: 'broken', status: 0, ...charge(5, 10, true) }]);
		expect(bench.settled).toMatchObject([{ id: 'req-1.2', costNanoUsd: 105n }]);
		bench.scope.end(completed(200));
		expect([bench.closed.length, bench.work.openReservations]).toEqual([1, 0]);
	});

	it('records nothing if this one costs nothing', async () => {
		const bench = new Bench();
		bench.send();
		bench.permit.markRejected();
		await bench.permit.transferReservation();
		bench.scope.end(completed(200));
		expect([bench.opened, bench.closed, bench.settled, bench.work.openReservations]).toEqual([['req-1'], [], [], 0]);
	});

	it('records nothing for a request that ended meanwhile', async () => {
		const bench = new Bench();
		bench.send();
		const givingWay = bench.permit.transferReservation();
		bench.scope.end(failed(new Rejection('client_closed')));
		await givingWay;
		expect(bench.closed).toMatchObject([{ id: 'req-1', outcome: 'client_closed' }]);
	});
});
