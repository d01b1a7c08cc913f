import { type RawBuilder, sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import type { LedgerDifference } from '../../contracts/ledger.ts';
import { amounts, comparedKeys, dayName, differencesIn, hourName, hoursPerDay, msPerHour, sumsOf } from '../../sum-tables.ts';
import { type Database, listDays } from './ledger-days.ts';
import { amountsOfEntry } from './postgres-ledger-schema.ts';
import { summedAttributes } from './sum-changes.ts';

/**
 * Compares rows with sums by hour and `comparedKeys`, day by day, where no row may have been pruned. Also compares hourly with daily sums for all
 * time. Each comparison is one statement, and thus one snapshot.
 */
export async function checkLedger(db: Database): Promise<readonly LedgerDifference[]> {
	const { rows } = await sql<{ pruned: bigint; first: number | null; last: number | null }>`
		SELECT (SELECT pruned_before_ms FROM tollgate.ledger_progress) AS pruned, min(period) AS first, max(period) AS last
		FROM tollgate.ledger_hourly`.execute(db);
	const { pruned = 0n, first = null, last = null } = rows[0] ?? {};
	const prunedHour = Number(pruned) / msPerHour;
	const hours = first === null || last === null ? [] : [dayNumberOf(first * msPerHour), dayNumberOf(last * msPerHour)];
	const days = [...(await listDays(db)), ...hours];
	const differences: LedgerDifference[] = [];
	for (let day = Math.max(Math.min(...days), Math.floor(prunedHour / hoursPerDay)); day <= Math.max(...days); day++) {
		differences.push(...(await checkHours(db, Math.max(day * hoursPerDay, prunedHour), (day + 1) * hoursPerDay)));
	}
	return [...differences, ...(await checkDays(db))];
}

async function checkHours(db: Database, fromHour: number, toHour: number): Promise<LedgerDifference[]> {
	// Literal numbers, so that the plan excludes the other partitions.
	const ofRows = sql.raw(`started_ms >= ${fromHour * msPerHour} AND started_ms < ${toHour * msPerHour}`);
	const rows = sql`SELECT started_ms / ${sql.raw(String(msPerHour))} AS period, ${keys}, count(*) AS requests,
		${sql.raw(sumsOf(amounts.slice(1)))}
		FROM (
			SELECT started_ms, team, endpoint, ${sql.raw(summedAttributes('calls'))}, ${sql.raw(amountsOfEntry('calls'))}
			FROM tollgate.ledger_calls AS calls WHERE ${ofRows}
		) AS calls GROUP BY 1, ${keys}`;
	const sums = sql`SELECT period, ${keys}, ${sql.raw(sumsOf(amounts))} FROM tollgate.ledger_hourly
		WHERE period >= ${fromHour} AND period < ${toHour} GROUP BY 1, ${keys}`;
	return compare(db, rows, sums, hourName);
}

async function checkDays(db: Database): Promise<LedgerDifference[]> {
	const ofHours = sql`SELECT period / ${sql.raw(String(hoursPerDay))} AS period, ${keys}, ${sql.raw(sumsOf(amounts))}
		FROM tollgate.ledger_hourly GROUP BY 1, ${keys}`;
	const ofDays = sql`SELECT period, ${keys}, ${sql.raw(sumsOf(amounts))} FROM tollgate.ledger_daily GROUP BY 1, ${keys}`;
	return compare(db, ofHours, ofDays, dayName);
}

const keys = sql.raw(comparedKeys.join(', '));

async function compare(
	db: Database,
	expected: RawBuilder<unknown>,
	found: RawBuilder<unknown>,
	nameOf: (period: number) => string,
): Promise<LedgerDifference[]> {
	const both = amounts.map((name) => `coalesce(e.${name}, 0)::text AS expected_${name}, coalesce(f.${name}, 0)::text AS found_${name}`);
	const { rows } = await sql<Record<string, unknown>>`
		SELECT period::text AS period, ${keys}, ${sql.raw(both.join(', '))}
		FROM (${expected}) AS e FULL JOIN (${found}) AS f USING (period, ${keys})
		WHERE ${sql.raw(amounts.map((name) => `coalesce(e.${name}, 0) <> coalesce(f.${name}, 0)`).join(' OR '))}
		ORDER BY 1, ${keys}`.execute(db);
	return rows.flatMap((row) => differencesIn(row, nameOf(Number(row['period']))));
}
