/** Effects of requests to one provider on each other: retries, health and slots. */
import { describe, expect, it } from 'vitest';
import {
	ask,
	benchWith,
	chatResponse,
	claude,
	costAtGpt5,
	gpt,
	hostOf,
	messageResponse,
	neverSent,
	rowsOf,
	sentThenLost,
	texts,
	untilWaiting,
} from '../../../test/support/failover-rig.ts';
import {
	chatBody,
	chatPath,
	type GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	settle,
	sseResponse,
	summaryOf,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import type { HttpResponse } from '../../core/handler.ts';
import { UpstreamError } from '../../core/upstream-error.ts';

describe('retries', () => {
	it('a rejected connection is tried once more, after a wait, and billed once', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { retries: 1 }, monthlyBudgetUsd: '1.00' });
		bench.respond = () => (bench.sent.length === 1 ? neverSent() : jsonResponse(200, chatResponse));
		const response = ask(bench);
		await settle();
		expect(bench.sent).toHaveLength(1);
		bench.clock.advance(75);
		expect((await response).status).toBe(200);
		expect(bench.sent[1]?.timeouts.totalMs).toBe(testSettings.timeouts.totalMs - 75);
		expect((await rowsOf(bench)).map(texts)).toEqual([`req provider_b gpt-5 complete ${costAtGpt5}`]);
		expect(bench.traffic.of('provider_b').retries).toBe(1);
	});

	it('a request that was sent and lost is not sent again', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { retries: 3 } });
		bench.respond = (request) => sentThenLost(request, 'provider_unreachable');
		expect((await ask(bench)).status).toBe(502);
		expect(bench.sent).toHaveLength(1);
	});

	it.each([429, 503])('a response with a retried status (%i) waits as long as it requests', async (status) => {
		const bench = benchWith({ targets: [gpt], traffic: { retries: 1, retryStatuses: [429, 503] } });
		bench.respond = () =>
			bench.sent.length === 1
				? jsonResponse(status, '{"error":{"code":"rate_limit_exceeded"}}', { 'retry-after': '1' })
				: jsonResponse(200, chatResponse);
		const response = ask(bench);
		await untilWaiting(bench);
		bench.clock.advance(999);
		await settle();
		expect(bench.sent).toHaveLength(1);
		bench.clock.advance(1);
		expect((await response).status).toBe(200);
		expect(bench.sent).toHaveLength(2);
	});

	it.each([429, 503])('a response with status %i is the client’s unless settings name it, with its wait', async (status) => {
		const bench = benchWith({ targets: [gpt], traffic: { retries: 1, retryStatuses: [] } });
		bench.respond = () => jsonResponse(status, '{"error":{"code":"x"}}', { 'retry-after': '1' });
		const response = await ask(bench);
		expect([response.status, response.headers['retry-after'], bench.sent.length]).toEqual([status === 429 ? 429 : 502, '1', 1]);
	});

	it('a response about exhausted credit is never retried', async () => {
		const broke = benchWith({ targets: [gpt], traffic: { retries: 1, retryStatuses: [429] } });
		broke.respond = () => jsonResponse(429, '{"error":{"code":"insufficient_quota"}}');
		expect((await ask(broke)).headers['x-should-retry']).toBe('false');
		expect(broke.sent).toHaveLength(1);
	});

	it('a client that disconnects before a retry ends the request, and nothing is charged', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { retries: 1 }, monthlyBudgetUsd: '1.00' });
		bench.respond = neverSent;
		let leave: (() => void) | undefined;
		const response = bench.ask(chatPath, chatBody, {}, { id: 'req-left', onClientDisconnect: (listener) => (leave = listener) });
		await settle();
		leave?.();
		expect((await response).status).toBe(499);
		expect([bench.sent.length, bench.clock.pending, bench.gateway.inFlightRequests()]).toEqual([1, 0, 0]);
		expect((await rowsOf(bench)).map(texts)).toEqual(['req-left provider_b gpt-5 not_sent 0']);
	});

	it('stop at a fifth of the requests', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { retries: 5, retryStatuses: [503] } });
		bench.respond = () => jsonResponse(503, '{}', { 'retry-after-ms': '0' });
		for (let inferenceRequest = 0; inferenceRequest < 30; inferenceRequest++) {
			const response = ask(bench);
			let isOver = false;
			void response.then(() => (isOver = true));
			while (!isOver) {
				await settle();
				bench.clock.advance(100);
			}
		}
		expect(bench.sent.length).toBeLessThanOrEqual(30 + 10 + 6);
		expect(bench.sent.length).toBeGreaterThan(40);
	});
});

describe('a provider that fails', () => {
	it('is skipped while there is another target, probed by one request, and used again once it responds', async () => {
		const bench = benchWith({ traffic: { ejectAfterFailures: 2 } });
		let isUnavailable = true;
		bench.respond = (request) =>
			hostOf(request) === 'a'
				? jsonResponse(200, messageResponse)
				: isUnavailable
					? jsonResponse(500, '{}')
					: jsonResponse(200, chatResponse);
		const hostsOf = async (requests: number): Promise<string> => {
			bench.sent.length = 0;
			for (let inferenceRequest = 0; inferenceRequest < requests; inferenceRequest++) expect((await ask(bench)).status).toBe(200);
			return bench.sent.map(hostOf).join('');
		};
		expect(await hostsOf(2)).toBe('baba');
		expect(bench.traffic.of('provider_b').health.report()).toMatchObject({ state: 'unhealthy', detail: 'returned 500' });
		expect(await hostsOf(3)).toBe('aaa');
		bench.clock.advance(5000);
		expect(await hostsOf(2)).toBe('baa');
		isUnavailable = false;
		bench.clock.advance(10_000);
		expect(await hostsOf(3)).toBe('bbb');
		expect(bench.traffic.of('provider_b').health.report().state).toBe('healthy');
	});

	it('is probed in time although the wall clock is set back meanwhile, which only reports show', async () => {
		const bench = benchWith({ traffic: { ejectAfterFailures: 1 } });
		bench.respond = (request) => (hostOf(request) === 'b' ? jsonResponse(500, '{}') : jsonResponse(200, messageResponse));
		const ejectedMs = bench.clock.nowMs();
		await ask(bench);
		expect(bench.traffic.of('provider_b').health.report()).toMatchObject({ state: 'unhealthy', sinceMs: ejectedMs });
		bench.clock.jumpWallTo(ejectedMs - 3_600_000);
		bench.clock.advance(5000);
		bench.respond = () => jsonResponse(200, chatResponse);
		expect((await ask(bench)).headers['x-gateway-provider']).toBe('provider_b');
		expect(bench.traffic.of('provider_b').health.report()).toMatchObject({ state: 'healthy', sinceMs: bench.clock.nowMs() });
	});

	it('is still used if its fallback cannot take the request', async () => {
		const bench = benchWith({ traffic: { ejectAfterFailures: 1 } });
		bench.respond = (request) => (hostOf(request) === 'b' ? jsonResponse(500, '{}') : jsonResponse(200, messageResponse));
		expect((await ask(bench)).status).toBe(200);
		bench.respond = () => jsonResponse(200, chatResponse);
		const response = await ask(bench, {}, JSON.stringify({ ...JSON.parse(chatBody), n: 3 }));
		expect([response.status, response.headers['x-gateway-provider']]).toEqual([200, 'provider_b']);
		expect(bench.sent.map(hostOf).join('')).toBe('bab');
	});

	it('is still used if there is no other target, and if all others fail', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { ejectAfterFailures: 1 } });
		bench.respond = () => jsonResponse(500, '{}');
		for (let inferenceRequest = 0; inferenceRequest < 3; inferenceRequest++) await ask(bench);
		expect(bench.sent).toHaveLength(3);
		bench.respond = () => jsonResponse(200, chatResponse);
		expect((await ask(bench)).status).toBe(200);
		expect(bench.traffic.of('provider_b').health.isEjected).toBe(false);
		const both = benchWith({ traffic: { ejectAfterFailures: 1 } });
		both.respond = () => jsonResponse(500, '{}');
		await ask(both);
		await ask(both);
		expect(both.sent.map(hostOf).join('')).toBe('baba');
	});
});

describe('slots of a provider', () => {
	function withPositions(maxConcurrent: number, maxQueued: number, targets = [gpt]) {
		const bench = benchWith({ targets, traffic: { maxConcurrent, maxQueued } });
		const responses: ((status: number) => void)[] = [];
		bench.respond = (request) =>
			hostOf(request) === 'a'
				? jsonResponse(200, messageResponse)
				: new Promise((resolve) => responses.push((status) => resolve(jsonResponse(status, chatResponse))));
		return { bench, responses };
	}

	it('are limited; the next request waits, in order, and one too many is rejected immediately', async () => {
		const { bench, responses } = withPositions(2, 1);
		const requests = [ask(bench), ask(bench), ask(bench)];
		await settle();
		expect([bench.sent.length, bench.traffic.of('provider_b').concurrency.queued]).toEqual([2, 1]);
		const rejected = await ask(bench);
		expect([summaryOf(rejected), rejected.headers['retry-after']]).toEqual(['503 provider_busy', '1']);
		responses[0]?.(200);
		await settle();
		expect(bench.sent).toHaveLength(3);
		responses[1]?.(200);
		responses[2]?.(200);
		expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 200]);
		expect([bench.traffic.of('provider_b').concurrency.inFlight, bench.clock.pending]).toEqual([0, 0]);
		expect((await rowsOf(bench)).filter(({ closed }) => closed?.outcome === 'not_sent')).toHaveLength(1);
	});

	it('are awaited as long as a first byte, and the wait is part of the time for the response', async () => {
		const { bench, responses } = withPositions(1, 5);
		const requests = [ask(bench), ask(bench), ask(bench)];
		await settle();
		bench.clock.advance(1500);
		responses[0]?.(200);
		await settle();
		expect(bench.sent[1]?.timeouts.totalMs).toBe(testSettings.timeouts.totalMs - 1500);
		bench.clock.advance(500);
		expect(summaryOf((await requests[2]) as HttpResponse)).toBe('504 provider_first_byte_timeout');
		responses[1]?.(200);
		await Promise.all(requests);
		expect(bench.traffic.of('provider_b').concurrency.inFlight).toBe(0);
	});

	it('are occupied by a stream until it ends, however it does', async () => {
		const bench = benchWith({ targets: [gpt], traffic: { maxConcurrent: 1, maxQueued: 9 } });
		const streaming = JSON.stringify({ ...JSON.parse(chatBody), stream: true });
		const { concurrency } = bench.traffic.of('provider_b');
		for (const end of [
			(body: HandStream) => body.sink?.fail(new UpstreamError('provider_idle_timeout')),
			(body: HandStream) => {
				body.write('data: [DONE]\n\n');
				body.sink?.end();
			},
		]) {
			const body = new HandStream();
			bench.respond = () => sseResponse(body);
			readStream(await ask(bench, {}, streaming));
			expect(concurrency.inFlight).toBe(1);
			end(body);
			expect(concurrency.inFlight).toBe(0);
		}
		const body = new HandStream();
		bench.respond = () => sseResponse(body);
		const { flow } = readStream(await ask(bench, {}, streaming));
		flow.cancel();
		expect([concurrency.inFlight, bench.gateway.inFlightRequests()]).toEqual([0, 0]);
	});

	it('are released by a client that disconnects before its stream is read', async () => {
		const bench = benchWith({ targets: [gpt] });
		const body = new HandStream();
		bench.respond = () => sseResponse(body);
		let leave: (() => void) | undefined;
		const streaming = JSON.stringify({ ...JSON.parse(chatBody), stream: true });
		await bench.ask(chatPath, streaming, {}, { id: 'req-away', onClientDisconnect: (listener) => (leave = listener) });
		expect(bench.traffic.of('provider_b').concurrency.inFlight).toBe(1);
		leave?.();
		expect(bench.traffic.of('provider_b').concurrency.inFlight).toBe(0);
	});

	it('leave the queue when a waiting client disconnects', async () => {
		const { bench, responses } = withPositions(1, 5);
		const first = ask(bench);
		await settle();
		let leave: (() => void) | undefined;
		const second = bench.ask(chatPath, chatBody, {}, { id: 'req-gone', onClientDisconnect: (listener) => (leave = listener) });
		await settle();
		leave?.();
		expect((await second).status).toBe(499);
		responses[0]?.(200);
		await first;
		const { concurrency } = bench.traffic.of('provider_b');
		expect([concurrency.inFlight, concurrency.queued, bench.sent.length]).toEqual([0, 0, 1]);
	});

	it('are as many as the newest settings allow, for new and for waiting requests', async () => {
		const { bench, responses } = withPositions(3, 9);
		const { concurrency } = bench.traffic.of('provider_b');
		const requests = [ask(bench), ask(bench), ask(bench), ask(bench)];
		await settle();
		expect([concurrency.inFlight, concurrency.queued]).toEqual([3, 1]);
		const rebuilt = (maxConcurrent: number): GatewayBench => {
			const providers = testSettings.providers.map((one) => ({ ...one, traffic: { ...one.traffic, maxConcurrent } }));
			const next = benchWith({ targets: [gpt], settings: { providers }, ports: { traffic: bench.traffic, clock: bench.clock } });
			next.respond = bench.respond;
			return next;
		};
		const lowered = rebuilt(1);
		requests.push(ask(lowered));
		await settle();
		for (const [done, inFlight, queued] of [
			[0, 2, 2],
			[1, 1, 2],
			[2, 1, 1],
		] as const) {
			responses[done]?.(200);
			await settle();
			expect([concurrency.inFlight, concurrency.queued]).toEqual([inFlight, queued]);
		}
		// A request that began under the old settings follows the new ones.
		requests.push(ask(bench), ask(bench), ask(bench));
		await settle();
		expect([concurrency.inFlight, concurrency.queued]).toEqual([1, 4]);
		requests.push(ask(rebuilt(4)));
		await settle();
		expect([concurrency.inFlight, concurrency.queued]).toEqual([4, 2]);
		for (let done = 3; done < requests.length; done++) {
			responses[done]?.(200);
			await settle();
		}
		expect((await Promise.all(requests)).map(({ status }) => status)).toEqual(requests.map(() => 200));
		expect([concurrency.inFlight, concurrency.queued]).toEqual([0, 0]);
	});

	it('that are all in use fail the request over to the next target', async () => {
		const { bench, responses } = withPositions(1, 0, [gpt, claude]);
		const first = ask(bench);
		await settle();
		expect((await ask(bench)).headers['x-gateway-provider']).toBe('provider_a');
		responses[0]?.(200);
		expect((await first).headers['x-gateway-provider']).toBe('provider_b');
	});
});
