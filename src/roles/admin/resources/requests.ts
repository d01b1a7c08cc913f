import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import { providerNamed } from '../../../policy/routing/provider-names.ts';
import type { RequestQuery } from '../../../stores/contracts/request-records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { csvResponse } from '../csv.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { limitOf, type Page, type PageQuery, pageQuery, withCursor } from '../page.ts';
import { type RequestBody, requestBody, requestEntry, requestList } from '../schemas/request.ts';
import { moment, msOf } from '../schemas/values.ts';
import { missingRecord } from '../team-access.ts';

const exactText = z.string().min(1).max(256).optional();

const filters = {
	from: moment.optional().describe('Start of the request, inclusive.'),
	to: moment.optional().describe('Start of the request, exclusive.'),
	team: exactText,
	client: exactText,
	model: exactText.describe('Requested or served model.'),
	provider: exactText,
	status: z.int().min(0).max(599).optional(),
	code: exactText.describe('Error code, such as `rpm_limit_exceeded`, also of monitor mode.'),
	endpoint: exactText.describe('Path, such as `/v1/messages`.'),
	attribute: z
		.string()
		.regex(/^[a-z][a-z0-9_]{0,31}:[\x21-\x7e]{1,128}$/, 'must be name:value, such as project:search')
		.optional()
		.describe('`name:value`.'),
};

type Query = PageQuery & { readonly [Name in keyof typeof filters]?: z.output<(typeof filters)[Name]> };

export function requestOperations(deps: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/requests',
			access: { needs: 'read', team: { query: 'team' } },
			tag: 'requests',
			summary: 'List requests, newest first',
			description:
				'Includes rejected requests of known clients. A page can have fewer entries than `limit`, or none, although `next_cursor` is set.',
			query: z.strictObject({ ...pageQuery, ...filters }),
			success: { status: 200, schema: requestList, otherTypes: ['text/csv'] },
			run: async ({ query, wantsCsv }) => {
				const page = await withCursor(() => readPage(deps, query));
				if (!wantsCsv) return { body: page };
				const response = csvResponse(columns, page.data.map(csvRow));
				return page.next_cursor === null ? response : { ...response, headers: { ...response.headers, 'x-next-cursor': page.next_cursor } };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/requests/{request_id}',
			access: { needs: 'read', team: { record: 'request', param: 'request_id' } },
			tag: 'requests',
			summary: 'Get a request',
			params: z.strictObject({ request_id: z.string() }),
			success: { status: 200, schema: requestEntry },
			rejections: ['record_unknown'],
			run: async ({ params: { request_id: id } }) => ({ body: await readRequest(id, deps) }),
		}),
	];
}

/** @throws `Rejection` `record_unknown`. */
export async function readRequest(
	id: string,
	{ requestRecords, ledger }: Pick<AdminDeps, 'requestRecords' | 'ledger'>,
): Promise<RequestBody> {
	const found = await requestRecords.find(id);
	if (found === undefined) {
		throw new Rejection('record_unknown', { message: missingRecord.request(id) });
	}
	const verdicts = await ledger.verdictsOf([id]);
	return requestBody(found, verdicts.get(id));
}

async function readPage({ requestRecords, ledger, configured }: AdminDeps, query: Query): Promise<Page<RequestBody>> {
	const { from, to, client: clientId, provider, attribute, limit, ...rest } = query;
	const colon = attribute?.indexOf(':') ?? -1;
	const requested: RequestQuery = {
		...rest,
		clientId,
		fromMs: msOf(from),
		toMs: msOf(to),
		provider: provider === undefined ? undefined : providerNamed(provider, configured().providers),
		attributes: attribute === undefined ? undefined : { [attribute.slice(0, colon)]: attribute.slice(colon + 1) },
		limit: limitOf({ limit }),
	};
	const { requests, nextCursor } = await requestRecords.list(requested);
	const verdicts = await ledger.verdictsOf(requests.map(({ id }) => id));
	return { data: requests.map((request) => requestBody(request, verdicts.get(request.id))), next_cursor: nextCursor };
}

const plainColumns = [
	'id',
	'time',
	'endpoint',
	'team_id',
	'client_id',
	'model_requested',
	'model',
	'provider',
	'status',
	'code',
	'cost_usd',
	'priced',
	'estimated',
	'guardrails',
	'stream',
	'request_bytes',
	'response_bytes',
	'duration_ms',
	'first_byte_ms',
] as const;

const columns = [
	...plainColumns,
	'input',
	'output',
	'cache_read',
	'cache_write',
	'total',
	'limit_kind',
	'limit',
	'limit_used',
	'limit_reserved',
	'limit_resets_at',
	'targets',
	'allow_list',
	'monitored',
	'monitored_rule',
	'monitored_target',
	'attributes',
] as const;

function csvRow({ usage, limit, targets, monitored, monitored_route: route, attributes, ...plain }: RequestBody) {
	return {
		...plain,
		...usage,
		limit_kind: limit?.kind,
		limit: limit?.limit,
		limit_used: limit?.used,
		limit_reserved: limit?.reserved,
		limit_resets_at: limit?.resets_at,
		targets: targets.map(({ provider, model, status, code }) => `${provider}/${model}=${status ?? code}`).join(' '),
		monitored: monitored.join(' '),
		monitored_rule: route?.rule,
		monitored_target: route?.target,
		attributes: Object.entries(attributes)
			.map(([name, value]) => `${name}=${value}`)
			.join(' '),
	};
}
