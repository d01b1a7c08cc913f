import { describe, expect, it } from 'vitest';
import { Rejection } from '../../core/rejection.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { canFailOver, reportsHealth } from './attempt-result.ts';
import { type Moment, ProviderHealth } from './provider-health.ts';
import { type FailedAttempt, RetryBudget, retryWaitMs } from './retries.ts';
import type { TrafficSettings } from './traffic-settings.ts';

const middle = (): number => 0.5;

describe('decisions after an attempt', () => {
	it.each([
		[200, false, 'well'],
		[400, false, 'well'],
		[401, true, 'well'],
		[403, true, 'well'],
		[404, true, 'well'],
		[422, false, 'well'],
		[429, true, 'well'],
		[499, false, 'well'],
		[500, true, 'ill'],
		[503, true, 'ill'],
		[529, true, undefined],
	] as const)('%i', (status, failsOver, health) => {
		expect([canFailOver(status), reportsHealth(status)]).toEqual([failsOver, health]);
	});

	it.each([
		['provider_unreachable', true, 'ill'],
		['provider_disconnected', true, 'ill'],
		['provider_connect_timeout', true, 'ill'],
		['provider_first_byte_timeout', true, 'ill'],
		['provider_key_unset', true, undefined],
		['provider_total_timeout', false, 'ill'],
		['provider_response_invalid', true, 'ill'],
	] as const)('%s', (code, failsOver, health) => {
		const upstreamError = new UpstreamError(code);
		expect([canFailOver(upstreamError), reportsHealth(upstreamError)]).toEqual([failsOver, health]);
	});

	it('a busy provider causes failover and stays healthy; a disconnected client ends everything', () => {
		expect([canFailOver(new Rejection('provider_busy')), reportsHealth(new Rejection('provider_busy'))]).toEqual([true, undefined]);
		expect(canFailOver(new Rejection('client_closed'))).toBe(false);
	});
});

describe('retries', () => {
	const terms: TrafficSettings = { retries: 2, retryStatuses: [429, 503], maxConcurrent: 1, maxQueued: 0, ejectAfterFailures: null };
	const rejected: FailedAttempt = {
		result: new UpstreamError('provider_unreachable'),
		canCost: false,
		isSpendStop: false,
		retryAfterMs: undefined,
		retriesBefore: 0,
		remainingMs: 60_000,
	};
	const wait = (more: Partial<FailedAttempt>, chance = middle): number | undefined => retryWaitMs({ ...rejected, ...more }, terms, chance);

	it('of connections that were never made, after a wait that doubles and is spread', () => {
		expect([wait({}), wait({ retriesBefore: 1 }), wait({ retriesBefore: 2 })]).toEqual([75, 150, undefined]);
		expect([wait({}, () => 0), wait({}, () => 0.999)]).toEqual([50, 99.95]);
	});

	it('not of requests that the provider may have processed, nor of connections that timed out', () => {
		expect(wait({ canCost: true })).toBeUndefined();
		expect(wait({ result: new UpstreamError('provider_connect_timeout') })).toBeUndefined();
		expect(wait({ result: new UpstreamError('provider_first_byte_timeout') })).toBeUndefined();
	});

	it('of the statuses given, unless the account is out of money', () => {
		expect([wait({ result: 429 }), wait({ result: 503 }), wait({ result: 500 })]).toEqual([75, 75, undefined]);
		expect(wait({ result: 429, isSpendStop: true })).toBeUndefined();
	});

	it('wait as long as the provider requests, if the request has the time', () => {
		expect(wait({ result: 429, retryAfterMs: 3000 })).toBe(3000);
		expect(wait({ result: 429, retryAfterMs: 3000, remainingMs: 5000 })).toBeUndefined();
		expect(wait({ result: 429, retryAfterMs: 30_000, remainingMs: 600_000 })).toBeUndefined();
	});

	it('wait no longer than ten seconds, or half of the time that is left', () => {
		const reported = (retryAfterMs: number, remainingMs: number) => wait({ result: 429, retryAfterMs, remainingMs });
		expect([reported(10_000, 60_000), reported(10_001, 60_000), reported(3000, 6000), reported(3000, 5999)]).toEqual([
			10_000,
			undefined,
			3000,
			undefined,
		]);
		expect(reported(10, 60_000), 'less than it would wait anyway').toBe(75);
	});

	it('wait at most two seconds if the provider requests no wait', () => {
		const waits = [4, 5, 9].map((retriesBefore) => retryWaitMs({ ...rejected, retriesBefore }, { ...terms, retries: 10 }, () => 1));
		expect(waits).toEqual([1600, 2000, 2000]);
	});

	it('are one more for each five requests', () => {
		const budget = new RetryBudget();
		while (budget.take());
		for (let call = 0; call < 4; call++) budget.countRequest();
		expect(budget.take()).toBe(false);
		budget.countRequest();
		expect([budget.take(), budget.take()]).toEqual([true, false]);
	});

	it('are a fifth of the requests, after the ten that are saved up', () => {
		const budget = new RetryBudget();
		const takeAll = (): number => {
			let taken = 0;
			while (budget.take()) taken++;
			return taken;
		};
		expect(takeAll()).toBe(10);
		for (let call = 0; call < 20; call++) budget.countRequest();
		expect(takeAll()).toBeGreaterThanOrEqual(3);
		for (let call = 0; call < 1000; call++) budget.countRequest();
		expect(takeAll()).toBe(10);
	});
});

describe('health', () => {
	/** Both clocks began at the same time. */
	const at = (ms: number): Moment => ({ unixMs: ms, monotonicMs: ms });
	const failTimes = (health: ProviderHealth, times: number, nowMs = 0): boolean[] =>
		Array.from({ length: times }, () => health.failed('answered 500', 3, at(nowMs), middle));

	it('is unknown before the first request, then follows requests', () => {
		const health = new ProviderHealth();
		expect(health.report()).toEqual({ state: 'unknown', sinceMs: null, detail: null });
		health.succeeded(5);
		expect(health.report()).toEqual({ state: 'healthy', sinceMs: null, detail: null });
		failTimes(health, 3, 7);
		expect(health.report()).toEqual({ state: 'unhealthy', sinceMs: 7, detail: 'answered 500' });
	});

	it('ends after failures in a row only', () => {
		const health = new ProviderHealth();
		expect(failTimes(health, 2)).toEqual([false, false]);
		health.succeeded(0);
		expect(failTimes(health, 3)).toEqual([false, false, true]);
		expect(health.isEjected).toBe(true);
		const patient = new ProviderHealth();
		for (let failure = 0; failure < 100; failure++) patient.failed('x', null, at(0), middle);
		expect(patient.isEjected).toBe(false);
	});

	it('is probed by one request at a time, later after each that fails, and restored by the first success', () => {
		const health = new ProviderHealth();
		failTimes(health, 3);
		// Three quarters of 5 s.
		expect([
			health.takeDiscoveryTurn(3749, middle),
			health.takeDiscoveryTurn(3750, middle),
			health.takeDiscoveryTurn(3751, middle),
		]).toEqual([false, true, false]);
		health.failed('again', 3, at(4000), middle);
		expect([health.takeDiscoveryTurn(11_499, middle), health.takeDiscoveryTurn(11_500, middle)]).toEqual([false, true]);
		expect(health.succeeded(12_000)).toBe(true);
		expect([health.takeDiscoveryTurn(12_000, middle), health.takeDiscoveryTurn(12_000, middle)]).toEqual([true, true]);
		expect(health.report()).toMatchObject({ state: 'healthy', sinceMs: 12_000 });
		expect(failTimes(health, 2)).toEqual([false, false]);
	});

	it('is not put off by requests in flight when it ended, and a lost probe is followed by another', () => {
		const health = new ProviderHealth();
		failTimes(health, 3);
		failTimes(health, 50, 3000);
		expect([
			health.takeDiscoveryTurn(3750, middle),
			health.takeDiscoveryTurn(3750 + 3749, middle),
			health.takeDiscoveryTurn(3750 + 3750, middle),
		]).toEqual([true, false, true]);
	});

	it('is waited for twice as long each time, up to a minute, and at least half of that', () => {
		for (const [chance, share] of [
			[() => 1, 1],
			[() => 0, 0.5],
		] as const) {
			const health = new ProviderHealth();
			expect(health.failed('first', 1, at(0), chance)).toBe(true);
			let nowMs = 0;
			for (const maxMs of [5000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
				const untilMs = nowMs + maxMs * share;
				expect([health.takeDiscoveryTurn(untilMs - 1, chance), health.takeDiscoveryTurn(untilMs, chance)]).toEqual([false, true]);
				nowMs = untilMs;
				expect(health.failed('still', 1, at(nowMs), chance)).toBe(false);
			}
			expect(health.report()).toEqual({ state: 'unhealthy', sinceMs: 0, detail: 'still' });
		}
	});

	it('says what failed last, also of a provider that is not ejected, or no longer', () => {
		const health = new ProviderHealth();
		failTimes(health, 2, 7);
		expect(health.report()).toEqual({ state: 'healthy', sinceMs: null, detail: 'answered 500' });
		failTimes(health, 1, 9);
		expect([health.succeeded(12), health.succeeded(15)]).toEqual([true, false]);
		expect(health.report()).toEqual({ state: 'healthy', sinceMs: 12, detail: 'answered 500' });
	});

	it('is timed by the monotonic clock, and reported by the other', () => {
		const health = new ProviderHealth();
		health.failed('x', 1, { unixMs: 1_000_000, monotonicMs: 100 }, () => 1);
		expect(health.report().sinceMs).toBe(1_000_000);
		expect([health.takeDiscoveryTurn(5099, middle), health.takeDiscoveryTurn(5100, middle)]).toEqual([false, true]);
	});

	it('is never waited for longer than a minute', () => {
		const health = new ProviderHealth();
		failTimes(health, 3);
		let nowMs = 0;
		for (let probe = 0; probe < 20; probe++) {
			nowMs += 60_000;
			expect(health.takeDiscoveryTurn(nowMs, () => 1)).toBe(true);
			health.failed('still', 3, at(nowMs), () => 1);
		}
	});
});
