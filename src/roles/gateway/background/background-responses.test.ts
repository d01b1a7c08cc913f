/** `background: true` under `responses.state: owner`: followed to its end, and booked once. */
import { describe, expect, test } from 'vitest';
import {
	errorOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	type ScriptedResponse,
	sentText,
	settle,
	sseResponse,
	summaryOf,
	testSettings,
	textOf,
} from '../../../../test/support/gateway-bench.ts';
import type { HttpRequest, HttpResponse } from '../../../core/handler.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../../core/upstream.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { LedgerEntry } from '../../../stores/contracts/ledger.ts';
import type { GatewayPorts, GatewaySettings } from '../gateway-settings.ts';
import { GatewayWork } from '../gateway-work.ts';

const path = '/v1/responses';
const dayMs = 86_400_000;
const budget = { budget: 'all', period: '2026-01' };

const queued = { id: 'resp_1', object: 'response', status: 'queued', background: true, model: 'gpt-5', output: [], usage: null };
const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] };
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } };
const usage = { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 };
/** At 1.25 and 10 USD per million tokens. */
const costNanoUsd = 6_250_000n;
const completed = { ...queued, status: 'completed', output: [message], usage };

type State = ScriptedResponse | Readonly<Record<string, unknown>> | number | Error;

/** Gateway whose provider has one response, and whose team has a monthly budget. */
class BackgroundBench {
	readonly work = new GatewayWork();
	readonly bench: GatewayBench;
	/** State of the response at the provider: its object, a status, or why there is no response. */
	state: State = queued;

	constructor(settings: Partial<GatewaySettings> = {}, ports: Partial<GatewayPorts> = {}) {
		this.bench = new GatewayBench(
			{
				responses: { state: 'owner', retentionMs: 30 * dayMs },
				...settings,
				tiers: { ...testSettings.tiers, standard: { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: '100.00' } },
			},
			{ work: this.work, ...ports },
		);
		this.bench.respond = async (request) => {
			request.onSent?.();
			if (request.method === 'POST' && request.target === path) return jsonResponse(200, JSON.stringify(queued));
			return respondWith(this.state, request);
		};
	}

	/** Methods and paths of the requests after the first one. */
	get polls(): string[] {
		return this.bench.sent.slice(1).map(({ method, target }) => `${method} ${target}`);
	}

	create(members: object = {}, more: Partial<HttpRequest> = {}): Promise<HttpResponse> {
		return this.bench.ask(path, JSON.stringify({ model: 'gpt-5', input: 'Hi', background: true, ...members }), {}, more);
	}

	ask(method: string, below = 'resp_1'): Promise<HttpResponse> {
		return this.bench.ask(`${path}/${below}`, '', {}, { method, id: `req-${method}` });
	}

	async pass(ms: number): Promise<void> {
		this.bench.clock.advance(ms);
		await settle();
	}

	async entries(): Promise<readonly LedgerEntry[]> {
		await this.bench.gateway.settled();
		return (await this.bench.ledger.list({ limit: 9 })).rows;
	}

	async booked(): Promise<LedgerEntry['closed']> {
		const rows = await this.entries();
		expect(rows).toHaveLength(1);
		return rows[0]?.closed;
	}

	/** Spent and reserved amounts of the budget. */
	async counters(): Promise<readonly [bigint | undefined, boolean]> {
		const { budgets } = await this.bench.admission.read('team-1', [budget]);
		return [budgets[0]?.settledNanoUsd, (budgets[0]?.reservedNanoUsd ?? 0n) > 0n];
	}

	/** Names of what remains of all requests. */
	remaining(): object {
		const { work, bench } = this;
		const counts = {
			followed: work.background.count,
			inFlight: work.inFlightRequests.count,
			bodyBytes: work.bodyMemory.reservedBytes,
			openReservations: work.openReservations,
			settlements: work.settlements.count,
			slots: bench.traffic.of('provider_b').concurrency.inFlight,
			timers: bench.clock.pending,
		};
		return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
	}
}

function respondWith(state: State, request: UpstreamRequest): UpstreamResponse | Promise<UpstreamResponse> {
	if (typeof state === 'function') return state(request);
	if (state instanceof Error) return Promise.reject(state);
	return typeof state === 'number' ? jsonResponse(state, '{"error":{"message":"no"}}') : jsonResponse(200, JSON.stringify(state));
}

describe('a background response', () => {
	test('reaches the client unchanged and at once, and holds nothing but its reservation', async () => {
		const rig = new BackgroundBench();
		const response = await rig.create();
		expect([response.status, textOf(response)]).toEqual([200, JSON.stringify(queued)]);
		const [sent] = rig.bench.sent;
		expect(sent && sentText(sent)).toBe('{"model":"gpt-5","input":"Hi","background":true}');
		expect(response.record).toMatchObject({ costNanoUsd: undefined, outputTokens: undefined });
		expect(await rig.booked()).toBeUndefined();
		expect(await rig.counters()).toEqual([0n, true]);
		expect(rig.remaining()).toEqual({ followed: 1, openReservations: 1, timers: 3 });
	});

	test('is booked once with its real usage when the provider reports its end', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		await rig.pass(2000);
		rig.state = { ...queued, status: 'in_progress' };
		await rig.pass(3000);
		expect(await rig.booked()).toBeUndefined();
		rig.state = completed;
		await rig.pass(4500);
		const closed = await rig.booked();
		expect(closed).toMatchObject({ outcome: 'complete', status: 200, costNanoUsd, isEstimated: false, usage: { outputTokens: 500 } });
		expect(await rig.counters()).toEqual([costNanoUsd, false]);
		expect(rig.remaining()).toEqual({});
		expect(rig.polls).toEqual(Array.from({ length: 3 }, () => 'GET /v1/responses/resp_1'));
		await rig.pass(60_000);
		await rig.ask('GET');
		expect(await rig.entries()).toHaveLength(1);
		expect(await rig.counters()).toEqual([costNanoUsd, false]);
		const lines = rig.bench.log.lines.filter(({ event }) => event === 'background response settled');
		expect(lines).toMatchObject([{ fields: { requestId: 'req-1', team: 'team-1', costUsd: '0.00625', durationMs: 9500 } }]);
	});

	test('is read after two seconds, then less often, and at least every ten seconds', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		const times: number[] = [];
		for (let second = 1; second <= 50; second++) {
			const before = rig.polls.length;
			await rig.pass(1000);
			if (rig.polls.length > before) times.push(second);
		}
		expect(times).toEqual([2, 5, 10, 17, 27, 37, 47]);
	});

	test('is charged for calls of hosted tools', async () => {
		const costOf = async (output: readonly object[]): Promise<bigint> => {
			const rig = new BackgroundBench({ budgets: { ...testSettings.budgets, toolsUsd: { web_search: '0.01' } } });
			await rig.create({ tools: [{ type: 'web_search' }] });
			rig.state = { ...completed, output };
			await rig.pass(2000);
			return (await rig.booked())?.costNanoUsd ?? 0n;
		};
		expect((await costOf([search, search, message])) - (await costOf([message]))).toBe(20_000_000n);
	});

	test.each([
		['incomplete', usage, 'complete', false],
		['failed', usage, 'upstream_error', false],
		['cancelled', usage, 'client_closed', false],
		['failed', null, 'upstream_error', true],
		['cancelled', null, 'client_closed', true],
	] as const)('that ends as %s with usage %j is booked as %s', async (status, reported, outcome, isEstimated) => {
		const rig = new BackgroundBench();
		await rig.create();
		rig.state = { ...completed, status, usage: reported };
		await rig.pass(2000);
		const closed = await rig.booked();
		expect(closed).toMatchObject({ outcome, isEstimated });
		// Reasoning can be hidden, so the reservation is charged.
		expect(closed?.usage.outputTokens).toBe(isEstimated ? 1024 : 500);
		expect(rig.remaining()).toEqual({});
	});

	test.each([
		['that is complete at once', completed, 'complete', costNanoUsd],
		['that the provider rejects', 400, 'upstream_error', 0n],
		['that the provider fails', 500, 'upstream_error', 0n],
	] as const)('%s settles as in the foreground', async (_name, state, outcome, cost) => {
		const rig = new BackgroundBench();
		rig.bench.respond = (request) => {
			request.onSent?.();
			return respondWith(state, request);
		};
		await rig.create();
		expect(await rig.booked()).toMatchObject({ outcome, costNanoUsd: cost });
		expect(rig.remaining()).toEqual({});
	});

	test('is followed through failures of the provider', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		const broken = (): UpstreamResponse => {
			const body = new HandStream();
			setImmediate(() => body.sink?.fail(new UpstreamError('provider_disconnected')));
			return { status: 200, headers: { 'content-type': 'application/json' }, body };
		};
		const page = (): UpstreamResponse => jsonResponse(200, '<html>', { 'content-type': 'text/html' });
		const states: readonly State[] = [new UpstreamError('provider_unreachable'), 500, 429, 401, broken, page, () => jsonResponse(200, '[')];
		for (const state of states) {
			rig.state = state;
			await rig.pass(10_000);
			await settle();
			expect(await rig.booked()).toBeUndefined();
		}
		expect(rig.bench.traffic.of('provider_b').health.isEjected).toBe(false);
		rig.state = completed;
		await rig.pass(10_000);
		expect(await rig.booked()).toMatchObject({ outcome: 'complete', costNanoUsd });
	});

	test.each([404, 410])('that the provider does not have any more (%i) is charged its reservation', async (status) => {
		const rig = new BackgroundBench();
		await rig.create();
		rig.state = status;
		await rig.pass(2000);
		const closed = await rig.booked();
		expect(closed).toMatchObject({ outcome: 'broken', isEstimated: true, usage: { outputTokens: 1024 } });
		expect(closed?.costNanoUsd).toBe((await rig.entries())[0]?.reservedNanoUsd);
		expect(rig.remaining()).toEqual({});
	});

	test('that does not end within two hours is charged its reservation, which never expires before', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		for (let minute = 1; minute < 120; minute++) {
			await rig.pass(60_000);
			expect(await rig.counters()).toEqual([0n, true]);
		}
		expect(await rig.booked()).toBeUndefined();
		await rig.pass(60_000);
		expect(await rig.booked()).toMatchObject({ outcome: 'broken', isEstimated: true });
		expect((await rig.counters())[1]).toBe(false);
		expect(rig.remaining()).toEqual({});
	});

	test('whose poll hangs ends at the shutdown, and is charged its reservation', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		rig.state = () => new Promise(() => undefined);
		await rig.pass(2000);
		rig.bench.gateway.endInFlightRequests();
		await settle();
		expect(await rig.booked()).toMatchObject({ outcome: 'broken', isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});

	test('ends at the shutdown between two polls', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		const idle = rig.work.background.idle();
		rig.bench.gateway.endInFlightRequests();
		await idle;
		expect(await rig.booked()).toMatchObject({ outcome: 'broken', isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});

	test('with an id that cannot be part of a path is charged its reservation at once', async () => {
		const rig = new BackgroundBench();
		rig.bench.respond = () => jsonResponse(200, JSON.stringify({ ...queued, id: 'x/../y' }));
		await rig.create();
		expect(await rig.booked()).toMatchObject({ isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});
});

describe('a client', () => {
	test('that cancels ends the follower at once', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		rig.state = { ...queued, status: 'cancelled', usage };
		expect((await rig.ask('POST', 'resp_1/cancel')).status).toBe(200);
		await settle();
		expect(await rig.booked()).toMatchObject({ outcome: 'client_closed', costNanoUsd, isEstimated: false });
		expect(rig.remaining()).toEqual({});
	});

	test('that deletes a response right after its end pays its real usage', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		rig.state = ({ method }) => jsonResponse(200, JSON.stringify(method === 'DELETE' ? { id: 'resp_1', deleted: true } : completed));
		expect((await rig.ask('DELETE')).status).toBe(200);
		expect(rig.polls).toEqual(['GET /v1/responses/resp_1', 'DELETE /v1/responses/resp_1']);
		expect(await rig.booked()).toMatchObject({ outcome: 'complete', costNanoUsd });
	});

	test('that deletes a running response ends the follower, and pays the reservation', async () => {
		const rig = new BackgroundBench();
		await rig.create();
		let isDeleted = false;
		rig.state = ({ method }) => {
			if (method === 'DELETE') isDeleted = true;
			else if (isDeleted) return jsonResponse(404, '{}');
			return jsonResponse(200, JSON.stringify(queued));
		};
		expect((await rig.ask('DELETE')).status).toBe(200);
		await settle();
		expect(await rig.booked()).toMatchObject({ outcome: 'broken', isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});

	test('that disconnects before the response was created pays the reservation', async () => {
		const rig = new BackgroundBench();
		let disconnect = (): void => undefined;
		rig.bench.respond = (request) => {
			request.onSent?.();
			return new Promise(() => undefined);
		};
		const pending = rig.create({}, { onClientDisconnect: (listener) => (disconnect = listener) });
		await settle();
		disconnect();
		await pending;
		expect(await rig.booked()).toMatchObject({ outcome: 'client_closed', isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});
});

describe('the limit of a process', () => {
	test('rejects further responses until one ends, and not those in the foreground', async () => {
		const rig = new BackgroundBench({ responses: { state: 'owner', retentionMs: dayMs, maxBackground: 1 } });
		expect((await rig.create()).status).toBe(200);
		const rejected = await rig.create({}, { id: 'req-2' });
		expect([rejected.status, rejected.headers['retry-after']]).toEqual([429, '10']);
		expect(errorOf(rejected).error).toMatchObject({
			code: 'rate_limit_exceeded',
			gateway_code: 'background_limit_exceeded',
			param: 'background',
		});
		expect(rig.bench.sent).toHaveLength(1);
		expect((await rig.create({ background: false }, { id: 'req-3' })).status).toBe(200);
		rig.state = completed;
		await rig.pass(2000);
		expect((await rig.create({}, { id: 'req-4' })).status).toBe(200);
	});

	test('counts no request that failed', async () => {
		const rig = new BackgroundBench({ responses: { state: 'owner', retentionMs: dayMs, maxBackground: 1 } });
		rig.bench.respond = () => jsonResponse(500, '{}');
		await rig.create();
		expect((await rig.create({}, { id: 'req-2' })).status).toBe(502);
	});
});

describe('a stream of a background response', () => {
	const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
	const created = event('response.created', { response: queued });
	const delta = event('response.output_text.delta', { delta: 'word '.repeat(100) });

	async function open(settings: Partial<GatewaySettings> = {}) {
		const rig = new BackgroundBench(settings);
		const upstream = new HandStream();
		const { respond } = rig.bench;
		rig.bench.respond = (request) => {
			if (request.target !== path) return respond(request);
			request.onSent?.();
			return sseResponse(upstream);
		};
		const { reader, flow } = readStream(await rig.create({ stream: true }));
		return { rig, upstream, reader, flow };
	}

	test('that ends is metered, and not followed', async () => {
		const { rig, upstream, reader } = await open();
		upstream.write(created);
		upstream.write(event('response.completed', { response: completed }));
		upstream.sink?.end();
		await settle();
		expect(reader.ending).toBe('ended');
		expect(await rig.booked()).toMatchObject({ outcome: 'complete', costNanoUsd, isEstimated: false });
		expect([rig.polls, rig.remaining()]).toEqual([[], {}]);
	});

	test('is followed when the client disconnects, and booked once with its real usage', async () => {
		const { rig, upstream, flow } = await open();
		upstream.write(created);
		upstream.write(delta);
		flow.cancel();
		await settle();
		expect(upstream.isCancelled).toBe(true);
		expect(await rig.booked()).toBeUndefined();
		expect(rig.remaining()).toEqual({ followed: 1, openReservations: 1, timers: 3 });
		rig.state = completed;
		await rig.pass(2000);
		expect(await rig.booked()).toMatchObject({ outcome: 'complete', costNanoUsd, isEstimated: false });
		expect(rig.remaining()).toEqual({});
	});

	test('is followed when the provider disconnects', async () => {
		const { rig, upstream, reader } = await open();
		upstream.write(created);
		upstream.sink?.fail(new UpstreamError('provider_disconnected'));
		await settle();
		expect(reader.text).toContain('provider_disconnected');
		rig.state = completed;
		await rig.pass(2000);
		expect(await rig.booked()).toMatchObject({ outcome: 'complete', costNanoUsd });
	});

	test('without an id is charged like a stream in the foreground', async () => {
		const { rig, upstream, flow } = await open();
		upstream.write(delta);
		flow.cancel();
		await settle();
		expect(await rig.booked()).toMatchObject({ outcome: 'client_closed', isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});

	test('ends at the shutdown, and is charged its reservation', async () => {
		const { rig, upstream } = await open();
		upstream.write(created);
		rig.bench.gateway.endInFlightRequests();
		await settle();
		expect(await rig.booked()).toMatchObject({ outcome: 'broken', isEstimated: true });
		expect(rig.remaining()).toEqual({});
	});

	test('is not stopped by a budget, because the provider would continue', async () => {
		const { rig, upstream, reader } = await open({
			budgets: { ...testSettings.budgets, onStreamOver: 'stop' },
			tiers: { ...testSettings.tiers },
		});
		rig.bench.admission.extend = async () => false;
		rig.bench.admission.grow = async () => 0n;
		upstream.write(created);
		for (let count = 0; count < 100; count++) upstream.write(delta);
		await settle();
		expect(reader.ending).toBe('open');
		upstream.write(event('response.completed', { response: completed }));
		upstream.sink?.end();
		await settle();
		expect(await rig.booked()).toMatchObject({ outcome: 'complete', costNanoUsd });
	});
});

describe('background is rejected', () => {
	test('without state', async () => {
		const rig = new BackgroundBench({ responses: { state: 'off', retentionMs: dayMs } });
		const response = await rig.create();
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'background']);
	});

	test('with `store: false`, because its usage could not be read', async () => {
		const rig = new BackgroundBench();
		const response = await rig.create({ store: false });
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'background']);
		expect(rig.bench.sent).toEqual([]);
	});

	test.each(['claude-opus-5', 'provider_b/translated'])('for %s, whose requests are translated', async (model) => {
		const providers = testSettings.providers.map((one) => ({ ...one, modelCapabilities: { translated: { dialect: 'chat' as const } } }));
		const rig = new BackgroundBench({ providers });
		const response = await rig.create({ model });
		expect([summaryOf(response), errorOf(response).error.param]).toEqual(['400 field_invalid', 'background']);
		expect([rig.bench.sent, rig.remaining()]).toEqual([[], {}]);
	});
});
