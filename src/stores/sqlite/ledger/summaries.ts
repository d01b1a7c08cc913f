import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
	type CostQuery,
	type CostScope,
	defaultSummaryNames,
	otherAttributes,
	type SummaryName,
	type SummaryQuery,
	summaryNames,
	type UsageSummary,
} from '../../contracts/ledger.ts';
import { bigintOf } from '../../row.ts';
import { amounts, hoursPerDay, msPerHour, type PeriodBounds, periodBounds, sumKeys } from '../../sum-tables.ts';
import { usageOf } from './compact-entries.ts';

export function createSummaries(database: DatabaseSync): (query: SummaryQuery) => UsageSummary[] {
	const statements = new Map<string, StatementSync>();
	return ({ fromMs, toMs, period, team, by = defaultSummaryNames, attributeNames, limit = -1, after }) => {
		const isOfTeam = team !== undefined;
		const reduced = by.includes('attributes') ? attributeNames?.toSorted() : undefined;
		const kind = JSON.stringify([period, isOfTeam, summaryNames.map((name) => by.includes(name)), reduced?.length]);
		const statement = statements.get(kind) ?? prepare(database, isOfTeam ? ofTeam : range, period, by, reduced?.length);
		statements.set(kind, statement);
		const page = { isFirst: after === undefined ? 1 : 0, afterPeriod: after?.period ?? '', limit };
		const key = Object.fromEntries(summaryNames.map((name) => [`after_${keys[name]}`, after?.[name] ?? '']));
		const attributes = Object.fromEntries((reduced ?? []).map((name, index) => [`attribute${index}`, name]));
		const bounds = periodBounds(fromMs, toMs, period === 'hour');
		const rows = statement.all({ ...bounds, ...page, ...key, ...attributes, ...(isOfTeam && { team }) });
		return rows.map((row) => ({
			period: String(row['period_name']),
			team: String(row['team_name']),
			clientId: String(row['client_name']),
			provider: String(row['provider_name']),
			model: String(row['model_name']),
			endpoint: String(row['endpoint_name']),
			attributes: String(row['attributes_name']),
			requests: Number(row['requests']),
			usage: usageOf(row),
			costNanoUsd: bigintOf(row, 'cost_nano_usd'),
			estimatedCostNanoUsd: bigintOf(row, 'estimated_cost_nano_usd'),
		}));
	};
}

const columns = amounts.join(', ');
const totals = columns.replaceAll(/\w+/g, 'sum($&) AS $&');
const formats = { hour: '%Y-%m-%dT%H', day: '%Y-%m-%d', month: '%Y-%m' } as const;

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
		limits AS (SELECT (SELECT min(period) FROM hourly) AS first_hour, (SELECT max(period) FROM hourly) + 1 AS past_hour,
			(SELECT min(period) FROM daily) AS first_day, (SELECT max(period) FROM daily) + 1 AS past_day),
		ends (at, past) AS (
			SELECT max(:fromHour, first_hour), min(:headEnd, past_hour) FROM limits
			UNION ALL SELECT max(:tailStart, first_hour), min(:toHour, past_hour) FROM limits),
		hours (at, past) AS (SELECT at, past FROM ends WHERE at < past UNION ALL SELECT at + 1, past FROM hours WHERE at + 1 < past),
		days (at, past) AS (SELECT max(:fromDay, first_day), min(:toDay, past_day) FROM limits WHERE max(:fromDay, first_day) < min(:toDay, past_day)
			UNION ALL SELECT at + 1, past FROM days WHERE at + 1 < past),`,
	hours: 'hours CROSS JOIN hourly ON period = at AND team = (SELECT id FROM wanted)',
	days: 'days CROSS JOIN daily ON period = at AND team = (SELECT id FROM wanted)',
};

/** @param attributeCount number of attributes that distinguish sums; undefined for all. */
function prepare(
	database: DatabaseSync,
	{ before, hours, days }: Parts,
	period: SummaryQuery['period'],
	by: readonly SummaryName[],
	attributeCount: number | undefined,
): StatementSync {
	const hour = `strftime('${formats[period === 'all' ? 'hour' : period]}', hour * ${msPerHour / 1000}, 'unixepoch')`;
	const retained = summaryNames.filter((one) => by.includes(one)).map((one) => keys[one]);
	const shown = sumKeys.map((key) => (retained.includes(key) ? key : `NULL AS ${key}`));
	const names = sumKeys.map((key) => `${key}_name`).join(', ');
	const rows =
		attributeCount === undefined
			? 'SELECT * FROM named'
			: `SELECT period_name, ${names.replace('attributes_name', `${reducedAttributes(attributeCount)} AS attributes_name`)}, ${totals}
				FROM named GROUP BY ${sumKeys.map((_, index) => index + 2).join(', ')}, 1`;
	const statement = database.prepare(`
		WITH RECURSIVE ${before} parts AS (
			SELECT period AS hour, ${sumKeys.join(', ')}, ${columns} FROM ${hours}
			UNION ALL
			SELECT period * ${hoursPerDay} AS hour, ${sumKeys.join(', ')}, ${columns} FROM ${days}
		), totals AS (
			SELECT ${period === 'all' ? `''` : hour} AS period_name, ${shown.join(', ')}, ${totals}
			FROM parts GROUP BY ${['period_name', ...retained].join(', ')}
		), named AS (
			SELECT period_name, ${sumKeys.map((key) => `coalesce((SELECT name FROM names WHERE id = ${key}), '') AS ${key}_name`).join(', ')}, ${columns}
			FROM totals
		), rows AS (${rows})
		SELECT * FROM rows
		WHERE :isFirst OR (period_name, ${names}) > (:afterPeriod, ${sumKeys.map((key) => `:after_${key}`).join(', ')})
		ORDER BY period_name, ${names} LIMIT :limit`);
	statement.setReadBigInts(true);
	return statement;
}

/** Writes the chosen attributes as `attributesText` would. */
function reducedAttributes(count: number): string {
	const members = Array.from(
		{ length: count },
		(_, index) => `'"' || :attribute${index} || '":' || (attributes_name -> :attribute${index})`,
	);
	return `CASE WHEN attributes_name IN ('', '${otherAttributes}') THEN attributes_name
		ELSE coalesce('{' || nullif(concat_ws(',', ${members.join(', ')}), '') || '}', '') END`;
}

const keys = {
	team: 'team',
	clientId: 'client',
	provider: 'provider',
	model: 'model',
	endpoint: 'endpoint',
	attributes: 'attributes',
} as const satisfies Record<SummaryName, string>;

/** Scope without attribute, as parameters of a statement. */
type Scope = Readonly<Record<'team' | 'client' | 'provider' | 'model', string | null>>;

export function createCostSums(database: DatabaseSync): (query: CostQuery) => bigint[] {
	const ofScope = (['client', 'provider', 'model'] as const)
		.map((key) => `AND (:${key} IS NULL OR ${key} = (SELECT id FROM names WHERE name = :${key}))`)
		.join(' ');
	const ofSums = `${ofScope} AND (:attributes IS NULL OR attributes IN (SELECT value FROM json_each(:attributes)))`;
	const sums = database.prepare(`
		WITH RECURSIVE ${ofTeam.before} parts AS (
			SELECT cost_nano_usd FROM ${ofTeam.hours} ${ofSums} UNION ALL SELECT cost_nano_usd FROM ${ofTeam.days} ${ofSums}
		)
		SELECT coalesce(sum(cost_nano_usd), 0) AS cost FROM parts`);
	sums.setReadBigInts(true);
	const sets = database.prepare(`
		WITH RECURSIVE days (at) AS (SELECT max(:fromDay, (SELECT min(day) FROM attribute_sets))
			UNION ALL SELECT at + 1 FROM days WHERE at + 1 < min(:toDay, (SELECT max(day) FROM attribute_sets) + 1))
		SELECT DISTINCT attributes FROM days CROSS JOIN attribute_sets ON day = at AND team = (SELECT id FROM names WHERE name = :team)
			JOIN names ON names.id = attributes
		WHERE name ->> :name = :value`);
	const others = database.prepare(`
		SELECT coalesce(sum(cost_nano_usd), 0) AS cost FROM calls
		WHERE other_attributes IS NOT NULL AND team = (SELECT id FROM names WHERE name = :team) AND started_ms >= :fromMs AND started_ms < :toMs
			AND outcome IS NOT NULL AND other_attributes ->> :name = :value ${ofScope}`);
	others.setReadBigInts(true);
	const costOf = (scope: Scope, bounds: PeriodBounds, attributes: string | null): bigint =>
		bigintOf(sums.get({ ...bounds, ...scope, attributes }) ?? {}, 'cost');
	const costOfAttribute = (scope: Scope, bounds: PeriodBounds, attribute: NonNullable<CostScope['attribute']>): bigint => {
		const { fromHour, toHour } = bounds;
		const days = { fromDay: Math.floor(fromHour / hoursPerDay), toDay: Math.ceil(toHour / hoursPerDay) };
		const found = sets.all({ ...days, ...attribute, team: scope.team }).map((row) => Number(row['attributes']));
		const ofOthers = others.get({ fromMs: fromHour * msPerHour, toMs: toHour * msPerHour, ...attribute, ...scope }) ?? {};
		return costOf(scope, bounds, JSON.stringify(found)) + bigintOf(ofOthers, 'cost');
	};
	return ({ fromMs, toMs, of }) => {
		const bounds = periodBounds(fromMs, toMs);
		return inSnapshot(database, () =>
			of.map(({ team, model, clientId = null, provider = null, attribute = null }) => {
				const scope = { team, client: clientId, provider, model };
				return attribute === null ? costOf(scope, bounds, null) : costOfAttribute(scope, bounds, attribute);
			}),
		);
	};
}

/** Runs several statements in one transaction, because the writer commits between separate ones. */
export function inSnapshot<Result>(database: DatabaseSync, read: () => Result): Result {
	if (database.isTransaction) return read();
	database.exec('BEGIN');
	try {
		return read();
	} finally {
		if (database.isTransaction) database.exec('COMMIT');
	}
}
