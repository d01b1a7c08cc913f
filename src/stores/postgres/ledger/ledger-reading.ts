/** Reports from PostgreSQL, in the order and form of every ledger. */

import { type RawBuilder, sql } from 'kysely';
import {
	type CostQuery,
	type CostScope,
	defaultSummaryNames,
	type EntryPage,
	type EntryQuery,
	type LedgerEntry,
	maxEntriesScanned,
	type OpenRequest,
	otherAttributes,
	type RequestOutcome,
	type SummaryName,
	type SummaryQuery,
	type TeamQuery,
	type TeamSnapshot,
	type UsageSummary,
} from '../../contracts/ledger.ts';
import { decodeJson, listOf, textFrom } from '../../decode.ts';
import { amounts, hoursPerDay, msPerHour, periodBounds, sumKeys } from '../../sum-tables.ts';
import { textArray } from './array-literal.ts';
import type { Database } from './ledger-days.ts';
import { groupsOfSums } from './sum-changes.ts';

export async function summarize(
	db: Database,
	{ fromMs, toMs, period, team, by = defaultSummaryNames, attributeNames, limit, after }: SummaryQuery,
): Promise<readonly UsageSummary[]> {
	const { fromHour, headEnd, tailStart, toHour, fromDay, toDay } = periodBounds(fromMs, toMs, period === 'hour');
	const ofTeam = team === undefined ? sql`` : sql`AND team = ${team}`;
	const who = Object.entries(keyColumns).map(([name, column]) => {
		if (!by.some((one) => one === name)) return sql.raw(`'' AS ${column}`);
		return column === 'attributes' && attributeNames !== undefined ? reducedAttributes(attributeNames) : sql.raw(column);
	});
	const columns = sql`${sql.join(who)}, ${sql.raw(amounts.join(', '))}`;
	const periodName = period === 'all' ? sql`''` : sql`to_char(timestamp '1970-01-01' + hour * interval '1 hour', ${formats[period]})`;
	const past =
		after &&
		sql`WHERE (period, ${keys}) > (${after.period}, ${after.team}, ${after.clientId}, ${after.provider}, ${after.model}, ${after.endpoint},
			${after.attributes})`;
	const { rows } = await sql<SumRow>`
		WITH parts AS (
			SELECT period AS hour, ${columns} FROM tollgate.ledger_hourly
				WHERE ((period >= ${fromHour} AND period < ${headEnd}) OR (period >= ${tailStart} AND period < ${toHour})) ${ofTeam}
			UNION ALL
			SELECT period * ${sql.raw(String(hoursPerDay))}, ${columns} FROM tollgate.ledger_daily WHERE period >= ${fromDay} AND period < ${toDay} ${ofTeam}
		), totals AS (
			SELECT ${periodName} AS period, ${keys},
				${sql.raw(amounts.map((name) => `sum(${name}) AS ${name}`).join(', '))}
			FROM parts GROUP BY ${groupsOfSums}
		)
		SELECT * FROM totals ${past ?? sql``} ORDER BY ${groupsOfSums} LIMIT ${limit ?? null}`.execute(db);
	return rows.map((row) => ({
		period: row.period,
		team: row.team,
		clientId: row.client,
		provider: row.provider,
		model: row.model,
		endpoint: row.endpoint,
		attributes: row.attributes,
		requests: Number(row.requests),
		usage: usageOf(row),
		costNanoUsd: BigInt(row.cost_nano_usd),
		estimatedCostNanoUsd: BigInt(row.estimated_cost_nano_usd),
	}));
}

const formats = { hour: 'YYYY-MM-DD"T"HH24', day: 'YYYY-MM-DD', month: 'YYYY-MM' } as const;

const keys = sql.raw(sumKeys.join(', '));

/** Writes the chosen attributes as `attributesText` would. */
function reducedAttributes(names: readonly string[]): RawBuilder<unknown> {
	const members = names.toSorted().map((name) => sql`${`"${name}":`}::text || (attributes::json -> ${name}::text)::text`);
	return sql`CASE WHEN attributes IN ('', ${otherAttributes}) THEN attributes
		ELSE coalesce('{' || nullif(concat_ws(',', ${sql.join(members)}), '') || '}', '') END COLLATE "C" AS attributes`;
}

const keyColumns = {
	team: 'team',
	clientId: 'client',
	provider: 'provider',
	model: 'model',
	endpoint: 'endpoint',
	attributes: 'attributes',
} as const satisfies Record<SummaryName, string>;

export async function sumCosts(db: Database, { fromMs, toMs, of }: CostQuery): Promise<readonly bigint[]> {
	if (of.length === 0) return [];
	const { fromHour, headEnd, tailStart, toHour, fromDay, toDay } = periodBounds(fromMs, toMs);
	const teams = textArray(of.map(({ team }) => team));
	const texts = (valueOf: (scope: CostScope) => string | null | undefined): RawBuilder<unknown> =>
		sql`${textArray(of.map((scope) => valueOf(scope) ?? null))}::text[]`;
	const hasAttribute = of.some(({ attribute = null }) => attribute !== null);
	// Sums of all attributes are one, unless a scope distinguishes them.
	const attributes = hasAttribute ? sql`attributes` : sql`''`;
	const sums = sql`team, client, provider, model, ${attributes} AS attributes, cost_nano_usd`;
	// Literal numbers, so that the plan excludes the other partitions.
	const ofEntries = sql.raw(`started_ms >= ${fromHour * msPerHour} AND started_ms < ${toHour * msPerHour}`);
	const others = sql`
		UNION ALL SELECT true, team, client, provider, model, attributes, cost_nano_usd FROM tollgate.ledger_calls
			WHERE is_summed_as_other AND outcome IS NOT NULL AND ${ofEntries} AND team = ANY(${teams}::text[])`;
	const { rows } = await sql<{ cost: string }>`
		WITH wanted AS (
			SELECT * FROM unnest(${teams}::text[], ${texts(({ clientId }) => clientId)}, ${texts(({ provider }) => provider)},
				${texts(({ model }) => model)}, ${texts(({ attribute }) => attribute?.name)}, ${texts(({ attribute }) => attribute?.value)})
				WITH ORDINALITY AS of (team, client, provider, model, name, value, place)
		), parts AS (
			SELECT false AS is_entry, ${sums} FROM tollgate.ledger_hourly
				WHERE ((period >= ${fromHour} AND period < ${headEnd}) OR (period >= ${tailStart} AND period < ${toHour})) AND team = ANY(${teams}::text[])
			UNION ALL SELECT false, ${sums} FROM tollgate.ledger_daily
				WHERE period >= ${fromDay} AND period < ${toDay} AND team = ANY(${teams}::text[])
			${hasAttribute ? others : sql``}
		), sums AS (
			SELECT is_entry, team, client, provider, model, attributes, sum(cost_nano_usd) AS cost FROM parts GROUP BY 1, 2, 3, 4, 5, 6
		)
		SELECT coalesce(sum(cost), 0) AS cost
		FROM wanted LEFT JOIN sums ON sums.team = wanted.team
			AND (wanted.client IS NULL OR sums.client = wanted.client)
			AND (wanted.provider IS NULL OR sums.provider = wanted.provider)
			AND (wanted.model IS NULL OR sums.model = wanted.model)
			AND CASE WHEN wanted.name IS NULL THEN NOT is_entry ELSE nullif(sums.attributes, '')::json ->> wanted.name = wanted.value END
		GROUP BY place ORDER BY place`.execute(db);
	return rows.map(({ cost }) => BigInt(cost));
}

const maxRows = 1000;
const cursorPattern = /^[1-9]\d{0,17}$/;

/** @throws RangeError */
export function requireCursor({ cursor }: EntryQuery): void {
	if (cursor !== undefined && !cursorPattern.test(cursor)) {
		throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
	}
}

/** Lists rows. A cursor is the sequence number of its page's last row, so that later rows shift nothing. */
export async function listEntries(db: Database, { team, limit, cursor, ...filters }: EntryQuery): Promise<EntryPage> {
	const max = Math.max(1, Math.min(limit, maxRows));
	const columns = { client: filters.clientId, provider: filters.provider, model: filters.model, outcome: filters.outcome };
	const wanted = Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`]));
	const newest = sql`
		FROM tollgate.ledger_calls
		WHERE ${team === undefined ? sql`true` : sql`team = ${team}`} AND ${cursor === undefined ? sql`true` : sql`sequence < ${cursor}`}
		ORDER BY sequence DESC`;
	const scanned = sql`${newest} LIMIT ${maxEntriesScanned}`;
	const { rows: found } = await (wanted.length === 0
		? sql<EntryColumns>`SELECT * ${newest} LIMIT ${max + 1}`
		: sql<EntryColumns>`
			SELECT * FROM (SELECT * ${scanned}) AS looked WHERE ${sql.join(wanted, sql` AND `)} ORDER BY sequence DESC LIMIT ${max + 1}`
	).execute(db);
	const rows = found.slice(0, max).map(ledgerEntryOf);
	if (found.length > max) return { rows, nextCursor: found[max - 1]?.sequence.toString() ?? null };
	if (wanted.length === 0) return { rows, nextCursor: null };
	const { rows: ends } = await sql<{ count: Whole; last: Whole }>`
		SELECT count(*) AS count, min(sequence) AS last FROM (SELECT sequence ${scanned}) AS looked`.execute(db);
	const [end] = ends;
	return { rows, nextCursor: end !== undefined && Number(end.count) === maxEntriesScanned ? end.last.toString() : null };
}

/** Bigint for columns, decimal text for sums. */
type Whole = bigint | string;

interface CountColumns {
	readonly input_tokens: Whole;
	readonly cache_read_tokens: Whole;
	readonly cache_write_tokens: Whole;
	readonly cache_write_hour_tokens: Whole;
	readonly output_tokens: Whole;
	readonly reasoning_tokens: Whole;
	readonly cost_nano_usd: Whole;
}

interface SumRow extends CountColumns {
	readonly period: string;
	readonly team: string;
	readonly client: string;
	readonly provider: string;
	readonly model: string;
	readonly endpoint: string;
	readonly attributes: string;
	readonly requests: Whole;
	readonly estimated_cost_nano_usd: Whole;
}

/** Columns after the reservation are null for an in-flight request. */
interface EntryColumns extends CountColumns {
	readonly sequence: bigint;
	readonly id: string;
	readonly started_ms: bigint;
	readonly team: string;
	readonly client: string;
	readonly provider: string;
	readonly model: string;
	/** Dialect of the client. The column keeps its first name, under which all releases of a fleet write it. */
	readonly format: string;
	readonly is_streamed: boolean;
	readonly price_version: string;
	readonly budgets: string;
	readonly hold_nano_usd: bigint;
	readonly endpoint: string;
	readonly attributes: string;
	readonly outcome: RequestOutcome | null;
	readonly ended_ms: bigint;
	readonly status: number;
	readonly is_estimated: boolean;
}

function ledgerEntryOf(row: EntryColumns): LedgerEntry {
	return {
		id: row.id,
		startedMs: Number(row.started_ms),
		team: row.team,
		clientId: row.client,
		provider: row.provider,
		model: row.model,
		dialect: row.format,
		isStreaming: row.is_streamed,
		priceVersion: row.price_version,
		reservedNanoUsd: row.hold_nano_usd,
		budgets: decodeJson(row.budgets, listOf(textFrom)),
		endpoint: row.endpoint,
		attributes: row.attributes,
		closed:
			row.outcome === null
				? undefined
				: {
						endedMs: Number(row.ended_ms),
						outcome: row.outcome,
						status: row.status,
						usage: usageOf(row),
						costNanoUsd: BigInt(row.cost_nano_usd),
						isEstimated: row.is_estimated,
					},
	};
}

function usageOf(row: CountColumns): UsageSummary['usage'] {
	return {
		inputTokens: Number(row.input_tokens),
		cacheReadTokens: Number(row.cache_read_tokens),
		cacheWriteTokens: Number(row.cache_write_tokens),
		cacheWriteHourTokens: Number(row.cache_write_hour_tokens),
		outputTokens: Number(row.output_tokens),
		reasoningTokens: Number(row.reasoning_tokens),
	};
}

/**
 * Reads one team in one snapshot. With read-committed isolation each statement would have a snapshot of its own, and requests end in
 * between.
 */
export function readTeam(db: Database, query: TeamQuery): Promise<TeamSnapshot> {
	return db
		.transaction()
		.setIsolationLevel('repeatable read')
		.setAccessMode('read only')
		.execute(async (transaction) => {
			const { team, spans, costs: costQueries = [], requests } = query;
			const sums: (readonly UsageSummary[])[] = [];
			for (const span of spans) sums.push(await summarize(transaction, { ...span, team }));
			const costs: (readonly bigint[])[] = [];
			for (const costQuery of costQueries) costs.push(await sumCosts(transaction, costQuery));
			if (requests === undefined) return { sums, costs, openRequests: [], endedIds: [] };
			const endedIds = await listEnded(transaction, team, requests);
			return { sums, costs, openRequests: await listOpen(transaction, team), endedIds };
		});
}

async function listEnded(
	db: Database,
	team: string,
	{ endedSinceMs, startedSinceMs }: NonNullable<TeamQuery['requests']>,
): Promise<readonly string[]> {
	const { rows } = await sql<{ id: string }>`
		SELECT id FROM tollgate.ledger_calls
		WHERE team = ${team} AND outcome IS NOT NULL AND ended_ms >= ${endedSinceMs} AND started_ms >= ${startedSinceMs}`.execute(db);
	return rows.map(({ id }) => id);
}

async function listOpen(db: Database, team: string): Promise<readonly OpenRequest[]> {
	const { rows } = await sql<{ id: string; started_ms: bigint; is_streamed: boolean; budgets: string; hold_nano_usd: bigint }>`
		SELECT id, started_ms, is_streamed, budgets, hold_nano_usd FROM tollgate.ledger_calls
		WHERE team = ${team} AND outcome IS NULL`.execute(db);
	return rows.map((row) => ({
		id: row.id,
		startedMs: Number(row.started_ms),
		isStreaming: row.is_streamed,
		budgets: decodeJson(row.budgets, listOf(textFrom)),
		reservedNanoUsd: row.hold_nano_usd,
	}));
}
