import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SummaryQuery, SummaryRow } from '../../contracts/ledger.ts';
import { bigintOf } from '../database.ts';
import { usageOf } from './compact-rows.ts';
import { amounts } from './ledger-schema.ts';
import { hoursPerDay, msPerHour } from './ledger-sums.ts';

/** Whole days are read from the sums by day, what remains at either end from those by hour. */
export function createSummaries(database: DatabaseSync): (query: SummaryQuery) => SummaryRow[] {
	const statements = { day: prepareAll(database, '%Y-%m-%d'), month: prepareAll(database, '%Y-%m') };
	return ({ fromMs, toMs, period, team, isByModel = false }) => {
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
		const { all, models, team: ofOne } = statements[period];
		const rows = team === undefined ? (isByModel ? models : all).all(bounds) : ofOne.all({ ...bounds, team });
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

const nobody = 'NULL AS team, NULL AS client';
const columns = amounts.join(', ');
const totals = columns.replaceAll(/\w+/g, 'sum($&) AS $&');

function prepareAll(database: DatabaseSync, format: string): Record<'all' | 'team' | 'models', StatementSync> {
	return {
		all: prepare(database, format, range),
		team: prepare(database, format, ofTeam),
		models: prepare(database, format, range, nobody),
	};
}

interface Parts {
	/** Common table expressions, with a comma at their end. */
	readonly before: string;
	readonly hours: string;
	readonly days: string;
}

const range: Parts = {
	before: '',
	hours: 'hourly WHERE ((period >= :fromHour AND period < :headEnd) OR (period >= :tailStart AND period < :toHour))',
	days: 'daily WHERE period >= :fromDay AND period < :toDay',
};

/** Sums are ordered by period, then team: one look for each period finds a team's among those of all others. */
const ofTeam: Parts = {
	before: `
		wanted AS (SELECT id FROM names WHERE name = :team),
		heads (at) AS (SELECT :fromHour WHERE :fromHour < :headEnd UNION ALL SELECT at + 1 FROM heads WHERE at + 1 < :headEnd),
		tails (at) AS (SELECT :tailStart WHERE :tailStart < :toHour UNION ALL SELECT at + 1 FROM tails WHERE at + 1 < :toHour),
		ends AS (SELECT max(:fromDay, (SELECT min(period) FROM daily)) AS first, min(:toDay, (SELECT max(period) FROM daily) + 1) AS past),
		days (at) AS (SELECT first FROM ends WHERE first < past UNION ALL SELECT at + 1 FROM days WHERE at + 1 < (SELECT past FROM ends)),`,
	hours: '(SELECT at FROM heads UNION ALL SELECT at FROM tails) CROSS JOIN hourly ON period = at AND team = (SELECT id FROM wanted)',
	days: 'days CROSS JOIN daily ON period = at AND team = (SELECT id FROM wanted)',
};

/** @param who the columns of team and client among the totals. */
function prepare(database: DatabaseSync, format: string, { before, hours, days }: Parts, who = 'team, client'): StatementSync {
	const statement = database.prepare(`
		WITH RECURSIVE ${before} parts AS (
			SELECT period / ${hoursPerDay} AS day, team, client, provider, model, ${columns} FROM ${hours}
			UNION ALL
			SELECT period AS day, team, client, provider, model, ${columns} FROM ${days}
		), totals AS (
			SELECT strftime('${format}', day * 86400, 'unixepoch') AS period_name, ${who}, provider, model, ${totals}
			FROM parts GROUP BY period_name, ${who === nobody ? '' : 'team, client,'} provider, model
		)
		SELECT *,
			coalesce((SELECT name FROM names WHERE id = team), '') AS team_name,
			coalesce((SELECT name FROM names WHERE id = client), '') AS client_name,
			(SELECT name FROM names WHERE id = provider) AS provider_name,
			(SELECT name FROM names WHERE id = model) AS model_name
		FROM totals ORDER BY period_name, team_name, client_name, provider_name, model_name`);
	statement.setReadBigInts(true);
	return statement;
}
