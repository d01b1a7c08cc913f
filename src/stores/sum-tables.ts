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

/** Columns that identify a sum of a period, in the order of `summaryNames`. */
export const sumKeys = ['team', 'client', 'provider', 'model', 'endpoint', 'attributes'] as const;

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
export function periodBounds(fromMs: number, toMs: number, isByHour = false): PeriodBounds {
	const fromHour = Math.floor(fromMs / msPerHour);
	const toHour = Math.max(fromHour, Math.ceil(toMs / msPerHour));
	const fromDay = Math.ceil(fromHour / hoursPerDay);
	const toDay = Math.max(fromDay, Math.floor(toHour / hoursPerDay));
	const hasDays = toDay > fromDay && !isByHour;
	const headEnd = hasDays ? fromDay * hoursPerDay : toHour;
	const tailStart = hasDays ? toDay * hoursPerDay : toHour;
	return { fromHour, headEnd, tailStart, toHour, fromDay, toDay: hasDays ? toDay : fromDay };
}

export function sumsOf(columns: readonly string[]): string {
	return columns.map((column) => `coalesce(sum(${column}), 0) AS ${column}`).join(', ');
}

/** Columns of the keys by which entries and sums are compared. */
export const comparedKeys = ['team', 'endpoint', 'attributes'] as const;

/** @param row with the names of `comparedKeys`, and the columns `expected_` and `found_` for each amount. */
export function differencesIn(row: Readonly<Record<string, unknown>>, period: string): LedgerDifference[] {
	const named = comparedKeys.filter((key) => key === 'team' || row[key] !== '').map((key) => `${key} ${String(row[key])}`);
	return amounts
		.map((name) => ({
			what: `${period} ${named.join(' ')}: ${name}`,
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
