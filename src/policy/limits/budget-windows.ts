/**
 * Windows of budgets. Each begins with a whole UTC hour, because the ledger sums by hour: the first hour that begins at or after midnight of
 * the zone. In zones with half hours, a day therefore begins up to 45 minutes after midnight.
 */
import { type BudgetWindow, budgetWindows, type Weekday, type WindowSettings, weekdays } from '../../core/budget.ts';
import type { BudgetPeriod } from '../../core/counters.ts';
import { dayOf, dayStartMs, monthSpan, periodOf } from './utc-time.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface WindowSpan {
	/** Name in the counters: a UTC month, or its first UTC hour and its number of hours. */
	readonly period: string;
	/** Unix milliseconds, inclusive. */
	readonly fromMs: number;
	/** Unix milliseconds, exclusive. */
	readonly toMs: number;
}

/** Returns true for a name of the time zone database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
	if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
	try {
		return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
	} catch {
		return false;
	}
}

/** Returns the window that contains a time. */
export function windowAt(settings: WindowSettings, nowMs: number): WindowSpan {
	const hourStartMs = nowMs - (nowMs % hourMs);
	if (settings.window === 'hour') return spanFrom(hourStartMs, hourStartMs + hourMs);
	if (isUtc(settings.timezone) && settings.window === 'month') {
		const period = periodOf(nowMs);
		return { period, ...monthSpan(period) };
	}
	const zone = zoneOf(settings.timezone);
	let first = firstDayOf(zone.dayAt(hourStartMs), settings);
	let next = nextFirstDay(first, settings);
	// A clock that goes back at midnight repeats an hour of the day before, which belongs to the day that has begun.
	while (zone.startOf(next) <= nowMs) {
		first = next;
		next = nextFirstDay(first, settings);
	}
	return spanFrom(zone.startOf(first), zone.startOf(next));
}

/** Returns the span of a period. @throws RangeError for any other text. */
export function spanOfPeriod(period: string): WindowSpan {
	if (/^\d{4}-\d\d$/.test(period)) return { period, ...monthSpan(period) };
	const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d)\+(\d+)$/.exec(period);
	if (found === null) throw new RangeError(`\`${period}\` is no period of a budget`);
	const [year = 0, month = 0, day = 0, hour = 0, hours = 0] = found.slice(1).map(Number);
	const fromMs = dayStartMs(year, month, day) + hour * hourMs;
	return { period, fromMs, toMs: fromMs + hours * hourMs };
}

/** Returns milliseconds until a period ends; 0 when it has ended. */
export function msToPeriodEnd(period: string, nowMs: number): number {
	return Math.max(0, spanOfPeriod(period).toMs - nowMs);
}

const adjectives: Readonly<Record<BudgetWindow, string>> = { hour: 'Hourly', day: 'Daily', week: 'Weekly', month: 'Monthly' };

/** Returns `Monthly budget`, and the like, as rejections name it. */
export function budgetNoun(window: BudgetWindow): string {
	return `${adjectives[window]} budget`;
}

/** Returns the name of a budget in a ledger entry, which gives its window again at the time of the entry. */
export function ledgerBudgetName(budget: string, { window, timezone, weekStart }: WindowSettings): string {
	if (window === 'month' && isUtc(timezone)) return budget;
	const zone = window === 'hour' || isUtc(timezone) ? '' : `@${timezone}`;
	return `${window}${zone}${window === 'week' && weekStart !== 'monday' ? `~${weekStart}` : ''}|${budget}`;
}

/** Returns the counter that `ledgerBudgetName` names, for an entry that started at this time. */
export function budgetPeriodOf(name: string, startedMs: number): BudgetPeriod {
	const [prefix = '', window, timezone = 'UTC', weekStart = 'monday'] = windowPattern.exec(name) ?? [];
	if (!isWindow(window) || !isWeekday(weekStart) || !isTimeZone(timezone)) return { budget: name, period: periodOf(startedMs) };
	return { budget: name.slice(prefix.length), period: windowAt({ window, timezone, weekStart }, startedMs).period };
}

const windowPattern = /^(hour|day|week|month)(?:@([A-Za-z0-9_+/-]+))?(?:~([a-z]+))?\|/;

function isWindow(text: string | undefined): text is BudgetWindow {
	return budgetWindows.some((window) => window === text);
}

function isWeekday(text: string): text is Weekday {
	return weekdays.some((weekday) => weekday === text);
}

function isUtc(timezone: string): boolean {
	return timezone === 'UTC';
}

function spanFrom(fromMs: number, toMs: number): WindowSpan {
	return {
		period: `${dayOf(fromMs)}T${String(Math.floor((fromMs % dayMs) / hourMs)).padStart(2, '0')}+${(toMs - fromMs) / hourMs}`,
		fromMs,
		toMs,
	};
}

/** First day of the window that contains a day. Days are counted from 1970 in the zone's calendar. */
function firstDayOf(day: number, { window, weekStart }: WindowSettings): number {
	if (window === 'week') return day - weekdayNumber(day, weekStart);
	if (window === 'month') return Math.floor(monthSpan(periodOf(day * dayMs)).fromMs / dayMs);
	return day;
}

function nextFirstDay(first: number, { window }: WindowSettings): number {
	if (window === 'week') return first + 7;
	return window === 'month' ? Math.floor(monthSpan(periodOf(first * dayMs)).toMs / dayMs) : first + 1;
}

/** Days since the week began. 1970 began with a Thursday. */
function weekdayNumber(day: number, weekStart: Weekday): number {
	const sinceMonday = (((day + 3) % 7) + 7) % 7;
	return (sinceMonday - weekdays.indexOf(weekStart) + 7) % 7;
}

/** More hours than any zone is ahead of UTC, or behind it. */
const maxAheadHours = 15;
const maxHours = 2 * maxAheadHours;

/** Number of days whose starts a zone remembers, because a search needs several calendar lookups. */
const maxStarts = 100;

class Zone {
	readonly #starts = new Map<number, number>();
	readonly #format: Intl.DateTimeFormat;

	constructor(timezone: string) {
		this.#format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, year: 'numeric', month: 'numeric', day: 'numeric' });
	}

	/** Returns the number of the local day. */
	dayAt(nowMs: number): number {
		const [month = 1, day = 1, year = 1970] = this.#format.format(nowMs).split('/').map(Number);
		return dayStartMs(year, month, day) / dayMs;
	}

	/** Returns the first whole UTC hour of a local day. */
	startOf(day: number): number {
		let startMs = this.#starts.get(day);
		if (startMs === undefined) {
			startMs = this.#findStart(day);
			if (this.#starts.size >= maxStarts) this.#starts.clear();
			this.#starts.set(day, startMs);
		}
		return startMs;
	}

	#findStart(day: number): number {
		const fromMs = day * dayMs - maxAheadHours * hourMs;
		let [before, first] = [0, maxHours];
		while (first - before > 1) {
			const middle = Math.floor((before + first) / 2);
			if (this.dayAt(fromMs + middle * hourMs) >= day) first = middle;
			else before = middle;
		}
		return fromMs + first * hourMs;
	}
}

/** Bounded, because operators choose the names. */
const maxZones = 500;
const zones = new Map<string, Zone>();

function zoneOf(timezone: string): Zone {
	let zone = zones.get(timezone);
	if (zone === undefined) {
		if (zones.size >= maxZones) zones.clear();
		zone = new Zone(timezone);
		zones.set(timezone, zone);
	}
	return zone;
}
