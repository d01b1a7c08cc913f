import { expect, it } from 'vitest';
import type { HealthReport } from '../../core/health-report.ts';
import { joinReports } from './provider-health.ts';

const unknown: HealthReport = { state: 'unknown', sinceMs: null, detail: null };
const well: HealthReport = { state: 'healthy', sinceMs: null, detail: null };
const wellAgain: HealthReport = { state: 'healthy', sinceMs: 50, detail: 'answered 500' };
const ill = (sinceMs: number, detail: string): HealthReport => ({ state: 'unhealthy', sinceMs, detail });

it('the report of a single gateway is the result', () => {
	for (const report of [unknown, well, wellAgain]) expect(joinReports([report])).toEqual({ ...report, ejectedBy: 0 });
	expect(joinReports([ill(3, 'x')])).toEqual({ ...ill(3, 'x'), ejectedBy: 1 });
});

it('no report gives an unknown state', () => {
	expect(joinReports([])).toEqual({ ...unknown, ejectedBy: 0 });
});

it('gateways without requests have no vote', () => {
	expect(joinReports([unknown, well, unknown])).toEqual({ ...well, ejectedBy: 0 });
	expect(joinReports([unknown, ill(3, 'x')])).toEqual({ ...ill(3, 'x'), ejectedBy: 1 });
});

it('one is enough for unhealthy: since the first report, with the detail of the latest', () => {
	expect(joinReports([well, ill(20, 'first'), wellAgain, ill(30, 'second')])).toEqual({ ...ill(20, 'second'), ejectedBy: 2 });
});

it('healthy since the last report; the last failure is still reported', () => {
	expect(joinReports([well, { ...wellAgain, sinceMs: 40, detail: 'older' }, wellAgain])).toEqual({ ...wellAgain, ejectedBy: 0 });
	expect(joinReports([well, { ...well, detail: 'answered 502' }])).toEqual({ ...well, detail: 'answered 502', ejectedBy: 0 });
});

it.each([[[10, 20, 30]], [[30, 10, 20]], [[20, 30, 10]]])('the latest failure is reported, for any order of the reports: %j', (times) => {
	expect(joinReports([unknown, ...times.map((sinceMs) => ill(sinceMs, `at ${sinceMs}`))])).toEqual({ ...ill(10, 'at 30'), ejectedBy: 3 });
});
