/** A change through one admin API takes effect on every gateway: at once in the same process, within a second over PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agent, fetchAccessToken, freePort, operator, type Product, startProduct } from '../support/product.ts';
import { type PostgresDatabase, sharePostgres } from '../support/shared-stores.ts';
import { describeOwn } from './subject.ts';

interface Administered {
	readonly product: Product;
	admin(
		method: string,
		path: string,
		body?: object,
		headers?: Record<string, string>,
	): Promise<{ status: number; body: Row; etag: string }>;
	/** Status of a request, and the error code if it was rejected. */
	call(model?: string): Promise<string>;
}

type Row = Readonly<Record<string, unknown>>;

async function startAdministered(extra: object): Promise<Administered> {
	const port = await freePort();
	const product = await startProduct({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
		teams: { unregistered_clients: 'reject' },
		...extra,
	});
	const [accessToken, adminToken] = await Promise.all([
		product.accessToken(),
		fetchAccessToken(product.tokenEndpoint, operator, 'tollgate/admin'),
	]);
	return {
		product,
		async admin(method, path, body, headers = {}) {
			const response = await fetch(`http://127.0.0.1:${port}${path}`, {
				method,
				headers: { authorization: `Bearer ${adminToken}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
				...(body !== undefined && { body: JSON.stringify(body) }),
			});
			const text = await response.text();
			return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Row), etag: response.headers.get('etag') ?? '' };
		},
		async call(model = 'gpt-4o-mini') {
			const response = await fetch(`${product.gatewayUrl}/v1/chat/completions`, {
				method: 'POST',
				headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
				body: JSON.stringify({ model, max_tokens: 20, messages: [{ role: 'user', content: 'Say hello.' }] }),
			});
			const { error } = (await response.json()) as { error?: { code?: string } };
			return `${response.status}${error?.code === undefined ? '' : ` ${error.code}`}`;
		},
	};
}

const team = { id: 'red', tier: 'enterprise', client_ids: [agent.id] };

describeOwn('a budget that is lowered during 200 concurrent requests', 'a configuration of its own', () => {
	let one: Administered;
	beforeAll(async () => {
		one = await startAdministered({});
	}, 30_000);
	afterAll(() => one.product.stop());

	it('takes effect at once: in-flight requests complete, and none begins after the response', async () => {
		await one.admin('POST', '/teams', team);
		expect((await one.admin('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '1000' })).status).toBe(201);
		let isLowered = false;
		const admitted = { before: 0, after: 0 };
		const callers = Array.from({ length: 200 }, async () => {
			for (;;) {
				const beganLowered = isLowered;
				const outcome = await one.call('gpt-4o-mini-sim-slow-first-byte-100');
				if (outcome !== '200') return outcome;
				admitted[beganLowered ? 'after' : 'before']++;
			}
		});
		await expect.poll(() => admitted.before, { timeout: 5000 }).toBeGreaterThan(200);
		const lowered = await one.admin('PUT', '/budgets/b', { limit_usd: '0' });
		isLowered = true;
		expect(lowered).toMatchObject({ status: 200, body: { usage: { state: 'exhausted' } } });
		expect(new Set(await Promise.all(callers))).toEqual(new Set(['429 budget_exceeded']));
		expect(admitted.after).toBe(0);
		expect((await one.admin('GET', '/usage/red')).body['requests']).toBe(admitted.before);
	});
});

describeOwn('two processes on PostgreSQL', 'a configuration of its own', () => {
	let postgres: PostgresDatabase;
	let fleet: Administered[] = [];
	beforeAll(async () => {
		postgres = await sharePostgres();
		const stores = { records: postgres.url };
		fleet = await Promise.all([startAdministered({ stores }), startAdministered({ stores })]);
	}, 60_000);
	afterAll(async () => {
		await Promise.all(fleet.map(({ product }) => product.stop()));
		await postgres.stop();
	});

	/** Measures the time until requests to a gateway have this outcome. */
	async function untilRequestsAre(outcome: string, at: Administered): Promise<number> {
		const startMs = performance.now();
		for (;;) {
			const found = await at.call();
			const waitedMs = performance.now() - startMs;
			if (found === outcome) return waitedMs;
			if (waitedMs > 5000) throw new Error(`calls are ${found}, not ${outcome}`);
		}
	}

	it('a change by one admin API takes effect on the next request of its own gateway, and within a second on the other', async () => {
		const [here, there] = fleet as [Administered, Administered];
		const change = async (method: string, path: string, body: object | undefined, outcome: string): Promise<void> => {
			expect((await here.admin(method, path, body)).status).toBeLessThan(300);
			expect(await here.call()).toBe(outcome);
			expect(await untilRequestsAre(outcome, there)).toBeLessThan(1000);
		};
		expect(await there.call()).toBe('403 client_unregistered');
		await change('POST', '/teams', team, '200');
		await change('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '0' }, '429 budget_exceeded');
		await change('PUT', '/budgets/b', { limit_usd: '100' }, '200');
		await change('PUT', '/budgets/b', { limit_usd: '0' }, '429 budget_exceeded');
		await change('DELETE', '/budgets/b', undefined, '200');
		await change('PUT', '/teams/red', { limits: { rpm: 0 } }, '429 rpm_limit_exceeded');
		await change('PUT', '/teams/red', { limits: {} }, '200');
		await change('PUT', '/teams/red', { models: { deny: ['gpt-4o*'] } }, '403 model_not_allowed');
		await change('PUT', '/teams/red', { models: null, providers: ['provider_a'] }, '403 model_not_allowed');
		await change('PUT', '/teams/red', { providers: null }, '200');
		await change('DELETE', '/teams/red', undefined, '403 client_unregistered');
	}, 30_000);

	it('of 50 that change one record through both in the state of one tag, one does; without a tag all do', async () => {
		const adminOf = (index: number) => (fleet[index % 2] as Administered).admin;
		const made = await Promise.all(Array.from({ length: 50 }, (_, index) => adminOf(index)('POST', '/teams', { name: 'Blue' })));
		expect(made.map(({ status }) => String(status)).toSorted()).toEqual(['201', ...Array.from({ length: 49 }, () => '409')]);
		const { etag } = await adminOf(0)('GET', '/teams/blue');
		const put = (index: number, headers: Record<string, string>) => adminOf(index)('PUT', '/teams/blue', { name: `n${index}` }, headers);
		const conditional = await Promise.all(Array.from({ length: 50 }, (_, index) => put(index, { 'if-match': etag })));
		expect(conditional.map(({ status }) => String(status)).toSorted()).toEqual(['200', ...Array.from({ length: 49 }, () => '412')]);
		const free = await Promise.all(Array.from({ length: 50 }, (_, index) => put(index, {})));
		expect(new Set(free.map(({ status }) => status))).toEqual(new Set([200]));
		const { body } = await adminOf(1)('GET', '/audit?kind=team&key=blue');
		expect((body['data'] as Row[]).length).toBe(52);
	}, 30_000);
});
