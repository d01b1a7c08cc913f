/** Two gateways, each with a data directory of its own, that share PostgreSQL and Redis. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { runTollgate } from '../support/processes.ts';
import { agent, eventually, type Product, startProduct } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';

let postgres: PostgresServer;
let redis: RedisServer;
let fleet: Product[];

beforeAll(async () => {
	[postgres, redis] = await Promise.all([startPostgres('fsync=off'), startRedis()]);
	const stores = { records: postgres.url, counters: redis.url };
	const tiers = { standard: { rpm: 1000, daily_tokens: null, monthly_budget_usd: '100' } };
	fleet = await Promise.all([startProduct({ stores, tiers }), startProduct({ stores, tiers })]);
}, 60_000);

afterAll(async () => {
	await Promise.all(fleet.map((product) => product.stop()));
	await Promise.all([postgres.stop(), redis.stop()]);
});

async function call(product: Product, accessToken: string): Promise<Response> {
	const response = await fetch(`${product.gatewayUrl}/v1/chat/completions`, {
		method: 'POST',
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
		body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
	});
	await response.arrayBuffer();
	return response;
}

async function limits(product: Product, accessToken: string) {
	const response = await fetch(`${product.gatewayUrl}/v1/limits`, { headers: { authorization: `Bearer ${accessToken}` } });
	return (await response.json()) as {
		team: string;
		requests: { used: number } | null;
		budgets: { spent_usd: string; reserved_usd: string }[];
	};
}

async function doctor(product: Product): Promise<{ name: string; ok: boolean; detail: string }[]> {
	const { stdout } = await runTollgate(['doctor', 'ledger', '--json', '--config', product.configPath]);
	return JSON.parse(stdout) as { name: string; ok: boolean; detail: string }[];
}

test('a team that is created by a command is known to both, and its requests count together', async () => {
	const [one, other] = fleet as [Product, Product];
	const created = await runTollgate(['client', 'create', '--id', 'shared', '--team', 'red', '--json', '--config', one.configPath]);
	const { client_secret: secret } = JSON.parse(created.stdout) as { client_secret: string };
	const accessTokens = await Promise.all(fleet.map((product) => product.accessToken({ id: 'shared', secret })));
	await eventually('the team', async () => (await limits(other, accessTokens[1] ?? '')).team === 'red' || undefined);
	await eventually('the team', async () => (await limits(one, accessTokens[0] ?? '')).team === 'red' || undefined);
	const responses = await Promise.all(
		Array.from({ length: 10 }, (_, index) => call(index % 2 === 0 ? one : other, accessTokens[index % 2] ?? '')),
	);
	expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
	await eventually('all ten', async () => {
		const [left, right] = [await limits(one, accessTokens[0] ?? ''), await limits(other, accessTokens[1] ?? '')];
		const [spent, reserved] = [left.budgets[0]?.spent_usd, left.budgets[0]?.reserved_usd];
		return (reserved === '0.00' && spent !== '0.00' && spent === right.budgets[0]?.spent_usd) || undefined;
	});
	// Waits for PostgreSQL: without its entries `doctor` has nothing to compare the counters with.
	await eventually(
		'PostgreSQL has them',
		async () => (await doctor(one)).find(({ name }) => name === 'counters of red')?.ok === true || undefined,
	);
	for (const product of fleet) expect((await doctor(product)).filter(({ ok }) => !ok)).toEqual([]);
	expect((await doctor(other)).find(({ name }) => name === 'counters of red')?.ok).toBe(true);
}, 30_000);

test('requests continue while PostgreSQL is down, and all of them are in its ledger afterwards', async () => {
	const [one, other] = fleet as [Product, Product];
	const accessTokens = await Promise.all(fleet.map((product) => product.accessToken(agent)));
	await postgres.kill();
	const responses = await Promise.all(
		Array.from({ length: 20 }, (_, index) => call(index % 2 === 0 ? one : other, accessTokens[index % 2] ?? '')),
	);
	expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
	await postgres.restart();
	const ids = new Set(responses.map(({ headers }) => headers.get('x-request-id')));
	expect(ids.size).toBe(20);
	await eventually(
		'the ledger has caught up',
		async () => {
			const checks = await doctor(one);
			return checks.every(({ ok }) => ok) && checks.some(({ name }) => name === `counters of ${agent.id}`) ? true : undefined;
		},
		30_000,
	);
}, 60_000);
