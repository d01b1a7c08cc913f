import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SummaryQuery, SummaryRow } from '../../contracts/ledger.ts';
import { bigintOf } from '../database.ts';
import { usageOf } from './compact-rows.ts';
import { amounts } from './ledger-schema.ts';
import { hoursPerDay, msPerHour } from './ledger-sums.ts';

/** Whole days are read from the sums by day, what remains at either end from those by hour. */
export function createSummaries(database: DatabaseSync): (query: SummaryQuery) => SummaryRow[] {
	const statements = {
		day: { all: prepare(database, '%Y-%m-%d', ''), team: prepare(database, '%Y-%m-%d', ofTeam) },
		month: { all: prepare(database, '%Y-%m', ''), team: prepare(database, '%Y-%m', ofTeam) },
	};
	return ({ fromMs, toMs, period, team }) => {
		const fromHour = Math.floor(fromMs / msPerHour);
		const toHour = Math.max(fromHour, Math.ceil(toMs / msPerHour));
		const fromDay = Math.ceil(fromHour / hoursPerDay);
		const toDay = Math.max(fromDay, Math.floor(toHour / hoursPerDay));
		const hasDays = toDay > fromDay;
		const bounds = {
			fromHour,
			headEnd: hasDays ? fromDay * hoursPerDay : toHour,
			tailStart: hasDays ? toDay * hoursPerDay : toHour,
			toHour,
			fromDay,
			toDay,
		};
		const rows = team === undefined ? statements[period].all.all(bounds) : statements[period].team.all({ ...bounds, team });
		return rows.map((row) => ({
			period: String(row['period_name']),
			team: String(row['team_name']),
			clientId: String(row['client_name']),
			provider: String(row['provider_name']),
			model: String(row['model_name']),
			requests: Number(row['requests']),
			usage: usageOf(row),
			costNanoUsd: bigintOf(row, 'cost_nano_usd'),
		}));
	};
}

const ofTeam = 'AND team = (SELECT id FROM names WHERE name = :team)';
const columns = amounts.join(', ');
const totals = columns.replaceAll(/\w+/g, 'sum($&) AS $&');

function prepare(database: DatabaseSync, format: string, condition: string): StatementSync {
	const statement = database.prepare(`
		WITH parts AS (
			SELECT period / ${hoursPerDay} AS day, team, client, provider, model, ${columns} FROM hourly
				WHERE ((period >= :fromHour AND period < :headEnd) OR (period >= :tailStart AND period < :toHour)) ${condition}
			UNION ALL
			SELECT period AS day, team, client, provider, model, ${columns} FROM daily
				WHERE period >= :fromDay AND period < :toDay ${condition}
		), totals AS (
			SELECT strftime('${format}', day * 86400, 'unixepoch') AS period_name, team, client, provider, model, ${totals}
			FROM parts GROUP BY period_name, team, client, provider, model
		)
		SELECT *,
			(SELECT name FROM names WHERE id = team) AS team_name,
			(SELECT name FROM names WHERE id = client) AS client_name,
			(SELECT name FROM names WHERE id = provider) AS provider_name,
			(SELECT name FROM names WHERE id = model) AS model_name
		FROM totals ORDER BY period_name, team_name, client_name, provider_name, model_name`);
	statement.setReadBigInts(true);
	return statement;
}
