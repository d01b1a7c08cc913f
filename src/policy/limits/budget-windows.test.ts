import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BudgetWindow, budgetWindows, type WindowSettings, weekdays } from '../../core/budget.ts';
import { budgetPeriodOf, isTimeZone, ledgerBudgetName, msToPeriodEnd, spanOfPeriod, windowAt } from './budget-windows.ts';

const hourMs = 3_600_000;
const at = (text: string): number => Date.parse(`${text}Z`);
const spanAt = (window: BudgetWindow, timezone: string, time: string, weekStart: WindowSettings['weekStart'] = 'monday'): string => {
	const { fromMs, toMs } = windowAt({ window, timezone, weekStart }, at(time));
	return [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 16)).join(' ');
};

describe('the window of a time', () => {
	test.each<[BudgetWindow, string, string, string]>([
		['hour', 'UTC', '2026-11-26T20:59:59.999', '2026-11-26T20:00 2026-11-26T21:00'],
		['hour', 'Asia/Kolkata', '2026-11-26T20:10', '2026-11-26T20:00 2026-11-26T21:00'],
		['day', 'UTC', '2026-11-26T00:00', '2026-11-26T00:00 2026-11-27T00:00'],
		['day', 'Europe/Berlin', '2026-11-26T22:59', '2026-11-25T23:00 2026-11-26T23:00'],
		['day', 'Europe/Berlin', '2026-11-26T23:00', '2026-11-26T23:00 2026-11-27T23:00'],
		['day', 'America/Los_Angeles', '2026-11-26T07:59', '2026-11-25T08:00 2026-11-26T08:00'],
		['day', 'Pacific/Kiritimati', '2026-11-26T10:00', '2026-11-26T10:00 2026-11-27T10:00'],
		['week', 'UTC', '2026-11-26T12:00', '2026-11-23T00:00 2026-11-30T00:00'],
		['week', 'Asia/Tokyo', '2026-11-29T15:00', '2026-11-29T15:00 2026-12-06T15:00'],
		['month', 'UTC', '2026-12-31T23:59', '2026-12-01T00:00 2027-01-01T00:00'],
		['month', 'America/New_York', '2026-12-01T04:59', '2026-11-01T04:00 2026-12-01T05:00'],
		['month', 'Europe/Berlin', '2028-02-29T22:59', '2028-01-31T23:00 2028-02-29T23:00'],
	])('of a %s in %s at %s', (window, timezone, time, span) => {
		expect(spanAt(window, timezone, time)).toBe(span);
	});

	test.each([
		['sunday', '2026-11-22'],
		['thursday', '2026-11-26'],
		['friday', '2026-11-20'],
	] as const)('of a week that begins on a %s', (weekStart, day) => {
		expect(spanAt('week', 'UTC', '2026-11-26T12:00', weekStart).slice(0, 10)).toBe(day);
	});

	test('has 23 and 25 hours on the days on which the clock changes', () => {
		expect(spanAt('day', 'Europe/Berlin', '2026-03-29T12:00')).toBe('2026-03-28T23:00 2026-03-29T22:00');
		expect(spanAt('day', 'Europe/Berlin', '2026-10-25T12:00')).toBe('2026-10-24T22:00 2026-10-25T23:00');
		expect(windowAt({ window: 'day', timezone: 'Europe/Berlin', weekStart: 'monday' }, at('2026-10-25T12:00')).period).toBe(
			'2026-10-24T22+25',
		);
	});

	test('begins with the first hour of the day where midnight does not exist', () => {
		// In Beirut the clock goes from 00:00 to 01:00, in Havana from 01:00 back to 00:00.
		expect(spanAt('day', 'Asia/Beirut', '2026-03-29T12:00')).toBe('2026-03-28T22:00 2026-03-29T21:00');
		expect(spanAt('day', 'America/Havana', '2026-11-01T05:30')).toBe('2026-11-01T04:00 2026-11-02T05:00');
	});

	test('begins with a whole UTC hour in zones with half hours', () => {
		expect(spanAt('day', 'Asia/Kolkata', '2026-11-26T18:45')).toBe('2026-11-25T19:00 2026-11-26T19:00');
		expect(spanAt('day', 'Asia/Kolkata', '2026-11-26T19:00')).toBe('2026-11-26T19:00 2026-11-27T19:00');
		expect(spanAt('day', 'Asia/Kathmandu', '2026-11-26T18:20')).toBe('2026-11-25T19:00 2026-11-26T19:00');
	});

	const zone = fc.constantFrom(
		'UTC',
		'Europe/Berlin',
		'America/New_York',
		'Asia/Kolkata',
		'Australia/Lord_Howe',
		'Pacific/Apia',
		'America/Havana',
	);
	const settings = fc.record({ window: fc.constantFrom(...budgetWindows), timezone: zone, weekStart: fc.constantFrom(...weekdays) });
	const time = fc.integer({ min: at('2020-01-01T00:00'), max: at('2036-01-01T00:00') });

	test('contains the time, begins with a whole hour, meets the next one, and is named by its period', () => {
		fc.assert(
			fc.property(settings, time, (chosen, nowMs) => {
				const span = windowAt(chosen, nowMs);
				expect(span.fromMs <= nowMs && nowMs < span.toMs).toBe(true);
				expect(span.fromMs % hourMs).toBe(0);
				expect(windowAt(chosen, span.toMs).fromMs).toBe(span.toMs);
				expect(windowAt(chosen, span.toMs - 1)).toEqual(span);
				expect(spanOfPeriod(span.period)).toEqual(span);
				expect(msToPeriodEnd(span.period, nowMs)).toBe(span.toMs - nowMs);
				const name = ledgerBudgetName('model:a|b', chosen);
				expect(budgetPeriodOf(name, nowMs)).toEqual({ budget: 'model:a|b', period: span.period });
			}),
			{ numRuns: 300 },
		);
	});
});

test('names of zones are checked', () => {
	expect(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'].map(isTimeZone)).toEqual([true, true, true]);
	expect(['Mars/Olympus', '', '+05:30', 'Europe/Berlin\n', '../etc'].map(isTimeZone)).toEqual([false, false, false, false, false]);
});

test('a ledger entry without a window names a budget of its UTC month', () => {
	expect(budgetPeriodOf('all', at('2026-11-30T23:59'))).toEqual({ budget: 'all', period: '2026-11' });
	expect(budgetPeriodOf('model:month|x', at('2026-11-30T23:59'))).toEqual({ budget: 'model:month|x', period: '2026-11' });
	expect(() => spanOfPeriod('2026-11-26')).toThrow('is no period of a budget');
});
