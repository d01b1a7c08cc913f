/** Lists of models and providers over HTTP: no path of a request reaches a provider that they do not allow, by the provider's own record. */
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { agent, freePort, operator } from '../support/product.ts';
import { describeOwn, useSubject } from './subject.ts';

const port = await freePort();
const rejected = '403 model_not_allowed';

interface ErrorBody {
	readonly error: { readonly type: string; readonly code: string; readonly message: string };
}

describeOwn('Lists of models and providers', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'admin', 'simulator'],
		admin: { listen: `127.0.0.1:${port}`, max_requests_per_minute: 100_000 },
		tiers: { open: { rpm: null, daily_tokens: null, monthly_budget_usd: null } },
		routing: { provider_header: 'optional', aliases: { fast: 'provider_b/gpt-4o-mini', sneaky: 'provider_a/claude-haiku-4-5' } },
		providers: {
			provider_a: { region: 'us' },
			provider_b: { region: 'eu', retention: 'none' },
			local: {
				kind: 'openai-compatible',
				base_url: `${simulatorUrl}/openai/v1`,
				api_key: 'key-of-local',
				allow_private_network: true,
				region: 'us',
			},
		},
	}));
	let adminToken = '';
	let accessToken = '';

	const admin = async (method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> => {
		const response = await fetch(`http://127.0.0.1:${port}${path}`, {
			method,
			headers: { authorization: `Bearer ${adminToken}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
	};
	const allow = async (lists: object): Promise<void> => {
		const { status } = await admin('PUT', '/teams/red', { models: null, providers: null, require: null, ...lists });
		expect(status).toBe(200);
	};
	const request = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
		fetch(`${subject.current.baseUrl}${path}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...headers },
			body: JSON.stringify(body),
		});
	const messages = [{ role: 'user', content: 'Say hello.' }];
	const ask = async (model: string, headers: Record<string, string> = {}): Promise<string> => {
		const response = await request('/v1/chat/completions', { model, max_tokens: 9, messages }, headers);
		const { error } = (await response.json()) as Partial<ErrorBody>;
		return `${response.status}${error === undefined ? '' : ` ${error.code}`}`;
	};
	/** Models that providers received since the last call. */
	let seen = 0;
	const billed = async (): Promise<string[]> => {
		const all = await subject.current.simulator.requests('?limit=1000');
		const models = all.slice(0, all.length - seen).map(({ model }) => model);
		seen = all.length;
		return models.toReversed();
	};

	beforeAll(async () => {
		const { product } = subject.current;
		adminToken = (await product?.accessToken(operator, 'tollgate/admin')) ?? '';
		accessToken = (await product?.accessToken(agent)) ?? '';
		expect((await admin('POST', '/teams', { id: 'red', tier: 'open', client_ids: [agent.id] })).status).toBe(201);
	});
	beforeEach(() => billed());

	it('no spelling of a request reaches a model that is not allowed', async () => {
		await allow({ models: { allow: ['gpt-4o-mini', 'fast'], deny: ['*-turbo'] } });
		expect(await Promise.all(['gpt-4o-mini', 'fast', 'provider_b/gpt-4o-mini', 'openai/gpt-4o-mini'].map((model) => ask(model)))).toEqual(
			Array.from({ length: 4 }, () => '200'),
		);
		expect(await billed()).toEqual(Array.from({ length: 4 }, () => 'gpt-4o-mini'));
		const others = [
			'gpt-4o',
			'GPT-4o-mini',
			'sneaky',
			'provider_b/gpt-4o',
			'local/gpt-4o',
			'anthropic/claude-haiku-4-5',
			'gpt-4-turbo',
			'unknown',
		];
		for (const model of others) expect([model, await ask(model)]).toEqual([model, rejected]);
		expect(await ask('gpt-4o', { 'x-gateway-provider': 'local' })).toBe(rejected);
		expect(await billed()).toEqual([]);
	});

	it('the error has each client’s format, and the record and its explanation name the list', async () => {
		await allow({ models: { deny: ['gpt-*', 'claude-*'] } });
		const bodies: readonly [string, object][] = [
			['/v1/chat/completions', { model: 'gpt-4o', messages }],
			['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 9, messages }],
			['/v1/responses', { model: 'gpt-4o', input: 'hi' }],
			['/v1/messages/count_tokens', { model: 'claude-haiku-4-5', messages }],
			['/v1/completions', { model: 'gpt-4o', prompt: 'hi' }],
		];
		for (const [path, body] of bodies) {
			const response = await request(path, body);
			const { error } = (await response.json()) as ErrorBody;
			expect([response.status, error.type, error.code]).toEqual([403, 'permission_error', 'model_not_allowed']);
			expect(error.message).toContain('(`teams.red.models.deny`)');
			if (path.endsWith('count_tokens')) continue;
			const id = response.headers.get('x-request-id') ?? '';
			expect((await admin('GET', `/requests/${id}`)).body).toMatchObject({
				code: 'model_not_allowed',
				allow_list: 'teams.red.models.deny',
				targets: [],
			});
			expect((await admin('GET', `/explain/${id}`)).body['summary']).toContain('`teams.red.models.deny` does not allow');
		}
		const explained = await admin('POST', '/explain', { team: 'red', format: 'chat', body: { model: 'gpt-4o', messages } });
		expect(explained.body).toMatchObject({
			outcome: { code: 'model_not_allowed', status: 403 },
			allow_lists: { denied: [{ provider: 'provider_b', model: 'gpt-4o', list: 'teams.red.models.deny' }] },
		});
		expect(await billed()).toEqual([]);
	});

	it('a rule’s targets outside the required region are skipped, also when the first one fails', async () => {
		await allow({ require: { region: 'eu', retention: 'none' } });
		const targets = [{ provider: 'provider_a', model: 'claude-haiku-4-5' }, { provider: 'provider_b' }, { provider: 'local' }];
		expect((await admin('POST', '/routing', { id: 'spread', name: 'Spread', match: { model: 'gpt-4o-sim-*' }, targets })).status).toBe(201);
		expect(await ask('gpt-4o-sim-text')).toBe('200');
		await subject.current.simulator.addFault({ fault: '503', model: 'gpt-4o-sim-broken' });
		expect((await ask('gpt-4o-sim-broken')).startsWith('5')).toBe(true);
		await subject.current.simulator.clearFaults();
		expect(new Set(await billed())).toEqual(new Set(['gpt-4o-sim-text', 'gpt-4o-sim-broken']));
		const used = await subject.current.simulator.requests('?limit=2');
		expect(used.map(({ key }) => key)).not.toContain('ocal');
		await allow({ providers: ['provider_c'] });
		expect(await ask('gpt-4o-sim-text')).toBe(rejected);
		expect((await admin('DELETE', '/routing/spread')).status).toBe(204);
		expect(await billed()).toEqual([]);
	});

	it('a client sees only the models that it may use', async () => {
		await allow({ models: { allow: ['gpt-4o*', 'fast'] }, providers: ['openai'] });
		const response = await fetch(`${subject.current.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${accessToken}` } });
		const ids = ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
		expect(ids).toEqual(expect.arrayContaining(['fast', 'gpt-4o']));
		expect(ids.filter((id) => !/^(?:fast|gpt-4o)/.test(id))).toEqual([]);
		const statusOf = async (id: string): Promise<number> =>
			(await fetch(`${subject.current.baseUrl}/v1/models/${id}`, { headers: { authorization: `Bearer ${accessToken}` } })).status;
		expect([await statusOf('gpt-4o'), await statusOf('sneaky'), await statusOf('local/gpt-4o')]).toEqual([200, 404, 404]);
	});

	it('a monitored list is recorded and not enforced, and an enforced one applies to the next request', async () => {
		await allow({ models: { deny: ['gpt-4o'], mode: 'monitor' } });
		const response = await request('/v1/chat/completions', { model: 'gpt-4o', max_tokens: 9, messages });
		await response.text();
		const id = response.headers.get('x-request-id') ?? '';
		expect([response.status, (await admin('GET', `/requests/${id}`)).body]).toMatchObject([
			200,
			{ code: null, monitored: ['model_not_allowed'], allow_list: 'teams.red.models.deny' },
		]);
		await allow({ models: { deny: ['gpt-4o'] } });
		expect(await ask('gpt-4o')).toBe(rejected);
		await allow({});
		expect(await ask('gpt-4o')).toBe('200');
	});

	it('lists that exclude everything are 422, name the field and change nothing', async () => {
		const fieldOf = async (lists: object): Promise<unknown> => {
			const { status, body } = await admin('PUT', '/teams/red', lists);
			return [status, (body['errors'] as { path: string }[])[0]?.path];
		};
		expect(await fieldOf({ models: { allow: [] } })).toEqual([422, 'models.allow']);
		expect(await fieldOf({ models: { deny: ['*'] } })).toEqual([422, 'models.deny']);
		expect(await fieldOf({ providers: ['nobody'] })).toEqual([422, 'providers[0]']);
		expect(await fieldOf({ require: { region: 'mars' } })).toEqual([422, 'require.region']);
		expect((await admin('GET', '/teams/red')).body).toMatchObject({ models: null, providers: null, require: null });
	});
});
