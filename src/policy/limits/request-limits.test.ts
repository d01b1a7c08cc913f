import { describe, expect, test } from 'vitest';
import { rateLimits } from '../../../test/support/rate-limits.ts';
import type { CounterReading, RateLimit } from '../../core/counters.ts';
import { checkReading, type RequestedReservation } from './request-limits.ts';

const reading: CounterReading = {
	nowMs: Date.UTC(2026, 10, 21),
	requestsThisMinute: 20,
	tokensToday: 700,
	reservedTokens: 300,
	rates: [],
	budgets: [{ budget: 'team', period: '2026-11', settledNanoUsd: 60n, reservedNanoUsd: 30n }],
};
const unlimited: readonly RateLimit[] = [];

describe('counters that say how much is taken', () => {
	test.each([
		['as many requests as a minute may have', rateLimits({ requestsPerMinute: 20 }), 'rpm'],
		['one request less', rateLimits({ requestsPerMinute: 21 }), undefined],
		[
			'as many tokens as a day may have, with those that are reserved',
			rateLimits({ requestsPerMinute: 21, dailyTokens: 1000 }),
			'daily_tokens',
		],
		['one token less', rateLimits({ requestsPerMinute: 21, dailyTokens: 1001 }), undefined],
		['both limits at once: the minute is named', rateLimits({ requestsPerMinute: 20, dailyTokens: 1000 }), 'rpm'],
		['nothing that is limited', unlimited, undefined],
	] as const)('reject at %s', (_title, limits, binding) => {
		expect(checkReading(reading, limits, [])).toEqual(binding && { isAdmitted: false, binding, reading });
	});

	const reservation = { budget: 'team', period: '2026-11', limitNanoUsd: 100n, amountNanoUsd: 1000n, check: 'before' } as const;
	test.each<[string, Partial<RequestedReservation>, boolean]>([
		['checked before, of any amount while something is left', { check: 'before' }, true],
		['checked before, with nothing left', { check: 'before', limitNanoUsd: 90n }, false],
		['checked after, of all that is left', { check: 'after', amountNanoUsd: 10n }, true],
		['checked after, of more than is left', { check: 'after', amountNanoUsd: 11n }, false],
		['checked after, of nothing, with nothing left', { check: 'after', amountNanoUsd: 0n, limitNanoUsd: 90n }, false],
		['that fits, with its least left', { check: 'fit', minNanoUsd: 10n }, true],
		['that fits, with less than its least left', { check: 'fit', minNanoUsd: 11n }, false],
		['that fits, without a least', { check: 'fit' }, true],
		['on a budget that nobody has used', { budget: 'new', check: 'after', amountNanoUsd: 100n }, true],
		['on a budget that nobody has used, of more than its limit', { budget: 'new', check: 'after', amountNanoUsd: 101n }, false],
		['on a budget of nothing', { budget: 'new', limitNanoUsd: 0n }, false],
	])('of a hold %s', (_title, change, isAdmitted) => {
		const wanted = { ...reservation, ...change };
		const rejected = { isAdmitted: false, binding: 'budget', budget: wanted.budget, period: '2026-11', reading };
		expect(checkReading(reading, unlimited, [wanted])).toEqual(isAdmitted ? undefined : rejected);
	});

	test('names the first of several reservations that exceeds its budget', () => {
		const reservations = [reservation, { ...reservation, budget: 'model', limitNanoUsd: 0n }, { ...reservation, limitNanoUsd: 0n }];
		expect(checkReading(reading, unlimited, reservations)?.budget).toBe('model');
	});
});
