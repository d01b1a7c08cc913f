/** Adds the changes of a transaction to the hourly and daily sums, in the same order in every process. */

import { sql } from 'kysely';
import { otherAttributes } from '../../contracts/ledger.ts';
import { amounts, hoursPerDay, msPerHour, sumKeys } from '../../sum-tables.ts';
import { plainArray, textArray } from './array-literal.ts';
import type { Database } from './ledger-days.ts';
import { amountsOfEntry } from './postgres-ledger-schema.ts';

/** Columns of `changedSums`; numbers are bigints or decimal text. */
export interface SumChange {
	readonly hour: unknown;
	readonly team: string;
	readonly client: string;
	readonly provider: string;
	readonly model: string;
	readonly endpoint: string;
	readonly attributes: string;
	readonly requests: unknown;
	readonly input_tokens: unknown;
	readonly cache_read_tokens: unknown;
	readonly cache_write_tokens: unknown;
	readonly cache_write_hour_tokens: unknown;
	readonly output_tokens: unknown;
	readonly reasoning_tokens: unknown;
	readonly cost_nano_usd: unknown;
	readonly estimated_cost_nano_usd: unknown;
}

const tokensAndCost = amounts.slice(1);

/** Returning list of a changing statement, for `changedSums`. @param table whose columns it returns. */
export function changedEntry(table: string, requests: -1 | 0 | 1): string {
	const key = ['started_ms', 'team', 'client', 'provider', 'model', 'endpoint'].map((name) => `${table}.${name}`);
	return `${key.join(', ')}, ${summedAttributes(table)}, ${amountsOfEntry(table)}, ${requests} AS requests`;
}

/** Attributes under which the sums count the entries of a table. */
export function summedAttributes(table: string): string {
	return `CASE WHEN ${table}.is_summed_as_other THEN '${otherAttributes}' ELSE ${table}.attributes END AS attributes`;
}

/** Grouping of `changedSums`, by the hour and `sumKeys`. */
export const groupsOfSums = sql.raw([1, ...sumKeys.map((_, index) => index + 2)].join(', '));

/** Sums by hour over rows of the form `changedEntry`. */
export const changedSums = `
	SELECT started_ms / ${msPerHour} AS hour, ${sumKeys.join(', ')}, sum(requests) AS requests,
		${tokensAndCost.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(', ')}`;

/**
 * Locks rows by hour, then by day, each ordered by key, so that concurrent transactions never deadlock.
 * @param changes may contain several of one hour and key.
 */
export async function addToSums(transaction: Database, changes: readonly SumChange[]): Promise<void> {
	if (changes.length === 0) return;
	const hasMoved = changes.some(({ requests }) => Number(requests) < 0);
	const texts = (name: (typeof sumKeys)[number]): string => textArray(changes.map((change) => change[name]));
	const given = sql`unnest(${plainArray(changes.map(({ hour }) => String(hour)))}::int4[],
		${sql.join(sumKeys.map((key) => sql`${texts(key)}::text[]`))}, ${sql.join(
			amounts.map((name) => sql`${plainArray(changes.map((change) => String(change[name])))}::numeric[]`),
		)}) AS given (hour, ${sql.raw(sumKeys.join(', '))}, ${sql.raw(amounts.join(', '))})`;
	for (const [table, period] of [
		['ledger_hourly', 'hour'],
		['ledger_daily', `hour / ${hoursPerDay}`],
	] as const) {
		await sql`
			INSERT INTO ${sql.table(`tollgate.${table}`)} AS sums (period, ${sql.raw(sumKeys.join(', '))}, ${sql.raw(amounts.join(', '))})
			SELECT ${sql.raw(period)}, ${sql.raw(sumKeys.join(', '))}, ${sql.raw(amounts.map((name) => `sum(${name})`).join(', '))}
			FROM ${given} GROUP BY ${groupsOfSums}
			ORDER BY 1, ${sql.raw(sumKeys.map((key) => `${key} COLLATE "C"`).join(', '))}
			ON CONFLICT (period, team, client, provider, model, endpoint, tollgate.ledger_attributes_key(attributes)) DO UPDATE SET
			${sql.raw(amounts.map((name) => `${name} = sums.${name} + excluded.${name}`).join(', '))}`.execute(transaction);
		if (!hasMoved) continue;
		await sql`
			DELETE FROM ${sql.table(`tollgate.${table}`)} AS sums USING ${given}
			WHERE sums.period = ${sql.raw(period.replaceAll('hour', 'given.hour'))}
				AND ${sql.raw(sumKeys.map((key) => `sums.${key} = given.${key}`).join(' AND '))} AND sums.requests = 0`.execute(transaction);
	}
}
