/** Computes the ends of UTC minutes, days and months by pure arithmetic, independent of the machine's calendar. */
import { dayNumberOf } from '../../core/day-number.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Returns milliseconds until the UTC minute ends; at least 1. */
export function msToNextMinute(nowMs: number): number {
	return minuteMs - (nowMs % minuteMs);
}

/** Returns milliseconds until UTC midnight; at least 1. */
export function msToMidnight(nowMs: number): number {
	return dayMs - (nowMs % dayMs);
}

/** Caches the period, because all requests of a day need the same one. */
let lastPeriod = { dayNumber: Number.NaN, period: '' };

/** Returns the UTC month, such as `2026-11`. */
export function periodOf(nowMs: number): string {
	const dayNumber = dayNumberOf(nowMs);
	if (dayNumber !== lastPeriod.dayNumber) lastPeriod = { dayNumber, period: dayOf(nowMs).slice(0, -3) };
	return lastPeriod.period;
}

/** Returns the UTC day, such as `2026-11-21`. */
export function dayOf(nowMs: number): string {
	// Days to year and month as in Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms", from March on.
	const day = dayNumberOf(nowMs) + 719_468;
	const era = Math.floor(day / 146_097);
	const dayOfEra = day - era * 146_097;
	const yearOfEra = Math.floor(
		(dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
	);
	const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
	const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
	const dayOfMonth = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
	const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
	const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
	return `${year}-${String(month).padStart(2, '0')}-${String(dayOfMonth).padStart(2, '0')}`;
}

/** Returns the span of a UTC month such as `2026-11`; the end is exclusive. */
export function monthSpan(month: string): { readonly fromMs: number; readonly toMs: number } {
	const year = Number(month.slice(0, 4));
	const number = Number(month.slice(5, 7));
	return { fromMs: monthStartMs(year, number), toMs: number === 12 ? monthStartMs(year + 1, 1) : monthStartMs(year, number + 1) };
}

/** Returns the start of a UTC day, Unix milliseconds. @param month from 1. @param day from 1. */
export function dayStartMs(year: number, month: number, day: number): number {
	return monthStartMs(year, month) + (day - 1) * dayMs;
}

/** Returns the time in whole seconds by RFC 3339, such as `2026-11-21T10:31:00Z`. */
export function secondOf(nowMs: number): string {
	const seconds = Math.floor((nowMs % dayMs) / 1000);
	const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
	return `${dayOf(nowMs)}T${parts.map((part) => String(part).padStart(2, '0')).join(':')}Z`;
}

function monthStartMs(year: number, month: number): number {
	const marchYear = month <= 2 ? year - 1 : year;
	const era = Math.floor(marchYear / 400);
	const yearOfEra = marchYear - era * 400;
	const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
	const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
	return (era * 146_097 + dayOfEra - 719_468) * dayMs;
}
