import type { DatabaseSync } from 'node:sqlite';
import type { LedgerDifference } from '../../contracts/ledger.ts';
import type { Row } from '../../row.ts';
import { amounts, dayName, differencesIn, hourName, hoursPerDay, msPerHour, sumsOf } from '../../sum-tables.ts';
import { amountsOfEntry } from './ledger-schema.ts';

/** Compares rows with sums by hour and team, where no row may have been pruned, and hourly with daily sums for all time. */
export function createLedgerCheck(database: DatabaseSync): () => LedgerDifference[] {
	const rows = `
		SELECT started_ms / ${msPerHour} AS period, team, count(*) AS requests, ${sumsOf(amounts.slice(1))}
		FROM (SELECT started_ms, team, ${amountsOfEntry} FROM calls WHERE started_ms >= (SELECT pruned_before_ms FROM progress)) GROUP BY 1, 2`;
	const hours = `
		SELECT period, team, ${sumsOf(amounts)} FROM hourly
		WHERE period * ${msPerHour} >= (SELECT pruned_before_ms FROM progress) GROUP BY 1, 2`;
	const daysOfHours = `SELECT period / ${hoursPerDay} AS period, team, ${sumsOf(amounts)} FROM hourly GROUP BY 1, 2`;
	const days = `SELECT period, team, ${sumsOf(amounts)} FROM daily GROUP BY 1, 2`;
	const ofHours = prepareComparison(database, rows, hours);
	const ofDays = prepareComparison(database, daysOfHours, days);
	return () => {
		database.exec('BEGIN');
		try {
			return [
				...ofHours().flatMap((row) => differencesIn(row, hourName(Number(row['period'])), row['team_name'])),
				...ofDays().flatMap((row) => differencesIn(row, dayName(Number(row['period'])), row['team_name'])),
			];
		} finally {
			if (database.isTransaction) database.exec('COMMIT');
		}
	};
}

function prepareComparison(database: DatabaseSync, expected: string, found: string): () => Row[] {
	const both = amounts.map(
		(name) => `sum(${name}) FILTER (WHERE side = 0) AS e_${name}, sum(${name}) FILTER (WHERE side = 1) AS f_${name}`,
	);
	const compared = amounts.map((name) => `coalesce(e_${name}, 0) AS expected_${name}, coalesce(f_${name}, 0) AS found_${name}`);
	const statement = database.prepare(`
		WITH pairs AS (
			SELECT period, team, ${both.join(', ')}
			FROM (SELECT 0 AS side, * FROM (${expected}) UNION ALL SELECT 1, * FROM (${found})) GROUP BY period, team
		)
		SELECT period, (SELECT name FROM names WHERE id = team) AS team_name, ${compared.join(', ')} FROM pairs
		WHERE ${amounts.map((name) => `expected_${name} <> found_${name}`).join(' OR ')}
		ORDER BY period, team_name`);
	statement.setReadBigInts(true);
	return () => statement.all();
}
