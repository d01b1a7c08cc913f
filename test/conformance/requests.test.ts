/** Records of requests over HTTP: rejected ones with the numbers of their limit, failovers with their targets. */
import { beforeAll, expect, it } from 'vitest';
import { runTollgate } from '../support/processes.ts';
import { freePort } from '../support/product.ts';
import { describeOwn, useSubject } from './subject.ts';

interface Entry {
	readonly id: string;
	readonly time: string;
	readonly team_id: string | null;
	readonly client_id: string;
	readonly endpoint: string;
	readonly model_requested: string | null;
	readonly model: string | null;
	readonly provider: string | null;
	readonly status: number;
	readonly code: string | null;
	readonly limit: { kind: string; limit: number | string; used: number | string; reserved: number | string; resets_at: string } | null;
	readonly targets: readonly { provider: string; model: string; status: number | null; ms: number }[];
	readonly usage: { total: number } | null;
	readonly cost_usd: string | null;
	readonly duration_ms: number;
}

const clients = ['minute', 'daily', 'broke', 'plain', 'over'].map((id) => ({
	id,
	secret: `secret-of-${id}-0123456789abcdef`,
	scopes: ['invoke'],
}));
const tier = { rpm: null, daily_tokens: null, monthly_budget_usd: null };
const port = await freePort();

describeOwn('Requests are recorded', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => ({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'admin', 'simulator'],
		admin: { listen: `127.0.0.1:${port}`, max_requests_per_minute: 100_000 },
		identity: {
			clients: [
				...clients,
				{ id: 'agent', secret: 'secret-of-the-agent-0123456789', scopes: ['invoke'] },
				{ id: 'operator', secret: 'secret-of-the-operator-0123456789', scopes: ['invoke', 'admin'] },
			],
		},
		tiers: { two: { ...tier, rpm: 2 }, few: { ...tier, daily_tokens: 1 } },
		teams: {
			registered: [
				{ id: 'minute', tier: 'two', client_ids: ['minute'] },
				{ id: 'daily', tier: 'few', client_ids: ['daily'] },
				{ id: 'broke', tier: 'enterprise', client_ids: ['broke'] },
				{ id: 'plain', tier: 'enterprise', client_ids: ['plain'] },
			],
			unregistered_clients: { tier: 'enterprise' },
		},
		providers: {
			broken: { kind: 'openai-compatible', base_url: `${simulatorUrl}/openai/v1`, api_key: 'k', allow_private_network: true, retries: 0 },
			gone: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'k', allow_private_network: true, retries: 0 },
		},
	}));
	let adminToken = '';
	beforeAll(async () => {
		const { product, adminClient } = subject.current;
		adminToken = (await product?.accessToken(adminClient, 'tollgate/admin')) ?? '';
	});

	const admin = async (path: string, method = 'GET', body?: object): Promise<{ status: number; body: unknown }> => {
		const response = await fetch(`http://127.0.0.1:${port}${path}`, {
			method,
			headers: { authorization: `Bearer ${adminToken}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		return { status: response.status, body: await response.json() };
	};
	const entry = async (id: string): Promise<Entry> => (await admin(`/requests/${id}`)).body as Entry;
	const list = async (query: string) => (await admin(`/requests?${query}`)).body as { data: Entry[]; next_cursor: string | null };
	const explain = async (id: string) => (await admin(`/explain/${id}`)).body as { summary: string };
	const ask = async (clientId: string, body: object = {}, path = '/v1/chat/completions') => {
		const client = clients.find(({ id }) => id === clientId);
		const response = await fetch(`${subject.current.baseUrl}${path}`, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${await subject.current.product?.accessToken(client)}`,
				'content-type': 'application/json',
			},
			body: JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: 'Say hello.' }], ...body }),
		});
		await response.text();
		return { status: response.status, id: response.headers.get('x-request-id') ?? '' };
	};

	it('a served request, at once', async () => {
		const { id } = await ask('plain');
		expect(await entry(id)).toMatchObject({
			id,
			team_id: 'plain',
			client_id: 'plain',
			endpoint: '/v1/chat/completions',
			model_requested: 'gpt-4o-mini',
			model: 'gpt-4o-mini',
			provider: 'provider_b',
			status: 200,
			code: null,
			limit: null,
			targets: [{ provider: 'provider_b', model: 'gpt-4o-mini', status: 200 }],
		});
		const { usage, cost_usd: cost } = await entry(id);
		expect([(usage?.total ?? 0) > 0, Number(cost) > 0]).toEqual([true, true]);
	});

	it('a stream, and a request of another endpoint', async () => {
		const stream = await ask('plain', { stream: true });
		expect(await entry(stream.id)).toMatchObject({ status: 200, stream: true });
		const messages = await ask('plain', { model: 'claude-haiku-4-5' }, '/v1/messages');
		expect(await entry(messages.id)).toMatchObject({ endpoint: '/v1/messages', provider: 'provider_a' });
		expect((await list('endpoint=/v1/messages')).data.map(({ id }) => id)).toEqual([messages.id]);
	});

	it('a request beyond the requests per minute, with its numbers', async () => {
		let rejected = await ask('minute');
		// The UTC minute can change once in between.
		for (let sent = 1; rejected.status === 200 && sent < 6; sent++) rejected = await ask('minute');
		const found = await entry(rejected.id);
		expect(found).toMatchObject({
			status: 429,
			code: 'rpm_limit_exceeded',
			limit: { kind: 'requests_per_minute', limit: 2, used: 2, reserved: 0 },
			targets: [],
			usage: null,
			cost_usd: null,
		});
		expect(Date.parse(found.limit?.resets_at ?? '') % 60_000).toBe(0);
		const explained = await explain(rejected.id);
		expect(explained.summary).toMatch(
			/^Rejected with 429 rpm_limit_exceeded: requests per minute at 2 used and 0 reserved of 2; resets at /,
		);
		const usage = (await admin('/usage/minute')).body as { requests: number };
		const { data } = await list('team=minute');
		expect(usage.requests).toBe(data.filter(({ status }) => status === 200).length);
	});

	it('a request beyond the tokens per day', async () => {
		await ask('daily');
		const { id } = await ask('daily');
		expect(await entry(id)).toMatchObject({
			status: 429,
			code: 'daily_token_limit_exceeded',
			limit: { kind: 'daily_tokens', limit: 1, reserved: 0 },
		});
		expect(Number((await entry(id)).limit?.used)).toBeGreaterThan(1);
	});

	it('requests beyond the budget of all models, and of one', async () => {
		await admin('/budgets', 'POST', { id: 'one', team: 'broke', model: 'gpt-4o', limit_usd: '0.000000001' });
		await expect.poll(async () => (await ask('broke', { model: 'gpt-4o' })).status, { timeout: 3000 }).toBe(429);
		const ofModel = await ask('broke', { model: 'gpt-4o' });
		expect(await entry(ofModel.id)).toMatchObject({
			code: 'model_budget_exceeded',
			limit: { kind: 'model_budget', limit: '0.000000001' },
		});
		await admin('/budgets', 'POST', { id: 'all', team: 'broke', limit_usd: '0' });
		await expect.poll(async () => (await ask('broke')).status, { timeout: 3000 }).toBe(429);
		const ofAll = await ask('broke');
		expect(await entry(ofAll.id)).toMatchObject({ code: 'budget_exceeded', limit: { kind: 'budget', limit: '0.00', reserved: '0.00' } });
	});

	it('a failover, with each target', async () => {
		const targets = [{ provider: 'gone' }, { provider: 'broken' }, { provider: 'provider_b' }];
		await admin('/routing', 'POST', { id: 'over', name: 'Over', match: { model: 'gpt-4o-mini', team: 'over' }, targets });
		const { id, status } = await ask('over');
		const found = await entry(id);
		expect(status).toBe(200);
		expect(found.targets[0]).toMatchObject({ provider: 'gone', status: null, code: 'provider_unreachable' });
		expect(found.targets.at(-1)).toMatchObject({ provider: 'broken', status: 200 });
		const explained = await explain(id);
		expect(explained.summary).toMatch(
			/^Served by broken\/gpt-4o-mini with 200 in .+ ms after gone\/gpt-4o-mini failed with provider_unreachable/,
		);
	});

	it('a failed request, with the status of its target', async () => {
		const { id, status } = await ask('plain', { model: 'gpt-4o-mini-sim-500' });
		const found = await entry(id);
		expect(found.status).toBe(status);
		expect(found.targets.length).toBeGreaterThan(0);
		expect(found.targets.every((target) => target.status === 500)).toBe(true);
	});

	it('an invalid request, without markup in its way', async () => {
		const model = '"><script>alert(1)</script>';
		const { id } = await ask('plain', { model });
		expect(await entry(id)).toMatchObject({ model_requested: model, targets: [{ model, status: 404 }] });
		expect((await list(`model=${encodeURIComponent(model)}`)).data.map((one) => one.id)).toContain(id);
	});

	it('no request without a valid token: it is only counted', async () => {
		const before = (await list('limit=1000')).data.length;
		const response = await fetch(`${subject.current.baseUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: 'Bearer x' },
		});
		expect(response.status).toBe(401);
		expect((await list('limit=1000')).data).toHaveLength(before);
		expect((await admin(`/requests/${response.headers.get('x-request-id')}`)).status).toBe(404);
		const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } })).text();
		expect(metrics).toMatch(/tollgate_requests_total\{[^}]*status="401"\} [1-9]/);
	});

	it('in pages that later requests do not shift', async () => {
		const seen: string[] = [];
		const known = (await list('client=plain&limit=1000')).data.map(({ id }) => id);
		let cursor: string | null = null;
		do {
			const page: Awaited<ReturnType<typeof list>> = await list(`client=plain&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
			seen.push(...page.data.map(({ id }) => id));
			cursor = page.next_cursor;
			await ask('plain');
		} while (cursor !== null);
		expect(seen).toEqual(known);
	});

	it('rejects bad queries', async () => {
		for (const query of ['cursor=x', 'status=x', 'attribute=x', 'from=x', 'limit=0', 'unknown=1', 'team=a&team=b']) {
			expect((await admin(`/requests?${query}`)).status).toBe(422);
		}
	});

	it('for commands, over the admin API and over the stores', async () => {
		const { product } = subject.current;
		const { id } = await ask('plain');
		const environment = { env: { TOLLGATE_ADMIN_TOKEN: adminToken } };
		// Other processes see a request half a second after its end.
		await expect.poll(async () => (await entry(id)).status).toBe(200);
		for (const where of [
			['--url', `http://127.0.0.1:${port}`],
			['--config', product?.configPath ?? ''],
		]) {
			const shown = await runTollgate(['request', 'show', id, ...where, '--json'], environment);
			expect([shown.code, JSON.parse(shown.stdout)]).toMatchObject([0, { id, status: 200 }]);
			const explained = await runTollgate(['explain', id, ...where], environment);
			expect([explained.code, explained.stdout]).toEqual([0, expect.stringContaining('Served by provider_b/gpt-4o-mini with 200')]);
			const listed = await runTollgate(['request', 'list', ...where, '--client', 'plain', '--limit', '1'], environment);
			expect(listed.stdout).toContain(id);
			const unknown = await runTollgate(['request', 'show', 'req_nothing', ...where], environment);
			expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('does not exist')]);
		}
	}, 30_000);
});
