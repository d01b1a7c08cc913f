import type { DatabaseSync } from 'node:sqlite';
import type { LedgerDifference } from '../../contracts/ledger.ts';
import type { Row } from '../../row.ts';
import { amounts, comparedKeys, dayName, differencesIn, hourName, hoursPerDay, msPerHour, sumsOf } from '../../sum-tables.ts';
import { amountsOfEntry } from './ledger-schema.ts';

/** Compares rows with sums by hour and `comparedKeys`, where no row may have been pruned, and hourly with daily sums for all time. */
export function createLedgerCheck(database: DatabaseSync): () => LedgerDifference[] {
	const rows = `
		SELECT started_ms / ${msPerHour} AS period, ${keys}, count(*) AS requests, ${sumsOf(amounts.slice(1))}
		FROM (SELECT started_ms, ${keys}, ${amountsOfEntry} FROM calls WHERE started_ms >= (SELECT pruned_before_ms FROM progress))
		GROUP BY 1, ${keys}`;
	const hours = `
		SELECT period, ${keys}, ${sumsOf(amounts)} FROM hourly
		WHERE period * ${msPerHour} >= (SELECT pruned_before_ms FROM progress) GROUP BY 1, ${keys}`;
	const daysOfHours = `SELECT period / ${hoursPerDay} AS period, ${keys}, ${sumsOf(amounts)} FROM hourly GROUP BY 1, ${keys}`;
	const days = `SELECT period, ${keys}, ${sumsOf(amounts)} FROM daily GROUP BY 1, ${keys}`;
	const ofHours = prepareComparison(database, rows, hours);
	const ofDays = prepareComparison(database, daysOfHours, days);
	return () => {
		database.exec('BEGIN');
		try {
			return [
				...ofHours().flatMap((row) => differencesIn(row, hourName(Number(row['period'])))),
				...ofDays().flatMap((row) => differencesIn(row, dayName(Number(row['period'])))),
			];
		} finally {
			if (database.isTransaction) database.exec('COMMIT');
		}
	};
}

const keys = comparedKeys.join(', ');
const names = comparedKeys.map((key) => `coalesce((SELECT name FROM names WHERE id = pairs.${key}), '') AS ${key}`);

function prepareComparison(database: DatabaseSync, expected: string, found: string): () => Row[] {
	const both = amounts.map(
		(name) => `sum(${name}) FILTER (WHERE side = 0) AS e_${name}, sum(${name}) FILTER (WHERE side = 1) AS f_${name}`,
	);
	const compared = amounts.map((name) => `coalesce(e_${name}, 0) AS expected_${name}, coalesce(f_${name}, 0) AS found_${name}`);
	const statement = database.prepare(`
		WITH pairs AS (
			SELECT period, ${keys}, ${both.join(', ')}
			FROM (SELECT 0 AS side, * FROM (${expected}) UNION ALL SELECT 1, * FROM (${found})) GROUP BY period, ${keys}
		)
		SELECT period, ${names.join(', ')}, ${compared.join(', ')} FROM pairs
		WHERE ${amounts.map((name) => `expected_${name} <> found_${name}`).join(' OR ')}
		ORDER BY period, 2, 3, 4`);
	statement.setReadBigInts(true);
	return () => statement.all();
}
