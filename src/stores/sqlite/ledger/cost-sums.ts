import type { DatabaseSync } from 'node:sqlite';
import type { CostQuery } from '../../contracts/ledger.ts';
import { bigintOf } from '../database.ts';
import { hoursPerDay, msPerHour } from './ledger-sums.ts';

const msPerDay = hoursPerDay * msPerHour;

/** Sums are ordered by day, then team: one look for each day finds a team's among those of all others. */
export function createCostSums(database: DatabaseSync): (query: CostQuery) => bigint[] {
	const statement = database.prepare(`
		WITH RECURSIVE ends AS (
			SELECT max(:fromDay, (SELECT min(period) FROM daily)) AS first, min(:toDay, (SELECT max(period) FROM daily) + 1) AS past
		), days (at) AS MATERIALIZED (
			SELECT first FROM ends WHERE first < past UNION ALL SELECT at + 1 FROM days WHERE at + 1 < (SELECT past FROM ends)
		), wanted AS (
			SELECT key AS place, value ->> 1 IS NULL AS has_all_models,
				(SELECT id FROM names WHERE name = value ->> 0) AS team, (SELECT id FROM names WHERE name = value ->> 1) AS model
			FROM json_each(:of)
		)
		SELECT coalesce((
			SELECT sum(cost_nano_usd) FROM days CROSS JOIN daily
				ON period = at AND daily.team = wanted.team AND (has_all_models OR daily.model = wanted.model)
		), 0) AS cost FROM wanted ORDER BY place`);
	statement.setReadBigInts(true);
	return ({ fromMs, toMs, of }) =>
		statement
			.all({ fromDay: fromMs / msPerDay, toDay: toMs / msPerDay, of: JSON.stringify(of.map(({ team, model }) => [team, model])) })
			.map((row) => bigintOf(row, 'cost'));
}
