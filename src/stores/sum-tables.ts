/** Definitions that the ledger's hourly and daily sums share in every database. */
import type { LedgerDifference } from './contracts/ledger.ts';

/** Columns of sums, which reports add up. */
export const amounts = [
	'requests',
	'input_tokens',
	'cache_read_tokens',
	'cache_write_tokens',
	'cache_write_hour_tokens',
	'output_tokens',
	'reasoning_tokens',
	'cost_nano_usd',
	'estimated_cost_nano_usd',
] as const;

export const msPerHour = 3_600_000;
export const hoursPerDay = 24;
export const msPerDay = hoursPerDay * msPerHour;

export interface PeriodBounds {
	readonly fromHour: number;
	readonly headEnd: number;
	readonly tailStart: number;
	readonly toHour: number;
	readonly fromDay: number;
	readonly toDay: number;
}

/** Whole days are read from the daily sums. Both ends, up to `headEnd` and from `tailStart`, are read from the hourly sums. */
export function periodBounds(fromMs: number, toMs: number): PeriodBounds {
	const fromHour = Math.floor(fromMs / msPerHour);
	const toHour = Math.max(fromHour, Math.ceil(toMs / msPerHour));
	const fromDay = Math.ceil(fromHour / hoursPerDay);
	const toDay = Math.max(fromDay, Math.floor(toHour / hoursPerDay));
	const hasDays = toDay > fromDay;
	const headEnd = hasDays ? fromDay * hoursPerDay : toHour;
	const tailStart = hasDays ? toDay * hoursPerDay : toHour;
	return { fromHour, headEnd, tailStart, toHour, fromDay, toDay };
}

export function sumsOf(columns: readonly string[]): string {
	return columns.map((column) => `coalesce(sum(${column}), 0) AS ${column}`).join(', ');
}

/** @param row with the columns `expected_` and `found_` for each amount. */
export function differencesIn(row: Readonly<Record<string, unknown>>, period: string, team: unknown): LedgerDifference[] {
	return amounts
		.map((name) => ({
			what: `${period} team ${String(team)}: ${name}`,
			expected: String(row[`expected_${name}`]),
			found: String(row[`found_${name}`]),
		}))
		.filter(({ expected, found }) => expected !== found);
}

export function hourName(hour: number): string {
	return new Date(hour * msPerHour).toISOString().slice(0, 13);
}

export function dayName(day: number): string {
	return new Date(day * msPerDay).toISOString().slice(0, 10);
}
