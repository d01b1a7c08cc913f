/** Rate limits over HTTP: the team's own in every response, and those of providers, which select targets before a 429. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runTollgate } from '../support/processes.ts';
import { freePort } from '../support/product.ts';
import { describeOwn, send, useSubject } from './subject.ts';

interface Limit {
	readonly model: string;
	readonly kind: string;
	readonly limit: number | null;
	readonly remaining: number;
	readonly resets_at: string | null;
	readonly reported_at: string;
}

const port = await freePort();
const adminUrl = `http://127.0.0.1:${port}`;
const tier = { rpm: null, daily_tokens: null, monthly_budget_usd: null };
const clients = ['few', 'agent', 'operator'].map((id) => ({
	id,
	secret: id === 'few' ? 'secret-of-few-0123456789abcdef' : `secret-of-the-${id}-0123456789`,
	scopes: id === 'operator' ? ['invoke', 'admin'] : ['invoke'],
}));

describeOwn('Rate limits', 'a configuration of its own', () => {
	const subject = useSubject((simulatorUrl) => {
		const provider = (kind: string, path: string, key: string) => ({
			...{ kind, base_url: `${simulatorUrl}${path}`, api_key: key },
			...{ allow_private_network: true, retries: 0 },
		});
		return {
			enable_admin_api: true,
			roles: ['edge', 'gateway', 'identity', 'admin', 'simulator'],
			admin: { listen: `127.0.0.1:${port}`, max_requests_per_minute: 100_000 },
			identity: { clients },
			tiers: { three: { ...tier, rpm: 3, daily_tokens: 1_000_000 } },
			teams: {
				registered: [{ id: 'few', tier: 'three', client_ids: ['few'] }],
				unregistered_clients: { tier: 'enterprise' },
			},
			providers: {
				'first-openai': provider('openai', '/openai/v1', 'key-first'),
				'first-anthropic': provider('anthropic', '/anthropic', 'key-first'),
				'first-azure': { ...provider('azure-openai', '/azure', 'key-first'), deployments: { 'sim-text': {} } },
				second: provider('openai', '/openai/v1', 'key-second'),
			},
		};
	});
	let adminToken = '';
	beforeAll(async () => {
		const { product, adminClient } = subject.current;
		adminToken = (await product?.accessToken(adminClient, 'tollgate/admin')) ?? '';
		for (const kind of ['openai', 'anthropic', 'azure']) {
			const targets = [`first-${kind}`, 'second'].map((provider) => ({ provider, model: 'sim-text' }));
			const rule = { id: kind, name: kind, match: { model: `pair-${kind}` }, targets };
			expect((await admin('/routing', rule)).status).toBe(201);
		}
	});
	beforeEach(() => subject.current.simulator.clearRateLimits());

	const admin = async (path: string, body?: object): Promise<{ status: number; body: unknown }> => {
		const response = await fetch(`${adminUrl}${path}`, {
			method: body === undefined ? 'GET' : 'POST',
			headers: { authorization: `Bearer ${adminToken}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		return { status: response.status, body: await response.json() };
	};
	const bodyFor = (model: string, isStreaming = false) => ({
		...{ model, max_tokens: 9, stream: isStreaming },
		messages: [{ role: 'user', content: 'Say hello.' }],
	});

	it('a team’s own limits have Anthropic’s names on /v1/messages, streaming or not, rejected or not', async () => {
		const { product } = subject.current;
		const few = clients.find(({ id }) => id === 'few');
		const accessToken = few === undefined ? undefined : await product?.accessToken(few);
		const ask = async (path: string, isStreaming: boolean): Promise<Response> => {
			const body = bodyFor('second/sim-text', isStreaming);
			const response = await send(subject.current, path, { body, ...(accessToken !== undefined && { accessToken }) });
			await response.text();
			return response;
		};
		const limitsOf = ({ headers }: Response, kind: string): (string | null)[] =>
			['limit', 'remaining', 'reset'].map((name) => headers.get(`anthropic-ratelimit-${kind}-${name}`));
		// A request whose minute ends meanwhile has another count.
		const remaining = (count: number) => expect.stringMatching(new RegExp(`^[${count}-2]$`)) as unknown;
		const wholeMinute = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/) as unknown;
		const midnight = expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/) as unknown;
		for (const [path, isStreaming, count] of [
			['/v1/messages', false, 2],
			['/v1/messages', true, 1],
		] as const) {
			const response = await ask(path, isStreaming);
			expect([response.status, ...limitsOf(response, 'requests')]).toEqual([200, '3', remaining(count), wholeMinute]);
			expect(limitsOf(response, 'tokens')).toEqual(['1000000', expect.stringMatching(/^\d{6}/), midnight]);
			expect(response.headers.get('x-ratelimit-limit-requests')).toBe('3');
			expect([...response.headers.keys()].filter((name) => /ratelimit-(?:input|output)/.test(name))).toEqual([]);
		}
		const chat = await ask('/v1/chat/completions', false);
		expect([...chat.headers.keys()].filter((name) => name.startsWith('anthropic-'))).toEqual([]);
		let rejected = await ask('/v1/messages', false);
		for (let more = 0; more < 3 && rejected.status === 200; more++) rejected = await ask('/v1/messages', false);
		expect([rejected.status, ...limitsOf(rejected, 'requests')]).toEqual([429, '3', '0', wholeMinute]);
	});

	describe.each([
		['openai', '/v1/chat/completions'],
		['anthropic', '/v1/messages'],
		['azure', '/v1/chat/completions'],
	])('reported by %s', (kind, path) => {
		const ask = async (): Promise<{ status: number; provider: string | null }> => {
			const response = await send(subject.current, path, { body: bodyFor(`pair-${kind}`) });
			await response.text();
			return { status: response.status, provider: response.headers.get('x-gateway-provider') };
		};

		it('move requests to the second target before a 429, and back after the reset', async () => {
			const { simulator } = subject.current;
			await simulator.limitRate({ key: 'key-first', requests: 3, window_seconds: 3 });
			const startMs = Date.now();
			const providers: (string | null)[] = [];
			for (let count = 0; count < 8; count++) providers.push((await ask()).provider);
			const first = `first-${kind}`;
			expect(providers).toEqual([first, first, first, ...Array.from({ length: 5 }, () => 'second')]);
			const { body } = await admin('/providers');
			const limits = (body as { data: { name: string; rate_limits: Limit[] }[] }).data.find(({ name }) => name === first)?.rate_limits;
			const requests = limits?.find((limit) => limit.kind === 'requests');
			expect(requests).toMatchObject({ model: 'sim-text', limit: 3, remaining: 0 });
			expect(Date.parse(requests?.resets_at ?? '')).toBeGreaterThan(startMs);
			const explained = await admin('/explain', { client_id: 'agent', format: 'chat', body: bodyFor(`pair-${kind}`) });
			expect(explained.body).toMatchObject({ route: { targets: [{ rate_limited: true }, { rate_limited: false }] } });
			const metrics = await (await fetch(`${adminUrl}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } })).text();
			expect(metrics).toContain(`tollgate_provider_rate_limited_models{provider="${first}"} 1`);
			expect(metrics).toContain(`tollgate_provider_steered_requests_total{provider="${first}"} 5`);
			expect(metrics).toContain(`tollgate_provider_rate_limit_remaining_ratio{provider="${first}",kind="requests"} 0`);
			const listed = await runTollgate(['provider', 'list', '--url', adminUrl], { env: { TOLLGATE_ADMIN_TOKEN: adminToken } });
			expect(listed.stdout).toMatch(new RegExp(`^${first} .*sim-text requests 0/3`, 'm'));
			await expect.poll(ask, { interval: 100, timeout: 20_000 }).toEqual({ status: 200, provider: first });
			const received = await simulator.requests('?key=irst&limit=1000');
			expect(received.filter(({ status }) => status === 429)).toEqual([]);
		}, 30_000);
	});
});
