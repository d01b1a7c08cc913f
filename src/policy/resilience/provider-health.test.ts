import { expect, it } from 'vitest';
import type { HealthReport } from '../../core/health-report.ts';
import { joinRateLimits, joinReports } from './provider-health.ts';

const unknown: HealthReport = { state: 'unknown', sinceMs: null, detail: null };
const healthy: HealthReport = { state: 'healthy', sinceMs: null, detail: null };
const healthyAgain: HealthReport = { state: 'healthy', sinceMs: 50, detail: 'answered 500' };
const unhealthy = (sinceMs: number, detail: string): HealthReport => ({ state: 'unhealthy', sinceMs, detail });

it('the report of a single gateway is the result', () => {
	for (const report of [unknown, healthy, healthyAgain]) expect(joinReports([report])).toEqual({ ...report, ejectedBy: 0 });
	expect(joinReports([unhealthy(3, 'x')])).toEqual({ ...unhealthy(3, 'x'), ejectedBy: 1 });
});

it('no report gives an unknown state', () => {
	expect(joinReports([])).toEqual({ ...unknown, ejectedBy: 0 });
});

it('gateways without requests have no vote', () => {
	expect(joinReports([unknown, healthy, unknown])).toEqual({ ...healthy, ejectedBy: 0 });
	expect(joinReports([unknown, unhealthy(3, 'x')])).toEqual({ ...unhealthy(3, 'x'), ejectedBy: 1 });
});

it('one is enough for unhealthy: since the first report, with the detail of the latest', () => {
	expect(joinReports([healthy, unhealthy(20, 'first'), healthyAgain, unhealthy(30, 'second')])).toEqual({
		...unhealthy(20, 'second'),
		ejectedBy: 2,
	});
});

it('healthy since the last report; the last failure is still reported', () => {
	expect(joinReports([healthy, { ...healthyAgain, sinceMs: 40, detail: 'older' }, healthyAgain])).toEqual({
		...healthyAgain,
		ejectedBy: 0,
	});
	expect(joinReports([healthy, { ...healthy, detail: 'answered 502' }])).toEqual({ ...healthy, detail: 'answered 502', ejectedBy: 0 });
});

it.each([[[10, 20, 30]], [[30, 10, 20]], [[20, 30, 10]]])('the latest failure is reported, for any order of the reports: %j', (times) => {
	expect(joinReports([unknown, ...times.map((sinceMs) => unhealthy(sinceMs, `at ${sinceMs}`))])).toEqual({
		...unhealthy(10, 'at 30'),
		ejectedBy: 3,
	});
});

it('of the rate limits of several gateways, the latest report of each model and kind', () => {
	const limit = (model: string, kind: 'requests' | 'tokens', remaining: number, reportedAtMs: number) => {
		return { model, kind, limit: 10, remaining, resetsAtMs: null, reportedAtMs };
	};
	const first = { ...healthy, rateLimits: [limit('b', 'tokens', 1, 5), limit('b', 'requests', 2, 5)] };
	const second = { ...healthy, rateLimits: [limit('b', 'requests', 3, 9), limit('a', 'tokens', 4, 1)] };
	const joined = [limit('a', 'tokens', 4, 1), limit('b', 'requests', 3, 9), limit('b', 'tokens', 1, 5)];
	expect(joinRateLimits([first, unknown, second])).toEqual(joined);
	expect(joinRateLimits([second, first])).toEqual(joined);
	expect(joinRateLimits([])).toEqual([]);
});
