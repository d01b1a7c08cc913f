import { z } from 'zod';
import { clientDialectNames } from '../../../core/dialect-name.ts';
import { isPriced } from '../../../core/price.ts';
import { noUsage } from '../../../core/usage.ts';
import { providerNamed } from '../../../policy/routing/provider-names.ts';
import { assessmentOutcomes, type Verdict } from '../../../stores/contracts/assessments.ts';
import type { EntryQuery, LedgerEntry } from '../../../stores/contracts/ledger.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { csvResponse } from '../csv.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { limitOf, type Page, type PageQuery, pageOf, pageQuery, withCursor } from '../page.ts';
import { tokens, tokensBody } from '../schemas/usage.ts';
import { named, time, timeOf, usdSum, usdText } from '../schemas/values.ts';

const outcomes = ['complete', 'client_closed', 'upstream_error', 'broken', 'interrupted', 'not_sent'] as const;

const requestEntry = named(
	'Request',
	z.strictObject({
		request_id: z.string().describe('`x-request-id` of the response.'),
		time: time.describe('Time of admission.'),
		team: z.string(),
		client_id: z.string(),
		provider: z.string(),
		model: z.string(),
		format: z
			.string()
			.describe(
				`Format of the client’s request: ${clientDialectNames.map((name) => `\`${name}\``).join(' or ')}; entries from other releases can have other values.`,
			),
		status: z.int().nullable().describe('Status that the client received; 0: interrupted, null: in flight.'),
		outcome: z.enum(outcomes).nullable().describe('Null: in flight.'),
		tokens,
		cost_usd: usdSum,
		priced: z.boolean().describe('False: the model had no price; `cost_usd` is 0 or follows `budgets.default_rate`.'),
		estimated: z.boolean().describe('True: the provider did not report usage, and it was estimated.'),
		duration_ms: z.int().nullable(),
		guardrails: z
			.enum(assessmentOutcomes)
			.nullable()
			.describe('Most severe guardrail outcome; `not_evaluated` also if the response was not evaluated. Null: guardrails did not run.'),
	}),
);

const requestList = named('RequestList', pageOf(requestEntry));

const filters = {
	team: z.string().optional(),
	client_id: z.string().optional(),
	provider: z.string().optional(),
	model: z.string().optional(),
	outcome: z.enum(outcomes).optional(),
};

type Query = PageQuery & { readonly [Name in keyof typeof filters]?: z.output<(typeof filters)[Name]> };

export function requestOperations(deps: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/requests',
			tag: 'requests',
			summary: 'List admitted requests, newest first',
			description: 'With filters other than `team`, a page can have fewer entries than `limit`, or none, although `next_cursor` is set.',
			query: z.strictObject({ ...pageQuery, ...filters }),
			success: { status: 200, schema: requestList, otherTypes: ['text/csv'] },
			run: async ({ query, wantsCsv }) => {
				const page = await withCursor(() => readPage(deps, query));
				if (!wantsCsv) return { body: page };
				const columns = [...plainColumns, 'input', 'output', 'cache_read', 'cache_write', 'total', 'guardrails'] as const;
				const response = csvResponse(
					columns,
					page.data.map(({ tokens: counts, ...row }) => ({ ...row, ...counts })),
				);
				return page.next_cursor === null ? response : { ...response, headers: { ...response.headers, 'x-next-cursor': page.next_cursor } };
			},
		}),
	];
}

const plainColumns = [
	'request_id',
	'time',
	'team',
	'client_id',
	'provider',
	'model',
	'format',
	'status',
	'outcome',
	'cost_usd',
	'priced',
	'estimated',
	'duration_ms',
] as const;

async function readPage({ ledger, configured }: AdminDeps, query: Query): Promise<Page<z.output<typeof requestEntry>>> {
	const { client_id: clientId, limit: _, provider: requested, ...rest } = query;
	const provider = requested === undefined ? undefined : providerNamed(requested, configured().providers);
	const given = Object.entries({ ...rest, provider, clientId }).filter(([, value]) => value !== undefined);
	const { rows, nextCursor } = await ledger.list({ ...(Object.fromEntries(given) as Partial<EntryQuery>), limit: limitOf(query) });
	const verdicts = await ledger.verdictsOf(rows.map(({ id }) => id));
	return { data: rows.map((row) => entryBody(row, verdicts.get(row.id))), next_cursor: nextCursor };
}

function entryBody(row: LedgerEntry, verdict: Verdict | undefined): z.output<typeof requestEntry> {
	const { closed } = row;
	return {
		request_id: row.id,
		time: timeOf(row.startedMs),
		team: row.team,
		client_id: row.clientId,
		provider: row.provider,
		model: row.model,
		format: row.dialect,
		status: closed?.status ?? null,
		outcome: closed?.outcome ?? null,
		tokens: tokensBody(closed?.usage ?? noUsage),
		cost_usd: usdText(closed?.costNanoUsd ?? 0n),
		priced: isPriced(row.priceVersion),
		estimated: closed?.isEstimated ?? false,
		duration_ms: closed === undefined ? null : Math.max(0, closed.endedMs - row.startedMs),
		guardrails: guardrailsOf(row, verdict),
	};
}

/** Returns the outcome; `not_evaluated` instead of clean or masked if the response was not evaluated, or not yet. */
function guardrailsOf({ closed }: LedgerEntry, verdict: Verdict | undefined): Verdict['outcome'] | null {
	if (verdict === undefined) return null;
	const isNew = closed?.outcome === 'complete' && !verdict.hasOutput;
	return isNew && (verdict.outcome === 'clean' || verdict.outcome === 'masked') ? 'not_evaluated' : verdict.outcome;
}
