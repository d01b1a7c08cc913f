import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';

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
					scope: { team: 'red', client: null, model: null, provider: null, attribute: null },
					window: 'month',
					period: 'monthly',
					timezone: 'UTC',
					week_start: 'monday',
					when_exceeded: 'reject',
					fallback_model: null,
					raise: null,
					mode: 'enforce',
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
				{ client: '+1', requests: 1 },
				{ client: 'agent', requests: 3, cost_usd: '1.500000001', estimated_cost_usd: '0.00' },
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
				{ client: '+1', ...sums, cost_usd: '0.000000002', estimated_cost_usd: '0.000000002' },
				{ client: 'agent', requests: 4, tokens: tokens(2), cost_usd: '1.50000001', estimated_cost_usd: '0.00' },
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

	test('of one team only', async () => {
		const { body } = await send('GET', '/usage?team=blue&group_by=team');
		expect(body['data']).toMatchObject([{ team: 'blue' }]);
		expect((await send('GET', '/usage?team=absent')).body['data']).toEqual([]);
	});

	test.each([
		['from=2026-11-02&to=2026-11-01', 'from'],
		['from=2000-01-01', 'from'],
		['group_by=month', 'group_by'],
		['group_by=team,clients', 'group_by'],
		['group_by=', 'group_by'],
		['group_by=attribute:', 'group_by'],
		['group_by=attribute:Project', 'group_by'],
		['group_by=team,client,model,endpoint', 'group_by'],
		['group_by=day&interval=hour', 'interval'],
		['interval=week', 'interval'],
		['interval=hour&from=2026-07-01&to=2026-11-01', 'from'],
		['from=2026-11-02T25:00:00Z', 'from'],
		['limit=1001', 'limit'],
		['cursor=x', 'cursor'],
		['cursor=InJlZCI', 'cursor'],
		['cursor=WyJhIl0', 'cursor'],
		['teams=red', 'teams'],
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

describe('usage by several dimensions', () => {
	beforeEach(async () => {
		const at = (day: number, hour: number): number => Date.UTC(2026, 8, day, hour, 30);
		for (const [startedMs, attributes, more] of [
			[at(1, 10), '{"project":"search","user":"1"}', {}],
			[at(1, 11), '{"project":"search","user":"2"}', { endpoint: '/v1/messages' }],
			[at(1, 11), '{"project":"=mail"}', {}],
			[at(2, 0), '', { team: 'blue', endpoint: '' }],
			[at(2, 0), '"other"', {}],
		] as const) {
			await subject.book({ startedMs, attributes, costNanoUsd: 1_000_000_000n, ...more });
		}
	});
	const september = 'from=2026-09-01&to=2026-10-01';
	const rowsOf = async (query: string): Promise<unknown[]> => {
		const { status, body } = await send('GET', `/usage?${september}&${query}`);
		expect([query, status]).toEqual([query, 200]);
		return (body['data'] as Record<string, unknown>[]).map(
			({ tokens: _tokens, cost_usd, estimated_cost_usd: _estimated, requests, ...key }) => {
				expect(cost_usd).toBe(`${Number(requests)}.00`);
				return { ...key, requests };
			},
		);
	};

	test('has a row for each combination, with null for what a request does not have', async () => {
		expect(await rowsOf('group_by=team,attribute:project')).toEqual([
			{ team: 'blue', 'attribute:project': null, requests: 1 },
			{ team: 'red', 'attribute:project': '(other)', requests: 1 },
			{ team: 'red', 'attribute:project': '=mail', requests: 1 },
			{ team: 'red', 'attribute:project': 'search', requests: 2 },
		]);
		expect(await rowsOf('group_by=endpoint,client')).toEqual([
			{ endpoint: null, client: 'agent', requests: 1 },
			{ endpoint: '/v1/chat/completions', client: 'agent', requests: 3 },
			{ endpoint: '/v1/messages', client: 'agent', requests: 1 },
		]);
		expect(await rowsOf('group_by=model,attribute:user,attribute:project')).toHaveLength(5);
		expect(await rowsOf('group_by=team,model,client,day')).toEqual([
			{ day: '2026-09-01', team: 'red', provider: 'provider_b', model: 'gpt-4o-mini', client: 'agent', requests: 3 },
			{ day: '2026-09-02', team: 'blue', provider: 'provider_b', model: 'gpt-4o-mini', client: 'agent', requests: 1 },
			{ day: '2026-09-02', team: 'red', provider: 'provider_b', model: 'gpt-4o-mini', client: 'agent', requests: 1 },
		]);
	});

	test('has a row for each hour, day or month', async () => {
		expect(await rowsOf('group_by=attribute:project&interval=hour')).toEqual([
			{ hour: '2026-09-01T10:00:00.000Z', 'attribute:project': 'search', requests: 1 },
			{ hour: '2026-09-01T11:00:00.000Z', 'attribute:project': '=mail', requests: 1 },
			{ hour: '2026-09-01T11:00:00.000Z', 'attribute:project': 'search', requests: 1 },
			{ hour: '2026-09-02T00:00:00.000Z', 'attribute:project': null, requests: 1 },
			{ hour: '2026-09-02T00:00:00.000Z', 'attribute:project': '(other)', requests: 1 },
		]);
		expect(await rowsOf('interval=day')).toEqual(await rowsOf('group_by=team,day'));
		expect(await rowsOf('interval=month')).toMatchObject([
			{ month: '2026-09', team: 'blue' },
			{ month: '2026-09', team: 'red' },
		]);
		const hours = await send('GET', '/usage?interval=hour&from=2026-09-01T11:00:00Z&to=2026-09-02T00:00:00Z');
		expect(hours.body).toMatchObject({
			period: { start: '2026-09-01T11:00:00.000Z', end: '2026-09-02T00:00:00.000Z' },
			data: [{ hour: '2026-09-01T11:00:00.000Z', team: 'red', requests: 2 }],
			next_cursor: null,
		});
	});

	test('is complete page by page, as JSON and as CSV', async () => {
		const query = `${september}&group_by=team,attribute:project,attribute:user&interval=hour`;
		const all = (await send('GET', `/usage?${query}`)).body['data'] as unknown[];
		const paged: unknown[] = [];
		const lines: string[] = [];
		for (let cursor = ''; ; ) {
			const page = `/usage?${query}&limit=2${cursor}`;
			const { body } = await send('GET', page);
			const { text } = await send('GET', page, undefined, csv);
			paged.push(...(body['data'] as unknown[]));
			lines.push(
				...text
					.trimEnd()
					.split('\r\n')
					.slice(lines.length === 0 ? 0 : 1),
			);
			const next = body['next_cursor'];
			if (typeof next !== 'string') break;
			cursor = `&cursor=${next}`;
		}
		expect(paged).toEqual(all);
		expect(lines).toEqual([
			'hour,team,attribute:project,attribute:user,requests,input,output,cache_read,cache_write,total,cost_usd,estimated_cost_usd',
			'2026-09-01T10:00:00.000Z,red,search,1,1,0,0,0,0,0,1.00,0.00',
			`2026-09-01T11:00:00.000Z,red,"'=mail",,1,0,0,0,0,0,1.00,0.00`,
			'2026-09-01T11:00:00.000Z,red,search,2,1,0,0,0,0,0,1.00,0.00',
			'2026-09-02T00:00:00.000Z,blue,,,1,0,0,0,0,0,1.00,0.00',
			'2026-09-02T00:00:00.000Z,red,"(other)","(other)",1,0,0,0,0,0,1.00,0.00',
		]);
	});

	test('names the known dimensions and the one that was probably meant', async () => {
		const { body } = await send('GET', '/usage?group_by=team,clients');
		expect(body['detail']).toBe(
			'`group_by` must name dimensions of team, client, model, provider, endpoint, day, attribute:NAME; "clients" is none. Did you mean client?',
		);
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
		['client', [{ client: 'agent' }], [{ client: '+1' }, { client: 'agent', requests: 3 }]],
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
});
