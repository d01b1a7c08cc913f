import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type CostQuery, type SummaryName, type SummaryQuery, summaryNames, type UsageSummary } from '../../contracts/ledger.ts';
import { bigintOf } from '../../row.ts';
import { amounts, hoursPerDay, msPerDay, periodBounds } from '../../sum-tables.ts';
import { usageOf } from './compact-entries.ts';

export function createSummaries(database: DatabaseSync): (query: SummaryQuery) => UsageSummary[] {
	const statements = new Map<string, StatementSync>();
	return ({ fromMs, toMs, period, team, by = summaryNames, limit = -1, after }) => {
		const isOfTeam = team !== undefined;
		const kind = JSON.stringify([period, isOfTeam, summaryNames.map((name) => by.includes(name))]);
		const statement = statements.get(kind) ?? prepare(database, isOfTeam ? ofTeam : range, period, by);
		statements.set(kind, statement);
		const key = { period: '', team: '', clientId: '', provider: '', model: '', ...after };
		const past = { isFirst: after === undefined ? 1 : 0, afterPeriod: key.period, afterTeam: key.team, afterClient: key.clientId };
		const page = { ...past, afterProvider: key.provider, afterModel: key.model, limit };
		const rows = statement.all({ ...periodBounds(fromMs, toMs), ...page, ...(isOfTeam && { team }) });
		return rows.map((row) => ({
			period: String(row['period_name']),
			team: String(row['team_name']),
			clientId: String(row['client_name']),
			provider: String(row['provider_name']),
			model: String(row['model_name']),
			requests: Number(row['requests']),
			usage: usageOf(row),
			costNanoUsd: bigintOf(row, 'cost_nano_usd'),
			estimatedCostNanoUsd: bigintOf(row, 'estimated_cost_nano_usd'),
		}));
	};
}

const columns = amounts.join(', ');
const totals = columns.replaceAll(/\w+/g, 'sum($&) AS $&');
const formats = { day: '%Y-%m-%d', month: '%Y-%m' } as const;

interface Parts {
	/** Common table expressions with a trailing comma. */
	readonly before: string;
	readonly hours: string;
	readonly days: string;
}

const range: Parts = {
	before: '',
	hours: 'hourly WHERE ((period >= :fromHour AND period < :headEnd) OR (period >= :tailStart AND period < :toHour))',
	days: 'daily WHERE period >= :fromDay AND period < :toDay',
};

/** Sums are ordered by period, then team: one lookup for each period finds the sums of a team. */
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

function prepare(
	database: DatabaseSync,
	{ before, hours, days }: Parts,
	period: SummaryQuery['period'],
	by: readonly SummaryName[],
): StatementSync {
	const name = period === 'all' ? `''` : `strftime('${formats[period]}', day * 86400, 'unixepoch')`;
	const retained = summaryNames.filter((one) => by.includes(one)).map((one) => keys[one]);
	const shown = Object.values(keys).map((key) => (retained.includes(key) ? key : `NULL AS ${key}`));
	const statement = database.prepare(`
		WITH RECURSIVE ${before} parts AS (
			SELECT period / ${hoursPerDay} AS day, team, client, provider, model, ${columns} FROM ${hours}
			UNION ALL
			SELECT period AS day, team, client, provider, model, ${columns} FROM ${days}
		), totals AS (
			SELECT ${name} AS period_name, ${shown.join(', ')}, ${totals} FROM parts GROUP BY ${['period_name', ...retained].join(', ')}
		), rows AS (
			SELECT *, ${Object.values(keys)
				.map((key) => `coalesce((SELECT name FROM names WHERE id = ${key}), '') AS ${key}_name`)
				.join(', ')}
			FROM totals
		)
		SELECT * FROM rows
		WHERE :isFirst OR (period_name, team_name, client_name, provider_name, model_name)
			> (:afterPeriod, :afterTeam, :afterClient, :afterProvider, :afterModel)
		ORDER BY period_name, team_name, client_name, provider_name, model_name LIMIT :limit`);
	statement.setReadBigInts(true);
	return statement;
}

const keys = { team: 'team', clientId: 'client', provider: 'provider', model: 'model' } as const satisfies Record<SummaryName, string>;

/** Sums are ordered by day, then team: one lookup for each day finds the sums of a team. */
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
