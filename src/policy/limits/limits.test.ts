import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rateLimits } from '../../../test/support/rate-limits.ts';
import type { CounterReading, RateLimit } from '../../core/counters.ts';
import { msToPeriodEnd } from './budget-windows.ts';
import { describeLimits } from './describe-limits.ts';
import { type RejectedRequest, toLimitRejection } from './limit-rejection.ts';
import { addAnthropicRateLimitHeaders, addRateLimitHeaders } from './rate-limit-headers.ts';
import { crossed } from './request-limits.ts';
import { dayOf, msToMidnight, msToNextMinute, periodOf, secondOf } from './utc-time.ts';

const usd = 1_000_000_000n;
const reading: CounterReading = {
	nowMs: Date.UTC(2026, 10, 21, 14, 7, 29, 250),
	requestsThisMinute: 20,
	tokensToday: 100_250,
	reservedTokens: 0,
	rates: [],
	budgets: [
		{ budget: 'team', period: '2026-11', settledNanoUsd: 99n * usd, reservedNanoUsd: 500_000_000n },
		{ budget: 'opus', period: '2026-11', settledNanoUsd: 5n * usd, reservedNanoUsd: 0n },
	],
};
const monthly = {
	model: null,
	client: null,
	provider: null,
	attribute: null,
	period: '2026-11',
	window: 'month',
	isEnforced: true,
	report: 'nothing',
	fallbackModel: null,
} as const;
const request: RejectedRequest = {
	limits: rateLimits({ requestsPerMinute: 20, dailyTokens: 100_000 }),
	typicalMs: 8000,
	budgets: [
		{ ...monthly, id: 'team', budget: 'team', limitNanoUsd: 100n * usd, amountNanoUsd: 1_600_000_000n, check: 'after' },
		{ ...monthly, id: 'opus', budget: 'opus', model: 'claude-opus-4-6', limitNanoUsd: 5n * usd, amountNanoUsd: 1n, check: 'after' },
	],
};

describe('the rejection of a request', () => {
	const rejectionFor = (binding: 'rpm' | 'daily_tokens' | 'budget' | 'store', budget?: string) => {
		const rejection = toLimitRejection(
			{ isAdmitted: false, binding, reading, ...(budget === undefined ? {} : { budget, period: '2026-11' }) },
			request,
		);
		const { code, status, message, members, headers, retryAfterSeconds } = rejection;
		return { code, status, message, members, headers, retryAfterSeconds };
	};

	test('about requests: the counts, and the time to the next minute', () => {
		const reason = 'RPM limit exceeded (20/20 requests per minute)';
		expect(rejectionFor('rpm')).toEqual({
			code: 'rpm_limit_exceeded',
			status: 429,
			message: reason,
			members: { allowed: false, reason, retry_after_seconds: 31 },
			headers: {},
			retryAfterSeconds: 31,
		});
	});

	test('about tokens: the counts, and the time to midnight, before which no retry helps', () => {
		const reason = 'Daily token limit exceeded (100250/100000 tokens per day)';
		expect(rejectionFor('daily_tokens')).toEqual({
			code: 'daily_token_limit_exceeded',
			status: 429,
			message: reason,
			members: { allowed: false, reason, retry_after_seconds: 35_551 },
			headers: { 'x-should-retry': 'false' },
			retryAfterSeconds: 35_551,
		});
	});

	test('about a budget that is used up, or has too little left for the request', () => {
		const small = 'Monthly budget too small for this request (99.00/100.00 USD; the request can cost 1.60 USD)';
		expect(rejectionFor('budget', 'team')).toEqual({
			code: 'budget_exceeded',
			status: 429,
			message: small,
			members: { action: 'reject', reason: small },
			headers: { 'x-should-retry': 'false' },
			retryAfterSeconds: undefined,
		});
		const reason = 'Monthly budget of the model claude-opus-4-6 exceeded (5.00/5.00 USD)';
		expect(rejectionFor('budget', 'opus')).toMatchObject({
			code: 'model_budget_exceeded',
			message: reason,
			members: { action: 'reject', reason },
		});
	});

	describe('where requests in flight reserve what is left', () => {
		const rejectionOf = (used: Partial<CounterReading>, amountNanoUsd = 0n, check: 'before' | 'after' = 'before', typicalMs = 8000) => {
			const budgets = [{ ...monthly, id: 'team', budget: 'team', limitNanoUsd: 10n * usd, amountNanoUsd, check }];
			const binding =
				used.budgets === undefined
					? ({ binding: 'daily_tokens' } as const)
					: ({ binding: 'budget', budget: 'team', period: '2026-11' } as const);
			const rejected = { isAdmitted: false as const, ...binding, reading: { ...reading, ...used } };
			return toLimitRejection(rejected, { limits: rateLimits({ dailyTokens: 1000 }), typicalMs, budgets });
		};
		const budget = (settledUsd: bigint, reservedUsd: bigint) => ({
			budgets: [{ budget: 'team', period: '2026-11', settledNanoUsd: settledUsd * usd, reservedNanoUsd: reservedUsd * usd }],
		});

		test('of a budget: spent, reserved and limit, and to retry when enough is released', () => {
			const reason = 'Monthly budget is reserved by requests in flight (3.00 spent, 8.00 reserved, limit 10.00 USD)';
			const rejection = rejectionOf(budget(3n, 8n), usd, 'after');
			expect(rejection).toMatchObject({ code: 'budget_reserved', status: 429, message: reason });
			expect(rejection.headers).toEqual({});
			// Two of eight dollars have to be released: a quarter of the usual duration.
			expect(rejection.members).toEqual({ action: 'reject', reason, retry_after_seconds: 2 });
			expect(rejection.retryAfterSeconds).toBe(2);
		});

		test('of a budget: only if the request fits next to the spent amount', () => {
			expect(rejectionOf(budget(3n, 5n), 7n * usd, 'after').code).toBe('budget_reserved');
			expect(rejectionOf(budget(3n, 5n), 7n * usd + 1n, 'after').code).toBe('budget_exceeded');
			expect(rejectionOf(budget(3n, 7n), 900n * usd).code).toBe('budget_reserved');
			expect(rejectionOf(budget(10n, 7n)).code).toBe('budget_exceeded');
			const last = [{ budget: 'team', period: '2026-11', settledNanoUsd: 10n * usd - 1n, reservedNanoUsd: 1n }];
			expect(rejectionOf({ budgets: last }).code).toBe('budget_reserved');
		});

		test.each([
			['before', 5n, 2],
			['after', 0n, 2],
			['after', 3n, 4],
		] as const)('of a budget: a request that is checked %s and may cost %s waits until it has room', (check, amountNanoUsd, seconds) => {
			// Requests that take 8 seconds reserve 8, and 7 are left: each second releases one.
			const used = [{ budget: 'team', period: '2026-11', settledNanoUsd: 10n * usd - 7n, reservedNanoUsd: 8n }];
			expect(rejectionOf({ budgets: used }, amountNanoUsd, check).retryAfterSeconds).toBe(seconds);
		});

		test('of a budget: the last of it is too little, and nothing is used up', () => {
			const messageAt = (remainingNanoUsd: bigint) =>
				rejectionOf({ budgets: [{ budget: 'team', period: '2026-11', settledNanoUsd: 10n * usd - remainingNanoUsd, reservedNanoUsd: 0n }] })
					.message;
			expect(messageAt(1n)).toContain('too small for this request');
			expect(messageAt(0n)).toContain('exceeded');
		});

		test('of the day: used, reserved and limit, in the body of a rate limit', () => {
			const reason = 'Daily token limit is reserved by requests in flight (700 used, 900 reserved, limit 1000 tokens per day)';
			const rejection = rejectionOf({ tokensToday: 700, reservedTokens: 900 });
			expect(rejection).toMatchObject({
				code: 'daily_token_limit_exceeded',
				status: 429,
				message: reason,
				retryAfterSeconds: 6,
			});
			expect(rejection.headers).toEqual({});
			expect(rejection.members).toEqual({ allowed: false, reason, retry_after_seconds: 6 });
			expect(rejectionOf({ tokensToday: 1000, reservedTokens: 900 }).headers).toEqual({ 'x-should-retry': 'false' });
		});

		test('the wait is at least a second and at most thirty', () => {
			const waits = [0, 1, 1_000_000].map((typicalMs) => [
				rejectionOf(budget(3n, 8n), usd, 'after', typicalMs).retryAfterSeconds,
				rejectionOf({ tokensToday: 999, reservedTokens: 1 }, 0n, 'before', typicalMs).retryAfterSeconds,
			]);
			expect(waits).toEqual([
				[1, 1],
				[1, 1],
				[30, 30],
			]);
		});
	});

	test('about unavailable counters: to try again', () => {
		const reason = 'Budgets cannot be checked: the counter store is unreachable';
		expect(rejectionFor('store')).toEqual({
			code: 'budgets_unavailable',
			status: 503,
			message: reason,
			members: { action: 'reject', reason },
			headers: {},
			retryAfterSeconds: 1,
		});
	});

	test('is never to wait for less than a second', () => {
		const late = { ...reading, nowMs: Date.UTC(2026, 10, 21, 23, 59, 59, 999) };
		expect(toLimitRejection({ isAdmitted: false, binding: 'rpm', reading: late }, request).retryAfterSeconds).toBe(1);
		expect(toLimitRejection({ isAdmitted: false, binding: 'daily_tokens', reading: late }, request).retryAfterSeconds).toBe(1);
		const early = { ...reading, nowMs: Date.UTC(2026, 10, 21) };
		expect(toLimitRejection({ isAdmitted: false, binding: 'rpm', reading: early }, request).retryAfterSeconds).toBe(60);
	});

	test('never blames a budget without a reservation of the request', () => {
		expect(() => rejectionFor('budget', 'other')).toThrow('The budget other rejected a request that has no reservation on it');
	});
});

describe('rate limit headers', () => {
	const rateLimitHeaders = (...limits: [readonly RateLimit[], CounterReading]): Record<string, string> => {
		const headers = {};
		addRateLimitHeaders(headers, ...limits);
		return headers;
	};

	test('have the names and reset times of Anthropic on its endpoints', () => {
		const headers = {};
		addAnthropicRateLimitHeaders(headers, rateLimits({ requestsPerMinute: 100, dailyTokens: 1_000_000 }), reading);
		expect(headers).toEqual({
			'anthropic-ratelimit-requests-limit': '100',
			'anthropic-ratelimit-requests-remaining': '80',
			'anthropic-ratelimit-requests-reset': '2026-11-21T14:08:00Z',
			'anthropic-ratelimit-tokens-limit': '1000000',
			'anthropic-ratelimit-tokens-remaining': '899750',
			'anthropic-ratelimit-tokens-reset': '2026-11-22T00:00:00Z',
		});
		const later = {};
		addAnthropicRateLimitHeaders(later, rateLimits({ requestsPerMinute: 10, dailyTokens: null }), {
			...reading,
			nowMs: reading.nowMs + 60_000,
		});
		expect(later).toEqual({
			'anthropic-ratelimit-requests-limit': '10',
			'anthropic-ratelimit-requests-remaining': '0',
			'anthropic-ratelimit-requests-reset': '2026-11-21T14:09:00Z',
		});
	});

	test('are the team’s numbers as OpenAI writes them', () => {
		expect(rateLimitHeaders(rateLimits({ requestsPerMinute: 100, dailyTokens: 1_000_000 }), reading)).toEqual({
			'x-ratelimit-limit-requests': '100',
			'x-ratelimit-remaining-requests': '80',
			'x-ratelimit-reset-requests': '31s',
			'x-ratelimit-limit-tokens': '1000000',
			'x-ratelimit-remaining-tokens': '899750',
			'x-ratelimit-reset-tokens': '9h52m31s',
		});
	});

	test('never say less than nothing, and say nothing of what is unlimited', () => {
		expect(rateLimitHeaders(rateLimits({ dailyTokens: 100_000 }), reading)).toEqual({
			'x-ratelimit-limit-tokens': '100000',
			'x-ratelimit-remaining-tokens': '0',
			'x-ratelimit-reset-tokens': '9h52m31s',
		});
		expect(rateLimitHeaders([], reading)).toEqual({});
	});

	test.each([
		[59_850, '150ms'],
		[59_000, '1s'],
		[58_999, '2s'],
		[0, '1m0s'],
	])('%i ms into a minute it resets in %s', (ms, text) => {
		const at = { ...reading, nowMs: Date.UTC(2026, 10, 21) + ms };
		expect(rateLimitHeaders(rateLimits({ requestsPerMinute: 1 }), at)['x-ratelimit-reset-requests']).toBe(text);
	});

	test('a whole day is 24 hours away', () => {
		expect(rateLimitHeaders(rateLimits({ dailyTokens: 1 }), { ...reading, nowMs: 0 })['x-ratelimit-reset-tokens']).toBe('24h0m0s');
	});

	test.each([
		[60, '1h0m0s'],
		[59, '59m0s'],
		[1, '1m0s'],
	])('%i minutes before midnight it resets in %s', (minutes, text) => {
		const at = { ...reading, nowMs: Date.UTC(2026, 10, 22) - minutes * 60_000 };
		expect(rateLimitHeaders(rateLimits({ dailyTokens: 1 }), at)['x-ratelimit-reset-tokens']).toBe(text);
	});
});

describe('the remaining limits of a team', () => {
	test('are reported for each limit, with the tightest one', () => {
		const limits = {
			team: 'red',
			tier: 'standard',
			limits: rateLimits({ requestsPerMinute: 25, dailyTokens: 1_000_000 }),
			budgets: request.budgets,
		};
		expect(describeLimits(limits, reading)).toEqual({
			object: 'limits',
			team: 'red',
			tier: 'standard',
			requests: { limit: 25, used: 20, remaining: 5, resets_in_seconds: 31 },
			tokens: { limit: 1_000_000, used: 100_250, remaining: 899_750, resets_in_seconds: 35_551, reserved: 0 },
			tokens_per_minute: null,
			concurrent_requests: null,
			models: [],
			budgets: [
				{
					id: 'team',
					model: null,
					client: null,
					provider: null,
					attribute: null,
					window: 'month',
					mode: 'enforce',
					period: '2026-11',
					limit_usd: '100.00',
					spent_usd: '99.00',
					reserved_usd: '0.50',
					remaining_usd: '0.50',
					remaining_percent: 0.5,
					resets_in_seconds: 9 * 86_400 + 35_551,
				},
				{
					id: 'opus',
					model: 'claude-opus-4-6',
					client: null,
					provider: null,
					attribute: null,
					window: 'month',
					mode: 'enforce',
					period: '2026-11',
					limit_usd: '5.00',
					spent_usd: '5.00',
					reserved_usd: '0.00',
					remaining_usd: '0.00',
					remaining_percent: 0,
					resets_in_seconds: 9 * 86_400 + 35_551,
				},
			],
			tightest_limit: { limit: 'budget', budget: 'opus', remaining_percent: 0 },
		});
	});

	test('are empty without limits', () => {
		const limits = { team: 'red', tier: 'enterprise', limits: [], budgets: [] };
		expect(describeLimits(limits, { ...reading, budgets: [] })).toMatchObject({
			requests: null,
			tokens: null,
			budgets: [],
			tightest_limit: null,
		});
	});

	test('of a limit of nothing is nothing', () => {
		const limits = {
			team: 'red',
			tier: 'none',
			limits: rateLimits({ requestsPerMinute: 0 }),
			budgets: [{ ...monthly, id: 'team', budget: 'team', limitNanoUsd: 0n }],
		};
		expect(describeLimits(limits, reading)).toMatchObject({
			requests: { remaining: 0 },
			budgets: [{ remaining_usd: '0.00', remaining_percent: 0 }],
			tightest_limit: { limit: 'requests', remaining_percent: 0 },
		});
	});
});

describe('the warning threshold', () => {
	test('is crossed by the booking that reaches it, and by no other', () => {
		expect(crossed(79n, 80n, 100n, 80)).toBe(true);
		expect(crossed(80n, 81n, 100n, 80)).toBe(false);
		expect(crossed(0n, 79n, 100n, 80)).toBe(false);
		expect(crossed(10n, 500n, 100n, 80)).toBe(true);
		expect(crossed(80n, 80n, 100n, 80)).toBe(false);
		expect(crossed(799n, 800n, 1000n, 80)).toBe(true);
	});

	test('is crossed once, whatever the bookings are', () => {
		fc.assert(
			fc.property(
				fc.array(fc.bigInt(0n, 50n), { maxLength: 30 }),
				fc.bigInt(1n, 300n),
				fc.integer({ min: 1, max: 150 }),
				(costs, limit, percent) => {
					let total = 0n;
					let crossings = 0;
					for (const cost of costs) {
						if (crossed(total, total + cost, limit, percent)) crossings++;
						total += cost;
					}
					expect(crossings).toBe(total * 100n >= limit * BigInt(percent) ? 1 : 0);
				},
			),
		);
	});
});

describe('UTC time', () => {
	const anyMs = fc.integer({ min: 0, max: Date.UTC(2400, 0, 1) });

	test('agrees with the calendar', () => {
		fc.assert(
			fc.property(anyMs, (nowMs) => {
				const date = new Date(nowMs);
				const period = date.toISOString().slice(0, 7);
				expect(periodOf(nowMs)).toBe(period);
				expect(dayOf(nowMs)).toBe(date.toISOString().slice(0, 10));
				expect(secondOf(nowMs)).toBe(`${date.toISOString().slice(0, 19)}Z`);
				expect(msToNextMinute(nowMs)).toBe(Math.floor(nowMs / 60_000) * 60_000 + 60_000 - nowMs);
				expect(msToMidnight(nowMs)).toBe(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1) - nowMs);
				expect(msToPeriodEnd(period, nowMs)).toBe(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - nowMs);
			}),
			{ numRuns: 2000 },
		);
	});

	test('knows the last and first moment of a month and of a leap day', () => {
		expect(periodOf(Date.UTC(2026, 11, 1) - 1)).toBe('2026-11');
		expect(periodOf(Date.UTC(2026, 11, 1))).toBe('2026-12');
		expect(periodOf(Date.UTC(2028, 1, 29, 23, 59, 59, 999))).toBe('2028-02');
		expect(msToPeriodEnd('2026-12', Date.UTC(2027, 0, 1))).toBe(0);
		expect(msToPeriodEnd('2026-12', Date.UTC(2027, 5, 1))).toBe(0);
	});
});
