/** Reports from PostgreSQL, in the order and form of every ledger. */

import { sql } from 'kysely';
import {
	type CostQuery,
	type EntryPage,
	type EntryQuery,
	type LedgerEntry,
	maxEntriesScanned,
	type OpenRequest,
	type RequestOutcome,
	type SummaryName,
	type SummaryQuery,
	summaryNames,
	type TeamQuery,
	type TeamSnapshot,
	type UsageSummary,
} from '../../contracts/ledger.ts';
import { decodeJson, listOf, textFrom } from '../../decode.ts';
import { amounts, hoursPerDay, msPerDay, periodBounds } from '../../sum-tables.ts';
import { textArray } from './array-literal.ts';
import type { Database } from './ledger-days.ts';

export async function summarize(
	db: Database,
	{ fromMs, toMs, period, team, by = summaryNames, limit, after }: SummaryQuery,
): Promise<readonly UsageSummary[]> {
	const { fromHour, headEnd, tailStart, toHour, fromDay, toDay } = periodBounds(fromMs, toMs);
	const ofTeam = team === undefined ? sql`` : sql`AND team = ${team}`;
	const who = Object.entries(keyColumns).map(([name, column]) => (by.some((one) => one === name) ? column : `'' AS ${column}`));
	const columns = sql.raw(`${who.join(', ')}, ${amounts.join(', ')}`);
	const periodName = period === 'all' ? sql`''` : sql`to_char(date '1970-01-01' + day, ${period === 'day' ? 'YYYY-MM-DD' : 'YYYY-MM'})`;
	const past =
		after &&
		sql`WHERE (period, team, client, provider, model)
			> (${after.period}, ${after.team}, ${after.clientId}, ${after.provider}, ${after.model})`;
	const { rows } = await sql<SumRow>`
		WITH parts AS (
			SELECT period / ${sql.raw(String(hoursPerDay))} AS day, ${columns} FROM tollgate.ledger_hourly
				WHERE ((period >= ${fromHour} AND period < ${headEnd}) OR (period >= ${tailStart} AND period < ${toHour})) ${ofTeam}
			UNION ALL
			SELECT period, ${columns} FROM tollgate.ledger_daily WHERE period >= ${fromDay} AND period < ${toDay} ${ofTeam}
		), totals AS (
			SELECT ${periodName} AS period, team, client, provider, model,
				${sql.raw(amounts.map((name) => `sum(${name}) AS ${name}`).join(', '))}
			FROM parts GROUP BY 1, 2, 3, 4, 5
		)
		SELECT * FROM totals ${past ?? sql``} ORDER BY 1, 2, 3, 4, 5 LIMIT ${limit ?? null}`.execute(db);
	return rows.map((row) => ({
		period: row.period,
		team: row.team,
		clientId: row.client,
		provider: row.provider,
		model: row.model,
		requests: Number(row.requests),
		usage: usageOf(row),
		costNanoUsd: BigInt(row.cost_nano_usd),
		estimatedCostNanoUsd: BigInt(row.estimated_cost_nano_usd),
	}));
}

const keyColumns = { team: 'team', clientId: 'client', provider: 'provider', model: 'model' } as const satisfies Record<
	SummaryName,
	string
>;

export async function sumCosts(db: Database, { fromMs, toMs, of }: CostQuery): Promise<readonly bigint[]> {
	const teams = textArray(of.map(({ team }) => team));
	const { rows } = await sql<{ cost: string }>`
		WITH wanted AS (
			SELECT * FROM unnest(${teams}::text[], ${textArray(of.map(({ model }) => model))}::text[]) WITH ORDINALITY AS of (team, model, place)
		), sums AS (
			SELECT team, model, sum(cost_nano_usd) AS cost FROM tollgate.ledger_daily
			WHERE period >= ${fromMs / msPerDay} AND period < ${toMs / msPerDay} AND team = ANY(${teams}::text[]) GROUP BY team, model
		)
		SELECT coalesce(sum(cost), 0) AS cost
		FROM wanted LEFT JOIN sums ON sums.team = wanted.team AND (wanted.model IS NULL OR sums.model = wanted.model)
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
			const { team, spans, requests } = query;
			const sums: (readonly UsageSummary[])[] = [];
			for (const span of spans) sums.push(await summarize(transaction, { ...span, team }));
			if (requests === undefined) return { sums, openRequests: [], endedIds: [] };
			const endedIds = await listEnded(transaction, team, requests);
			return { sums, openRequests: await listOpen(transaction, team), endedIds };
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
