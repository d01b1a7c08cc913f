import { describe, expect, it } from 'vitest';
import { runCommandLine as run } from '../../../test/support/run-command-line.ts';
import type { AdminApi } from '../environment.ts';

describe('records', () => {
	const problem = (status: number, body: object) => () =>
		Promise.resolve({
			status,
			headers: {},
			text: JSON.stringify({ title: 'Title', detail: 'What happened.', code: 'some_code', errors: [], ...body }),
		});

	it('flags become members, and none is null', async () => {
		const line =
			'team create --name Red --clients a,b --rpm 7 --daily-tokens none --metadata owner=ann,cost-center=7 --url http://x --config c.yaml';
		const { code, calls } = await run(line);
		expect(code).toBe(0);
		const body = {
			name: 'Red',
			client_ids: ['a', 'b'],
			limits: { rpm: 7, daily_tokens: null },
			metadata: { owner: 'ann', 'cost-center': '7' },
		};
		expect(calls).toEqual([
			['openAdmin', { configPath: 'c.yaml', url: 'http://x' }],
			['request', { method: 'POST', path: '/teams', body }],
			['close'],
		]);
		const targets = [{ provider: 'a' }, { provider: 'b', model: 'm/n:1' }, { provider: 'c', model: 'o', weight: 3 }];
		expect((await run('route create --name R --target a --target b/m/n:1 --target c/o=3')).calls[1]).toMatchObject([
			'request',
			{ body: { name: 'R', targets } },
		]);
	});

	it('set changes what is given, in the state that was read', async () => {
		const response: AdminApi['request'] = () =>
			Promise.resolve({ status: 200, headers: { etag: '"5"' }, text: '{"limits":{"rpm":1,"daily_tokens":2},"name":"Red"}' });
		expect((await run('team set red/1 --rpm 9', { response })).calls.slice(1, 3)).toEqual([
			['request', { method: 'GET', path: '/teams/red%2F1' }],
			['request', { method: 'PUT', path: '/teams/red%2F1', headers: { 'if-match': '"5"' }, body: { limits: { rpm: 9, daily_tokens: 2 } } }],
		]);
		expect(await run('team set red')).toMatchObject({ code: 1, calls: [], err: expect.stringContaining('nothing to update') as unknown });
	});

	it('lists of models and providers are set one by one, and none stands for the tier’s', async () => {
		const response: AdminApi['request'] = () =>
			Promise.resolve({ status: 200, headers: {}, text: '{"models":{"allow":["a"],"deny":["b"],"mode":"enforce"},"require":null}' });
		const bodyOf = async (line: string): Promise<unknown> =>
			((await run(line, { response })).calls[2] as [string, { body: unknown }] | undefined)?.[1].body;
		expect(await bodyOf('team set red --allow-models gpt-*,fast --require-region eu')).toEqual({
			models: { allow: ['gpt-*', 'fast'], deny: ['b'], mode: 'enforce' },
			require: { region: 'eu' },
		});
		expect(await bodyOf('team set red --deny-models none --models-mode monitor')).toEqual({
			models: { allow: ['a'], deny: null, mode: 'monitor' },
		});
		expect(await bodyOf('team set red --providers local,openai')).toEqual({ providers: ['local', 'openai'] });
		expect(await bodyOf('team set red --providers none')).toEqual({ providers: null });
		expect(await bodyOf('team set red --monitor-providers local')).toEqual({ providers: { allow: ['local'], mode: 'monitor' } });
	});

	it('a price is set whole, and named provider/model', async () => {
		expect((await run('price set provider_b/meta/llama:7 --input 1 --output 2')).calls[1]).toEqual([
			'request',
			{
				method: 'PUT',
				path: '/pricing/provider_b/meta%2Fllama%3A7',
				body: { input_usd_per_million_tokens: '1', output_usd_per_million_tokens: '2' },
			},
		]);
		expect(await run('price show gpt-4o')).toMatchObject({ code: 1, err: expect.stringContaining('must be provider/model') as unknown });
	});

	it('lists are read to their end, unless a limit says otherwise', async () => {
		const pages: Record<string, string> = {
			'/teams?limit=1000': '{"data":[{"id":"a","origin":"config","client_ids":["x","y"],"limits":{"rpm":null}}],"next_cursor":"c d"}',
			'/teams?limit=1000&cursor=c+d': '{"data":[{"id":"b\\u001b","origin":"api"}],"next_cursor":null}',
			'/teams?limit=1': '{"data":[{"id":"a"}],"next_cursor":"c"}',
		};
		const response: AdminApi['request'] = ({ path }) => Promise.resolve({ status: 200, headers: {}, text: pages[path] ?? '' });
		const { out } = await run('team list', { response });
		expect(out).toBe(
			'ID  NAME  TIER  RPM  DAILY TOKENS  CLIENTS  ORIGIN\na   -     -     -    -             x,y      config\nb\ufffd  -     -     -    -             -        api\n',
		);
		expect(JSON.parse((await run('team list --json', { response })).out)).toHaveLength(2);
		const cut = await run('team list --limit 1 --json', { response });
		expect(JSON.parse(cut.out)).toHaveLength(1);
		expect(cut.err).toBe('more than 1 entries: use --limit\n');
	});

	it('usage alone lists groups, whose dimensions are in one column', async () => {
		const sums = { requests: 2, tokens: {}, cost_usd: '1.00', estimated_cost_usd: '0.00' };
		const data = [
			{ day: '2026-11-01', team: 'red', provider: 'b', model: 'm', 'attribute:project': 'search', ...sums },
			{ day: '2026-11-02', team: 'red', provider: 'b', model: 'm', 'attribute:project': null, ...sums },
		];
		const response: AdminApi['request'] = () =>
			Promise.resolve({ status: 200, headers: {}, text: JSON.stringify({ data, next_cursor: null }) });
		const { out, calls } = await run('usage --group-by team,model,attribute:project --interval day --from 2026-11-01', { response });
		expect(calls[1]).toEqual([
			'request',
			{ method: 'GET', path: '/usage?from=2026-11-01&group_by=team%2Cmodel%2Cattribute%3Aproject&interval=day&limit=1000' },
		]);
		expect(out.split('\n').map((line) => line.slice(0, 32).trimEnd())).toEqual([
			'GROUP                      REQUE',
			'2026-11-01 red search b/m  2',
			'2026-11-02 red none b/m    2',
			'',
		]);
	});

	it('of the rate limits of a provider, the one with the smallest remaining share is listed', async () => {
		const limit = (model: string, remaining: number, most: number | null) => ({
			...{ model, kind: 'requests', limit: most, remaining },
			resets_at: '2026-11-21T10:31:00Z',
		});
		const health = { state: 'healthy', since: null };
		const data = [
			{ name: 'a', kind: 'anthropic', configured: true, health, rate_limits: [limit('m', 50, 100), limit('n', 2, 100)] },
			{ name: 'b', kind: 'openai', configured: true, health, rate_limits: [limit('m', 50, 100), limit('n', 0, null)] },
			{ name: 'c', kind: 'gemini', configured: false, health, rate_limits: [] },
		];
		const response: AdminApi['request'] = () =>
			Promise.resolve({ status: 200, headers: {}, text: JSON.stringify({ data, next_cursor: null }) });
		const { out } = await run('provider list', { response });
		expect(out.split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim())).toEqual([
			'NAME KIND CONFIGURED HEALTH SINCE TIGHTEST RATE LIMIT RESETS',
			'a anthropic true healthy - n requests 2/100 2026-11-21T10:31:00Z',
			'b openai true healthy - n requests 0 2026-11-21T10:31:00Z',
			'c gemini false healthy - - -',
			'',
		]);
	});

	it('a record is shown member by member, its lists as tables', async () => {
		const text = '{"team":"red","period":{"start":"s"},"cost_usd":"1.00","models":[{"model":"m","tokens":{"input":5}}],"budgets":[]}';
		const response: AdminApi['request'] = () => Promise.resolve({ status: 200, headers: {}, text });
		expect((await run('usage show red --group-by day', { response })).out).toBe(
			'FIELD         VALUE\nteam          red\nperiod.start  s\ncost_usd      1.00\nbudgets       -\n\nmodels\nMODEL  TOKENS.INPUT\nm      5\n',
		);
	});

	it('the groups of each month are shown', async () => {
		const months = ['s', 't'].map((start) => ({ period: { start }, requests: 3, groups: [{ model: 'm' }, { model: 'n' }], models: [] }));
		const response: AdminApi['request'] = () =>
			Promise.resolve({ status: 200, headers: {}, text: JSON.stringify({ team: 'red', months, group_by: 'model' }) });
		expect((await run('usage history red --group-by model', { response })).out).toBe(
			`FIELD     VALUE
team      red
group_by  model

months
PERIOD.START  REQUESTS  MODELS
s             3         -
t             3         -

months.groups
PERIOD.START  MODEL
s             m
s             n
t             m
t             n
`,
		);
	});

	it.each([
		[
			problem(422, { errors: [{ path: 'limits.rpm', message: 'must be at least 0' }] }),
			1,
			'Title (422 some_code)\n  limits.rpm: must be at least 0\n',
		],
		[problem(404, {}), 1, 'What happened. (404 some_code)\n'],
		[problem(429, {}), 2, 'What happened. (429 some_code)\n'],
		[problem(503, {}), 2, 'What happened. (503 some_code)\n'],
		[
			() => Promise.resolve({ status: 502, headers: {}, text: '<html>' }),
			2,
			'the API returned 502 without a JSON object: is this the admin API?\n',
		],
	])('a rejection is printed readably %#', async (response, code, err) => {
		expect(await run('team delete red', { response })).toMatchObject({ code, out: '', err: `tollgate: ${err}` });
	});
});
