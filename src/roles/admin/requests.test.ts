import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdminSubject, adminStartMs, startAdmin } from '../../../test/support/admin.ts';
import { recordedRequest, rejectedRequest } from '../../../test/support/recorded-request.ts';
import type { RecordedRequest } from '../../stores/contracts/request-records.ts';

let subject: AdminSubject;
const startMs = adminStartMs - 3_600_000;
const csv = { accept: 'text/csv' };

const served = recordedRequest(startMs, 1, { attributes: { project: 'search', user: '42' } });
const failedOver = recordedRequest(startMs + 1000, 2, {
	isStreaming: true,
	isEstimated: true,
	isPriced: false,
	targets: [
		{ provider: 'provider_a', model: 'claude', status: 503, code: null, ms: 3.1 },
		{ provider: 'provider_a', model: 'claude', status: null, code: 'provider_unreachable', ms: 1 },
		{ provider: 'provider_b', model: 'gpt-4o', status: 200, code: null, ms: 12.5 },
	],
	monitored: ['rpm_limit_exceeded'],
});
const limited = recordedRequest(startMs + 2000, 3, {
	...rejectedRequest,
	team: 'blue',
	clientId: '=cmd|<b>"x"</b>',
	modelRequested: '<script>alert(1)</script>',
	code: 'rpm_limit_exceeded',
	limit: { kind: 'requests_per_minute', limit: 5, used: 5, reserved: 0, resetsAtMs: startMs + 60_000 },
});
const broke = recordedRequest(startMs + 3000, 4, {
	...rejectedRequest,
	code: 'budget_exceeded',
	limit: { kind: 'budget', limit: 5_000_000_000n, used: 4_500_000_000n, reserved: 600_000_000n, resetsAtMs: null },
});
const failed = recordedRequest(startMs + 4000, 5, {
	status: 502,
	outcome: 'failed',
	code: 'provider_unreachable',
	usage: null,
	costNanoUsd: null,
	firstByteMs: null,
	targets: [{ provider: 'provider_b', model: 'gpt-4o', status: null, code: 'provider_unreachable', ms: 7 }],
});
const rejectedByProvider = recordedRequest(startMs + 5000, 6, {
	status: 400,
	targets: [{ provider: 'provider_b', model: 'gpt-4o', status: 400, code: null, ms: 7 }],
});
const disconnected = recordedRequest(startMs + 6000, 7, { status: 499, outcome: 'client_closed', code: 'client_closed' });
const interrupted = recordedRequest(startMs + 7000, 8, { status: 0, outcome: 'interrupted', code: 'interrupted', targets: [] });
const unregistered = recordedRequest(startMs + 8000, 9, {
	...rejectedRequest,
	status: 403,
	team: null,
	modelRequested: null,
	model: null,
	provider: null,
	code: 'client_unregistered',
});
const all: readonly RecordedRequest[] = [
	served,
	failedOver,
	limited,
	broke,
	failed,
	rejectedByProvider,
	disconnected,
	interrupted,
	unregistered,
];

beforeAll(async () => {
	subject = await startAdmin();
	for (const request of all) subject.requestRecords.add(request);
});
afterAll(() => subject.stop());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) => subject.send('GET', path, undefined, headers);
const idsOf = async (query: string): Promise<string[]> =>
	((await get(`/requests?${query}`)).body['data'] as { id: string }[]).map(({ id }) => id);
const explain = async ({ id }: RecordedRequest) =>
	(await get(`/explain/${id}`)).body as { summary: string; decisions: { step: string; result: string; detail: string }[] };

describe('requests', () => {
	test('are listed newest first, and found by id', async () => {
		expect(await idsOf('')).toEqual(all.map(({ id }) => id).toReversed());
		expect((await get(`/requests/${served.id}`)).body).toEqual({
			id: served.id,
			time: new Date(startMs).toISOString(),
			endpoint: '/v1/chat/completions',
			team_id: 'red',
			client_id: 'red-bot',
			model_requested: 'gpt-4o',
			model: 'gpt-4o',
			provider: 'provider_b',
			status: 200,
			code: null,
			limit: null,
			allow_list: null,
			monitored: [],
			monitored_route: null,
			targets: [{ provider: 'provider_b', model: 'gpt-4o', status: 200, code: null, ms: 12.5 }],
			usage: { input: 10, output: 5, cache_read: 3, cache_write: 2, total: 20 },
			cost_usd: '0.000123456',
			priced: true,
			estimated: false,
			guardrails: null,
			attributes: { project: 'search', user: '42' },
			stream: false,
			request_bytes: 300,
			response_bytes: 700,
			duration_ms: 20.3,
			first_byte_ms: 12.4,
		});
		const rejected = (await get(`/requests/${broke.id}`)).body;
		expect(rejected).toMatchObject({ status: 429, code: 'budget_exceeded', usage: null, cost_usd: null, targets: [] });
		expect(rejected['limit']).toEqual({ kind: 'budget', limit: '5.00', used: '4.50', reserved: '0.60', resets_at: null });
	});

	test.each(['req_', 'x', '%00', `${served.id}0`, encodeURIComponent('<b>'), 'x'.repeat(4000)])('an unknown id %s is 404', async (id) => {
		for (const path of [`/requests/${id}`, `/explain/${id}`]) {
			const { status, body } = await get(path);
			expect([status, body['code']]).toEqual([404, 'record_unknown']);
		}
	});

	test('are found by filters', async () => {
		expect(await idsOf('team=blue')).toEqual([limited.id]);
		expect(await idsOf('status=429')).toEqual([broke.id, limited.id]);
		expect(await idsOf('code=rpm_limit_exceeded')).toEqual([limited.id, failedOver.id]);
		expect(await idsOf('attribute=project:search')).toEqual([served.id]);
		expect(await idsOf('attribute=project:other')).toEqual([]);
		expect(await idsOf(`client=${encodeURIComponent(limited.clientId)}`)).toEqual([limited.id]);
		expect(await idsOf(`model=${encodeURIComponent('<script>alert(1)</script>')}`)).toEqual([limited.id]);
		expect(await idsOf('endpoint=/v1/messages')).toEqual([]);
		expect(await idsOf('provider=openai'), 'a vendor’s name stands for its provider').toEqual(await idsOf('provider=provider_b'));
		const [from, to] = [1000, 3000].map((ms) => new Date(startMs + ms).toISOString());
		expect(await idsOf(`from=${from}&to=${to}`)).toEqual([limited.id, failedOver.id]);
		expect(await idsOf('to=2026-01-01')).toEqual([]);
	});

	test('come in pages', async () => {
		const seen: string[] = [];
		let cursor: string | null = null;
		do {
			const { body } = await get(`/requests?team=red&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
			const page = body as { data: { id: string }[]; next_cursor: string | null };
			seen.push(...page.data.map(({ id }) => id));
			cursor = page.next_cursor;
		} while (cursor !== null);
		expect(seen).toEqual(
			all
				.filter(({ team }) => team === 'red')
				.map(({ id }) => id)
				.toReversed(),
		);
	});

	test('in CSV have one row each, safe in spreadsheets', async () => {
		const { text, headers } = await get('/requests?team=blue', csv);
		const [head = '', row = ''] = text.split('\r\n');
		expect(head).toMatch(
			/^id,time,endpoint,team_id,client_id,.*,limit_kind,limit,.*,targets,allow_list,monitored,monitored_rule,monitored_target,attributes$/,
		);
		expect(row).toContain(`"'=cmd|<b>""x""</b>"`);
		expect(row).toContain('requests_per_minute,5,5,0,');
		expect(headers.get('x-next-cursor')).toBeNull();
		expect((await get('/requests?limit=1', csv)).headers.get('x-next-cursor')).not.toBeNull();
		const over = (await get('/requests?code=rpm_limit_exceeded&team=red', csv)).text;
		expect(over).toContain('provider_a/claude=503 provider_a/claude=provider_unreachable provider_b/gpt-4o=200');
	});

	test.each([
		'cursor=x',
		'limit=0',
		'limit=1001',
		'status=abc',
		'status=600',
		'attribute=project',
		'attribute=Project:x',
		'from=yesterday',
		'modle=x',
		'team=',
	])('?%s is 422', async (query) => {
		const { status, body } = await get(`/requests?${query}`);
		expect([status, body['errors']]).toMatchObject([422, [{ path: query.split('=')[0] }]]);
	});
});

describe('GET /explain/{request_id} says in one sentence', () => {
	test.each<[string, RecordedRequest, string]>([
		['which target served', served, 'Served by provider_b/gpt-4o with 200 in 20.3 ms, at a cost of $0.000123456.'],
		[
			'which targets failed before',
			failedOver,
			'Served by provider_b/gpt-4o with 200 in 20.3 ms after provider_a/claude returned 503 after 3.1 ms, then provider_a/claude failed with provider_unreachable after 1 ms, at a cost of $0.000123456 (estimated).',
		],
		[
			'which limit rejected',
			limited,
			`Rejected with 429 rpm_limit_exceeded: requests per minute at 5 used and 0 reserved of 5; resets at ${new Date(startMs + 60_000).toISOString()}.`,
		],
		['which budget rejected', broke, 'Rejected with 429 budget_exceeded: the budget at $4.50 used and $0.60 reserved of $5.00.'],
		['which target failed', failed, 'Failed with 502 provider_unreachable: provider_b/gpt-4o failed with provider_unreachable after 7 ms.'],
		['which provider rejected', rejectedByProvider, 'Failed with 400: provider_b/gpt-4o returned 400 after 7 ms.'],
		[
			'that the client disconnected',
			disconnected,
			'The client disconnected after 20.3 ms, before the response was complete, at a cost of $0.000123456.',
		],
		[
			'that the gateway stopped',
			interrupted,
			'The gateway stopped before the response was complete, and the request was charged its reservation of $0.000123456.',
		],
	])('%s', async (_, request, summary) => {
		expect((await explain(request)).summary).toBe(summary);
	});

	test('why a client without a team was rejected', async () => {
		expect((await explain(unregistered)).summary).toMatch(/^Rejected with 403 client_unregistered: .+\.$/);
	});

	test('which guardrail blocked, and lists the decisions', async () => {
		const blocked = recordedRequest(startMs - 1000, 10, { ...rejectedRequest, status: 400, code: 'guardrail_blocked' });
		subject.requestRecords.add(blocked);
		const found = { requestId: blocked.id, atMs: startMs, team: 'red', stage: 'input', count: 2 } as const;
		subject.ledger.assess([{ ...found, policy: 'pii', category: 'email', action: 'BLOCK', outcome: 'matched' }]);
		const { summary, decisions } = await explain(blocked);
		expect(summary).toBe('Blocked with 400 by the guardrail pii (email) on the input.');
		expect(decisions.map(({ step, result }) => [step, result])).toEqual([
			['client', 'identified'],
			['request', 'read'],
			['guardrails', 'matched'],
			['response', '400'],
		]);
	});

	test('and lists limits, monitored codes, targets and cost', async () => {
		expect((await explain(failedOver)).decisions.map(({ step, result }) => [step, result])).toEqual([
			['client', 'identified'],
			['request', 'read'],
			['limits', 'passed'],
			['monitor', 'rpm_limit_exceeded'],
			['target', '503'],
			['target', 'provider_unreachable'],
			['target', '200'],
			['response', '200'],
			['cost', '$0.000123456'],
		]);
		expect((await explain(limited)).decisions).toContainEqual({
			step: 'limits',
			result: 'rejected',
			detail: `requests per minute at 5 used and 0 reserved of 5; resets at ${new Date(startMs + 60_000).toISOString()}`,
		});
	});

	test('of a rejection by an allow-list names the list', async () => {
		const request = recordedRequest(startMs + 900, 900, {
			...rejectedRequest,
			status: 403,
			code: 'model_not_allowed',
			allowList: 'teams.red.models.deny',
		});
		subject.requestRecords.add(request);
		const { summary, decisions } = await explain(request);
		expect(summary).toBe('Rejected with 403 model_not_allowed: `teams.red.models.deny` does not allow gpt-4o.');
		expect(decisions).toContainEqual({ step: 'allow_lists', result: 'rejected', detail: '`teams.red.models.deny` does not allow gpt-4o' });
		const monitored = recordedRequest(startMs + 901, 901, { monitored: ['model_not_allowed'], allowList: 'tiers.sandbox.providers' });
		subject.requestRecords.add(monitored);
		expect((await explain(monitored)).decisions.map(({ step, result }) => `${step} ${result}`)).toEqual(
			expect.arrayContaining(['allow_lists monitored', 'monitor model_not_allowed']),
		);
	});
});
