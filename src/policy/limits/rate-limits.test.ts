import { expect, test } from 'vitest';
import type { CounterReading } from '../../core/counters.ts';
import { limitOf, monitoredRates, ratesForModel, resolveRates } from './rate-limits.ts';

const tier = { requestsPerMinute: 20, dailyTokens: null, tokensPerMinute: 5000, models: { 'gpt-*': { requestsPerMinute: 3 } } };

test('limits of a tier apply in their order, without those that are unlimited', () => {
	expect(resolveRates(tier, undefined)).toEqual({
		limits: [
			{ kind: 'rpm', limit: 20 },
			{ kind: 'tpm', limit: 5000 },
			{ kind: 'rpm', models: 'gpt-*', limit: 3 },
		],
		monitored: [],
	});
});

test('an own limit replaces that of the tier, null removes it', () => {
	const { limits } = resolveRates(tier, {
		requestsPerMinute: 7,
		tokensPerMinute: null,
		concurrentRequests: 2,
		models: { 'gpt-*': { requestsPerMinute: 1 } },
	});
	expect(limits).toEqual([
		{ kind: 'rpm', limit: 7 },
		{ kind: 'concurrent_requests', limit: 2 },
		{ kind: 'rpm', models: 'gpt-*', limit: 1 },
	]);
});

test('a monitored limit leaves the tier’s in force, and is counted where nothing else counts', () => {
	const { limits, monitored } = resolveRates(tier, { mode: 'monitor', requestsPerMinute: 2, concurrentRequests: 1, dailyTokens: 10 });
	expect(limits).toEqual([
		{ kind: 'rpm', limit: 20 },
		{ kind: 'tpm', limit: 5000 },
		{ kind: 'concurrent_requests', limit: null },
		{ kind: 'rpm', models: 'gpt-*', limit: 3 },
	]);
	expect(monitored.map(({ kind, limit }) => [kind, limit])).toEqual([
		['rpm', 2],
		['daily_tokens', 10],
		['concurrent_requests', 1],
	]);
});

test('an enforced limit of a team replaces a monitored one of its tier', () => {
	const { limits, monitored } = resolveRates({ ...tier, mode: 'monitor' }, { requestsPerMinute: 9 });
	expect(limits[0]).toEqual({ kind: 'rpm', limit: 9 });
	expect(monitored.map(({ kind }) => kind)).toEqual(['tpm', 'rpm']);
});

test('limits of models apply to their models only', () => {
	const terms = resolveRates({ ...tier, models: { 'gpt-*': { requestsPerMinute: 3 }, 'provider_a/*': { tokensPerMinute: 9 } } }, undefined);
	const kinds = (provider: string, model: string) =>
		ratesForModel(terms, { provider, model }).limits.map(({ kind, models }) => `${kind} ${models ?? ''}`);
	expect(kinds('provider_b', 'gpt-5')).toEqual(['rpm ', 'tpm ', 'rpm gpt-*']);
	expect(kinds('provider_a', 'claude')).toEqual(['rpm ', 'tpm ', 'tpm provider_a/*']);
	const plain = resolveRates({ requestsPerMinute: 1 }, undefined);
	expect(ratesForModel(plain, { provider: 'p', model: 'm' })).toBe(plain);
	expect([limitOf(terms.limits, 'rpm'), limitOf(terms.limits, 'daily_tokens')]).toEqual([20, null]);
});

test('a monitored limit would have rejected what an enforced one rejects', () => {
	const reading = (requests: number, tokens: number, inFlight: number): CounterReading => ({
		nowMs: 0,
		requestsThisMinute: requests,
		tokensToday: tokens,
		reservedTokens: 5,
		rates: [{ kind: 'concurrent_requests', used: inFlight, reserved: 0 }],
		budgets: [],
	});
	const { monitored } = resolveRates({ mode: 'monitor', requestsPerMinute: 2, dailyTokens: 100, concurrentRequests: 3 }, undefined);
	const exceeded = (of: CounterReading) => monitoredRates(monitored, of, 5).map(({ kind }) => kind);
	expect(exceeded(reading(2, 99, 3))).toEqual([]);
	expect(exceeded(reading(3, 100, 4))).toEqual(['rpm', 'daily_tokens', 'concurrent_requests']);
});
