import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import { type SummaryKey, summaryNames, type UsageSummary } from '../../../stores/contracts/ledger.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { csvResponse } from '../csv.ts';
import { fieldInvalid } from '../fields-rejection.ts';
import { monthOf, monthsBefore, type Span, spanOfMonth } from '../months.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
import { cursorOf, decodeCursor, limitOf, pageQuery, unknownCursor } from '../page.ts';
import { type Grouping, groupings, type UsageGroup, usage, usageHistory, usageList } from '../schemas/usage.ts';
import { day, time, timeOf } from '../schemas/values.ts';
import { missingRecord } from '../team-access.ts';
import { intervals, readGrouping } from '../usage-dimensions.ts';
import { budgetsInForce, groupsBody, periodBody, sumsBody } from '../usage-report.ts';

const tag = 'usage';
const params = z.strictObject({ team: z.string() });
const msPerDay = 86_400_000;
const maxDays = 1100;
/** Hours are summed for each page, so that a long span would take seconds. */
const maxDaysByHour = 100;
const monthsOfHistory = 24;

const days = { from: day.optional().describe('UTC day, inclusive.'), to: day.optional().describe('UTC day, exclusive.') };
const requested = z.strictObject({ ...days, group_by: z.enum(groupings).optional() });
const moment = z.union([day, time], { error: 'must be a day such as 2026-11-01, or a time such as 2026-11-01T14:00:00Z' });
const requestedOfAll = z.strictObject({
	from: moment.optional().describe('UTC day or time, inclusive. Its whole hour counts.'),
	to: moment.optional().describe('UTC day or time, exclusive. Its whole hour counts.'),
	team: z.string().optional().describe('Only this team.'),
	group_by: z
		.string()
		.max(256)
		.optional()
		.describe(
			'At most three of `team`, `client`, `model`, `provider`, `endpoint`, `attribute:NAME`, and `day`, with commas between them. Default: `team`. `model` includes the provider.',
		),
	interval: z.enum(intervals).optional().describe('Splits the period into UTC hours, days or months. Default: none.'),
	...pageQuery,
});

export function usageOperations(deps: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/usage',
			access: { needs: 'read', team: { query: 'team' } },
			tag,
			summary: 'Usage of all teams',
			description: `One entry per team, or per \`group_by\` and \`interval\`, for the current UTC month or \`from\` to \`to\` (at most ${maxDays} days, ${maxDaysByHour} by hour).`,
			query: requestedOfAll,
			success: { status: 200, schema: usageList, otherTypes: ['text/csv'] },
			run: async ({ query, wantsCsv }) => {
				const span = readSpan(query, monthOf(deps.clock.nowMs()));
				const by = query.group_by ?? 'team';
				const grouping = readGrouping(by, query.interval);
				if (query.interval === 'hour') requireDays(span, maxDaysByHour);
				const after = query.cursor === undefined ? undefined : readKey(decodeCursor(query.cursor));
				const limit = limitOf(query);
				const page = { limit: limit + 1, ...(after && { after }), ...(query.team !== undefined && { team: query.team }) };
				const rows = await deps.ledger.summarize({ ...span, ...grouping.query, ...page });
				const data = rows.slice(0, limit).map((row) => ({ ...grouping.rowOf(row), ...sumsBody([row]) }));
				const last = rows.length > limit ? rows[limit - 1] : undefined;
				const cursor = last === undefined ? null : cursorOf([last.period, ...summaryNames.map((name) => last[name])]);
				if (!wantsCsv) {
					const period = { start: timeOf(span.fromMs), end: timeOf(span.toMs) };
					return { body: { period, group_by: by, data, next_cursor: cursor } };
				}
				const response = csvOf(grouping.columns, data);
				return cursor === null ? response : { ...response, headers: { ...response.headers, 'x-next-cursor': cursor } };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/usage/{team}',
			access: { needs: 'read', team: { record: 'team', param: 'team' } },
			tag,
			summary: 'Usage of a team',
			description: `For the current UTC month, or \`from\` to \`to\` (at most ${maxDays} days). CSV: one row per group, or per model.`,
			params,
			query: requested,
			success: { status: 200, schema: usage, otherTypes: ['text/csv'] },
			rejections: ['record_unknown'],
			run: async ({ params: { team: id }, query, wantsCsv }) => {
				const span = readSpan(query, monthOf(deps.clock.nowMs()));
				const team = await requireTeam(deps, id);
				const by = query.group_by;
				const rows = await deps.ledger.summarize({ ...span, period: by === 'day' ? 'day' : 'month', team: id });
				if (wantsCsv) {
					const groups = groupsBody(rows, by ?? 'model').map((group) => ({ ...group, team: id }));
					return csvOf(['team', ...keyColumns[by ?? 'model']], groups);
				}
				const budgets = await budgetsInForce(deps, id, team);
				return { body: { team: id, ...periodBody(span, rows), budgets, ...(by && { group_by: by }), ...groupsOf(rows, by) } };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/usage/{team}/history',
			access: { needs: 'read', team: { record: 'team', param: 'team' } },
			tag,
			summary: 'Monthly usage history of a team',
			description: `The last ${monthsOfHistory} UTC months, or \`from\` to \`to\`. CSV: one row per month and group, or per month and model.`,
			params,
			query: requested,
			success: { status: 200, schema: usageHistory, otherTypes: ['text/csv'] },
			rejections: ['record_unknown'],
			run: async ({ params: { team: id }, query, wantsCsv }) => {
				const nowMs = deps.clock.nowMs();
				const { toMs } = monthOf(nowMs);
				const span = readSpan(query, { fromMs: monthsBefore(nowMs, monthsOfHistory - 1), toMs });
				await requireTeam(deps, id);
				const by = query.group_by;
				const rows = await deps.ledger.summarize({ ...span, period: by === 'day' ? 'day' : 'month', team: id });
				const months = monthsOf(rows);
				if (wantsCsv) {
					const groups = months.flatMap(([month, ofMonth]) =>
						groupsBody(ofMonth, by ?? 'model').map((group) => ({ ...group, month, team: id })),
					);
					return csvOf(['month', 'team', ...keyColumns[by ?? 'model']], groups);
				}
				const rendered = months.map(([month, ofMonth]) => ({
					...periodBody(within(spanOfMonth(month), span), ofMonth),
					...groupsOf(ofMonth, by),
				}));
				return { body: { team: id, months: rendered, ...(by && { group_by: by }) } };
			},
		}),
	];
}

const keyOfCursor = z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.string(), z.string()]);

function readKey(last: unknown): SummaryKey {
	const { data } = keyOfCursor.safeParse(last);
	if (data === undefined) throw unknownCursor();
	const [period, team, clientId, provider, model, endpoint, attributes] = data;
	return { period, team, clientId, provider, model, endpoint, attributes };
}

function groupsOf(rows: readonly UsageSummary[], by: Grouping | undefined): { readonly groups?: UsageGroup[] } {
	return by === undefined ? {} : { groups: groupsBody(rows, by) };
}

async function requireTeam({ teamLookup }: AdminDeps, id: string) {
	const team = await teamLookup.find(id);
	if (team === undefined && !(await teamLookup.isKnown(id))) {
		throw new Rejection('record_unknown', { message: missingRecord.team(id) });
	}
	return team;
}

function readSpan({ from, to }: { from?: string | undefined; to?: string | undefined }, otherwise: Span): Span {
	const fromMs = from === undefined ? otherwise.fromMs : Date.parse(from);
	const toMs = to === undefined ? otherwise.toMs : Date.parse(to);
	if (fromMs >= toMs) {
		throw from === undefined ? fieldInvalid('to', 'must be later than from') : fieldInvalid('from', 'must be earlier than to');
	}
	requireDays({ fromMs, toMs }, maxDays);
	return { fromMs, toMs };
}

function requireDays({ fromMs, toMs }: Span, max: number): void {
	if (toMs - fromMs > max * msPerDay) throw fieldInvalid('from', `must be at most ${max} days before to`);
}

function within(month: Span, span: Span): Span {
	return { fromMs: Math.max(month.fromMs, span.fromMs), toMs: Math.min(month.toMs, span.toMs) };
}

function monthsOf(rows: readonly UsageSummary[]): [month: string, rows: UsageSummary[]][] {
	return [...Map.groupBy(rows, ({ period }) => period.slice(0, 'yyyy-mm'.length))].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const sumColumns = ['requests', 'input', 'output', 'cache_read', 'cache_write', 'total', 'cost_usd', 'estimated_cost_usd'] as const;
const keyColumns: Readonly<Record<Grouping, readonly string[]>> = {
	model: ['provider', 'model'],
	provider: ['provider'],
	client: ['client'],
	day: ['day'],
};

type Cells = Readonly<Record<string, string | number | null | undefined>>;

/** @param keys columns that identify a row; always the same, even without rows. */
function csvOf(keys: readonly string[], groups: readonly { readonly tokens: Cells }[]): CsvResponse {
	return csvResponse(
		[...keys, ...sumColumns],
		groups.map(({ tokens, ...group }): Cells => ({ ...tokens, ...group })),
	);
}
