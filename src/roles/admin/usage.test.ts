import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';
import { maxEntriesScanned } from '../../stores/contracts/ledger.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);
const csv = { accept: 'text/csv' };

const november = (day: number, hour = 12) => Date.UTC(2026, 10, day, hour);

beforeEach(async () => {
	subject = await startAdmin();
	await send('POST', '/teams', { id: 'red', tier: 'standard' });
	const usage = { inputTokens: 10, cacheReadTokens: 3, cacheWriteTokens: 2, outputTokens: 5, reasoningTokens: 4 };
	await subject.book({ id: 'one', usage, costNanoUsd: 1_500_000_001n, startedMs: november(1, 0) });
	await subject.book({ id: 'two', model: '=cmd|x', usage, costNanoUsd: 2n, clientId: '+1', isEstimated: true, startedMs: november(20) });
	await subject.book({ id: 'three', usage, provider: 'local', costNanoUsd: 0n, startedMs: november(21) });
	await subject.book({ id: 'four', isRunning: true });
	await subject.book({ id: 'five', team: 'blue', costNanoUsd: 9n });
	await subject.book({ id: 'six', usage, costNanoUsd: 7n, startedMs: Date.UTC(2026, 9, 31, 23, 59) });
});
afterEach(() => subject.stop());

const month = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
const tokens = (calls: number) => ({
	input: 10 * calls,
	output: 5 * calls,
	cache_read: 3 * calls,
	cache_write: 2 * calls,
	total: 20 * calls,
});

describe('usage of a team', () => {
	test('is that of the current month, by model, with the budgets in force', async () => {
		const { status, body } = await send('GET', '/usage/red');
		expect(status).toBe(200);
		expect(body).toEqual({
			team: 'red',
			period: month,
			requests: 4,
			tokens: tokens(3),
			cost_usd: '1.500000003',
			estimated_cost_usd: '0.000000002',
			models: [
				{ provider: 'local', model: 'gpt-4o-mini', requests: 1, tokens: tokens(1), cost_usd: '0.00', estimated_cost_usd: '0.00' },
				{
					provider: 'provider_b',
					model: '=cmd|x',
					requests: 1,
					tokens: tokens(1),
					cost_usd: '0.000000002',
					estimated_cost_usd: '0.000000002',
				},
				{
					provider: 'provider_b',
					model: 'gpt-4o-mini',
					requests: 2,
					tokens: tokens(1),
					cost_usd: '1.500000001',
					estimated_cost_usd: '0.00',
				},
			],
			budgets: [
				{
					id: 'tier-standard',
					team: 'red',
					model: null,
					period: 'monthly',
					limit_usd: '100.00',
					warning_threshold_percent: 80,
					hard_limit_percent: 100,
					source: 'tier',
					usage: {
						period_start: month.start,
						period_end: month.end,
						spent_usd: '1.500000003',
						reserved_usd: '0.00',
						remaining_usd: '98.499999997',
						utilization_percent: 1.5,
						state: 'ok',
					},
				},
			],
		});
	});

	test('equals the entries of /requests', async () => {
		const rows = (await send('GET', '/requests?team=red')).body['data'] as { request_id: string; time: string }[];
		expect(rows.filter(({ time }) => time >= month.start)).toHaveLength(4);
	});

	test('the team’s own budget replaces its tier’s; that of a model does not', async () => {
		const idsOf = async () => ((await send('GET', '/usage/red')).body['budgets'] as { id: string }[]).map(({ id }) => id);
		await send('POST', '/budgets', { id: 'one', team: 'red', model: 'gpt-4o-mini', limit_usd: '1' });
		expect(await idsOf()).toEqual(['tier-standard', 'one']);
		await send('POST', '/budgets', { id: 'all', team: 'red', limit_usd: '1' });
		expect((await idsOf()).toSorted()).toEqual(['all', 'one']);
	});

	test.each<[string, object[]]>([
		['model', [{ provider: 'local', model: 'gpt-4o-mini', requests: 1 }, { model: '=cmd|x' }, { requests: 2 }]],
		[
			'provider',
			[
				{ provider: 'local', requests: 1 },
				{ provider: 'provider_b', requests: 3 },
			],
		],
		[
			'client',
			[
				{ client_id: '+1', requests: 1 },
				{ client_id: 'agent', requests: 3, cost_usd: '1.500000001', estimated_cost_usd: '0.00' },
			],
		],
		['day', [{ day: '2026-11-01' }, { day: '2026-11-20', requests: 1 }, { day: '2026-11-21', requests: 2 }]],
	])('by %s', async (by, groups) => {
		const { body } = await send('GET', `/usage/red?group_by=${by}`);
		expect(body).toMatchObject({ group_by: by, groups, requests: 4 });
		expect(body['groups']).toHaveLength(groups.length);
	});

	test('of other days, the last one exclusive', async () => {
		const { body } = await send('GET', '/usage/red?from=2026-10-31&to=2026-11-20&group_by=day');
		expect(body).toMatchObject({
			period: { start: '2026-10-31T00:00:00.000Z', end: '2026-11-20T00:00:00.000Z' },
			requests: 2,
			cost_usd: '1.500000008',
			estimated_cost_usd: '0.00',
			groups: [{ day: '2026-10-31' }, { day: '2026-11-01' }],
		});
	});

	test.each([
		['from=2026-11-02&to=2026-11-01', 'from'],
		['from=2027-01-01', 'from'],
		['to=2026-11-01', 'to'],
		['from=2000-01-01', 'from'],
		['from=2026-02-30', 'from'],
		['from=yesterday', 'from'],
		['group_by=team', 'group_by'],
		['group=day', 'group'],
	])('?%s is 422 and names %s', async (query, path) => {
		const response = await send('GET', `/usage/red?${query}`);
		expect([response.status, response.body['errors']]).toMatchObject([422, [{ path }]]);
	});

	test('of an unknown team is 404; of a deleted one, of the configuration, and of a client alone it exists', async () => {
		for (const path of ['/usage/absent', '/usage/absent/history']) expect((await send('GET', path)).status).toBe(404);
		await send('POST', '/clients', { id: 'loner', name: 'Loner' });
		expect((await send('GET', '/usage/pinned')).body).toMatchObject({ requests: 0, cost_usd: '0.00', models: [] });
		expect((await send('GET', '/usage/loner')).body['budgets']).toMatchObject([{ id: 'tier-sandbox' }]);
		expect((await send('GET', '/usage/blue')).body).toMatchObject({ requests: 1, budgets: [] });
	});
});

describe('usage of all teams', () => {
	const sums = { requests: 1, tokens: tokens(1) };

	test('is that of the current month, by team', async () => {
		const { status, body } = await send('GET', '/usage');
		expect([status, body]).toEqual([
			200,
			{
				period: month,
				group_by: 'team',
				data: [
					{ team: 'blue', requests: 1, tokens: tokens(0), cost_usd: '0.000000009', estimated_cost_usd: '0.00' },
					{ team: 'red', requests: 4, tokens: tokens(3), cost_usd: '1.500000003', estimated_cost_usd: '0.000000002' },
				],
				next_cursor: null,
			},
		]);
	});

	test('of other days, the last one exclusive', async () => {
		const { body } = await send('GET', '/usage?from=2026-10-01&to=2026-11-01');
		expect(body).toMatchObject({
			period: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
			data: [{ team: 'red', ...sums, cost_usd: '0.000000007' }],
		});
		const maxLength = await send('GET', '/usage?from=2023-12-01&to=2026-12-01');
		expect(maxLength.body['data']).toMatchObject([{ team: 'blue' }, { team: 'red', requests: 5, cost_usd: '1.50000001' }]);
	});

	test.each<[string, object[]]>([
		[
			'model',
			[
				{ provider: 'local', model: 'gpt-4o-mini', ...sums, cost_usd: '0.00', estimated_cost_usd: '0.00' },
				{ provider: 'provider_b', model: '=cmd|x', ...sums, cost_usd: '0.000000002', estimated_cost_usd: '0.000000002' },
				{
					provider: 'provider_b',
					model: 'gpt-4o-mini',
					requests: 3,
					tokens: tokens(1),
					cost_usd: '1.50000001',
					estimated_cost_usd: '0.00',
				},
			],
		],
		[
			'provider',
			[
				{ provider: 'local', ...sums, cost_usd: '0.00', estimated_cost_usd: '0.00' },
				{ provider: 'provider_b', requests: 4, tokens: tokens(2), cost_usd: '1.500000012', estimated_cost_usd: '0.000000002' },
			],
		],
		[
			'client',
			[
				{ client_id: '+1', ...sums, cost_usd: '0.000000002', estimated_cost_usd: '0.000000002' },
				{ client_id: 'agent', requests: 4, tokens: tokens(2), cost_usd: '1.50000001', estimated_cost_usd: '0.00' },
			],
		],
		[
			'day',
			[
				{ day: '2026-11-01', ...sums, cost_usd: '1.500000001', estimated_cost_usd: '0.00' },
				{ day: '2026-11-20', ...sums, cost_usd: '0.000000002', estimated_cost_usd: '0.000000002' },
				{ day: '2026-11-21', requests: 3, tokens: tokens(1), cost_usd: '0.000000009', estimated_cost_usd: '0.00' },
			],
		],
	])('by %s, complete and page by page', async (by, rows) => {
		expect((await send('GET', `/usage?group_by=${by}`)).body).toMatchObject({ group_by: by, data: rows, next_cursor: null });
		const paged: unknown[] = [];
		let cursor: unknown = null;
		do {
			const { body } = await send('GET', `/usage?group_by=${by}&limit=1${typeof cursor === 'string' ? `&cursor=${cursor}` : ''}`);
			expect(body['data']).toHaveLength(1);
			paged.push(...(body['data'] as unknown[]));
			cursor = body['next_cursor'];
		} while (cursor !== null);
		expect(paged).toEqual(rows);
	});

	test('as CSV names its next page', async () => {
		const first = await send('GET', '/usage?limit=1', undefined, csv);
		expect(first.text).toBe(
			'team,requests,input,output,cache_read,cache_write,total,cost_usd,estimated_cost_usd\r\nblue,1,0,0,0,0,0,0.000000009,0.00\r\n',
		);
		const next = await send('GET', `/usage?limit=1&cursor=${first.headers.get('x-next-cursor')}`, undefined, csv);
		expect(next.text).toMatch(/\r\nred,4,30,15,9,6,60,1\.500000003,0\.000000002\r\n$/);
		expect(next.headers.has('x-next-cursor')).toBe(false);
	});

	test.each([
		['from=2026-11-02&to=2026-11-01', 'from'],
		['from=2000-01-01', 'from'],
		['group_by=month', 'group_by'],
		['limit=1001', 'limit'],
		['cursor=x', 'cursor'],
		['cursor=InJlZCI', 'cursor'],
		['cursor=WyJhIl0', 'cursor'],
		['team=red', 'team'],
	])('?%s is 422 and names %s', async (query, path) => {
		const response = await send('GET', `/usage?${query}`);
		expect([response.status, response.body['errors']]).toMatchObject([422, [{ path }]]);
	});

	test('reads no more entries of the ledger than it shows', async () => {
		const requested: unknown[] = [];
		const { ledger } = subject;
		const watched = await startAdmin(
			{},
			{
				ledger: {
					...ledger,
					summarize(query) {
						requested.push(query);
						return ledger.summarize(query);
					},
				},
			},
		);
		await watched.send('GET', '/usage?limit=7');
		await watched.stop();
		expect(requested).toMatchObject([{ period: 'all', by: ['team'], limit: 8 }]);
	});
});

describe('history', () => {
	test('has the months with usage, the oldest first', async () => {
		const { body } = await send('GET', '/usage/red/history');
		expect(body).toMatchObject({
			team: 'red',
			months: [
				{
					period: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
					requests: 1,
					cost_usd: '0.000000007',
					estimated_cost_usd: '0.00',
				},
				{ period: month, requests: 4, models: [{ model: 'gpt-4o-mini' }, { model: '=cmd|x' }, { model: 'gpt-4o-mini' }] },
			],
		});
		expect((await send('GET', '/usage/red/history?from=2026-11-01')).body['months']).toHaveLength(1);
		expect((await send('GET', '/usage/pinned/history')).body['months']).toEqual([]);
	});

	test.each<[string, object[], object[]]>([
		['model', [{ model: 'gpt-4o-mini' }], [{ provider: 'local' }, { model: '=cmd|x' }, { model: 'gpt-4o-mini', requests: 2 }]],
		['provider', [{ provider: 'provider_b' }], [{ provider: 'local' }, { provider: 'provider_b', requests: 3 }]],
		['client', [{ client_id: 'agent' }], [{ client_id: '+1' }, { client_id: 'agent', requests: 3 }]],
		['day', [{ day: '2026-10-31' }], [{ day: '2026-11-01' }, { day: '2026-11-20' }, { day: '2026-11-21', requests: 2 }]],
	])('has groups in each month, by %s', async (by, ofOctober, ofNovember) => {
		const { body } = await send('GET', `/usage/red/history?group_by=${by}`);
		expect(body).toMatchObject({
			group_by: by,
			months: [
				{ requests: 1, groups: ofOctober },
				{ period: month, requests: 4, groups: ofNovember },
			],
		});
		const lines = (await send('GET', `/usage/red/history?group_by=${by}`, undefined, csv)).text.trimEnd().split('\r\n');
		expect(lines.map((line) => line.slice(0, 7))).toEqual([
			`month,${lines[0]?.[6]}`,
			...ofOctober.map(() => '2026-10'),
			...ofNovember.map(() => '2026-11'),
		]);
	});
});

describe('CSV', () => {
	test('has a row for each group, and no text that a spreadsheet reads as a formula', async () => {
		const response = await send('GET', '/usage/red', undefined, csv);
		expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
		expect(response.text).toBe(
			[
				'team,provider,model,requests,input,output,cache_read,cache_write,total,cost_usd,estimated_cost_usd',
				'red,local,gpt-4o-mini,1,10,5,3,2,20,0.00,0.00',
				`red,provider_b,"'=cmd|x",1,10,5,3,2,20,0.000000002,0.000000002`,
				'red,provider_b,gpt-4o-mini,2,10,5,3,2,20,1.500000001,0.00',
				'',
			].join('\r\n'),
		);
		expect((await send('GET', '/usage/red?group_by=client', undefined, csv)).text).toContain(`\r\nred,"'+1",1,`);
		expect((await send('GET', '/usage/red/history', undefined, csv)).text).toMatch(
			/^month,team,provider,model,.*\r\n2026-10,red,provider_b,/,
		);
		expect((await send('GET', '/usage/pinned', undefined, csv)).text).toBe(
			'team,provider,model,requests,input,output,cache_read,cache_write,total,cost_usd,estimated_cost_usd\r\n',
		);
	});

	test('is returned only if the client prefers it to JSON', async () => {
		const notCsv = [
			'text/csvx',
			'text/csv-schema',
			'x-text/csv',
			'text/csv;q=0',
			'text/csv;q=0.5, */*',
			'text/csv;q=.5, application/json;q=.9',
		];
		for (const accept of ['*/*', 'application/json', 'text/csv, application/json', ...notCsv]) {
			const response = await send('GET', '/usage/red', undefined, { accept });
			expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
		}
	});

	test('of requests has the tokens in separate columns', async () => {
		const lines = (await send('GET', '/requests?team=red&limit=2', undefined, csv)).text.split('\r\n');
		expect(lines[0]).toMatch(/^request_id,time,team,.*,duration_ms,input,output,cache_read,cache_write,total,guardrails$/);
		expect(lines).toHaveLength(4);
	});
});

describe('requests', () => {
	const list = async (query: string) =>
		(await send('GET', `/requests?${query}`)).body as { data: { request_id: string }[]; next_cursor: string | null };

	test('are listed newest first, with their usage', async () => {
		const { data } = await list('team=red');
		expect(data.map((row) => row.request_id)).toEqual(['six', 'four', 'three', 'two', 'one']);
		expect(data[2]).toEqual({
			request_id: 'three',
			time: '2026-11-21T12:00:00.000Z',
			team: 'red',
			client_id: 'agent',
			provider: 'local',
			model: 'gpt-4o-mini',
			format: 'chat',
			status: 200,
			outcome: 'complete',
			tokens: tokens(1),
			cost_usd: '0.00',
			priced: true,
			estimated: false,
			guardrails: null,
			duration_ms: 1500,
		});
		expect(data[1]).toMatchObject({ status: null, outcome: null, duration_ms: null, cost_usd: '0.00' });
	});

	test.each(['unpriced', 'default_rate'])('of a model without a price (%s) are marked, in CSV too', async (priceVersion) => {
		await subject.book({ team: 'blue', priceVersion });
		await subject.book({ team: 'blue', priceVersion: 'override:3' });
		expect((await list('team=blue&limit=2')).data).toMatchObject([{ priced: true }, { priced: false }]);
		const rows = (await send('GET', '/requests?team=blue&limit=2', undefined, csv)).text.split('\r\n').map((line) => line.split(','));
		const column = rows[0]?.indexOf('priced') ?? -1;
		expect(rows.slice(0, 3).map((row) => row[column])).toEqual(['priced', 'true', 'false']);
	});

	test('are found by filters, over any number of pages, while more arrive', async () => {
		const seen: string[] = [];
		let cursor: string | null = null;
		do {
			const page: Awaited<ReturnType<typeof list>> = await list(`client_id=agent&limit=1${cursor === null ? '' : `&cursor=${cursor}`}`);
			seen.push(...page.data.map((row) => row.request_id));
			cursor = page.next_cursor;
			await subject.book({});
		} while (cursor !== null);
		expect(seen).toEqual(['six', 'five', 'four', 'three', 'one']);
		expect((await list('outcome=complete&provider=local')).data.map((row) => row.request_id)).toEqual(['three']);
		const ofProvider = await list('provider=provider_b');
		expect(await list('provider=openai'), 'a vendor’s name stands for its provider').toEqual(ofProvider);
		expect(ofProvider.data.length).toBeGreaterThan(0);
		expect((await list('model=absent')).data).toEqual([]);
	});

	test('are never more on a page than requested', async () => {
		for (const model of ['m', 'n', 'm', 'n', 'm', 'm']) await subject.book({ model });
		const { data, next_cursor: cursor } = await list('model=m&limit=3');
		expect(data).toHaveLength(3);
		expect((await list(`model=m&limit=3&cursor=${cursor}`)).data).toHaveLength(1);
	});

	test('a filter without matches in many entries continues by a cursor', async () => {
		for (let index = 0; index < maxEntriesScanned; index++) await subject.book({ model: 'm' });
		const first = await list('client_id=%2B1&limit=1');
		expect(first.data).toEqual([]);
		expect(await list(`client_id=%2B1&limit=1&cursor=${first.next_cursor}`)).toMatchObject({ data: [{ request_id: 'two' }] });
	});

	test.each(['cursor=x', 'outcome=none', 'limit=0', 'modle=x'])('?%s is 422', async (query) => {
		expect((await send('GET', `/requests?${query}`)).body['errors']).toMatchObject([{ path: query.split('=')[0] }]);
	});
});
