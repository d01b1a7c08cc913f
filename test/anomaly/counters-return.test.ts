/** Redis returns without its data while a team sends requests: limits are enforced again soon, and exactly. */
import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTollgate } from '../support/processes.ts';
import { agent, eventually, operator, type Product, startProduct } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type PostgresDatabase, sharePostgres } from '../support/shared-stores.ts';

/** Concurrent requests of the team. */
const flood = 16;
const limitMs = 3000;

let postgres: PostgresDatabase;
let redis: RedisServer;
let product: Product;

beforeAll(async () => {
	[postgres, redis] = await Promise.all([sharePostgres(), startRedis()]);
	product = await startProduct({
		stores: { records: postgres.url, counters: redis.url },
		tiers: {
			enterprise: { rpm: null, daily_tokens: null, monthly_budget_usd: '1000000' },
			small: { rpm: null, daily_tokens: 1, monthly_budget_usd: null },
		},
		teams: { registered: [{ id: 'spent', tier: 'small', client_ids: [operator.id] }] },
	});
}, 60_000);

afterAll(async () => {
	await product.stop();
	await Promise.all([postgres.stop(), redis.stop()]);
});

test('limits bind again within 3 s while another team keeps calling, and counters equal the ledger', async () => {
	const [busy, spent] = await Promise.all([product.accessToken(agent), product.accessToken(operator)]);
	const ask = async (accessToken: string): Promise<number> => {
		const response = await fetch(`${product.gatewayUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
		});
		await response.arrayBuffer();
		return response.status;
	};
	expect(await ask(spent)).toBe(200);
	await eventually('the limit is reached', async () => ((await ask(spent)) === 429 ? true : undefined));
	let isOver = false;
	let requested = 0;
	const floods = Array.from({ length: flood }, async () => {
		for (; !isOver; requested++) expect(await ask(busy)).toBe(200);
	});
	try {
		await eventually('calls of the busy team', () => (requested > 200 ? true : undefined), 20_000);
		await redis.kill();
		await eventually('no limit binds without Redis', async () => ((await ask(spent)) === 200 ? true : undefined));
		await redis.restart();
		const startMs = performance.now();
		const [before] = [requested];
		await eventually('the limit binds again', async () => ((await ask(spent)) === 429 ? true : undefined), 15_000);
		const tookMs = Math.round(performance.now() - startMs);
		const perSecond = Math.round(((requested - before) * 1000) / tookMs);
		if (process.env['TOLLGATE_FIGURES'] !== undefined) {
			appendFileSync(process.env['TOLLGATE_FIGURES'], `limits bind again after ${tookMs} ms at ${perSecond} requests per second\n`);
		}
		expect(requested).toBeGreaterThan(before);
		expect(tookMs).toBeLessThan(limitMs);
	} finally {
		isOver = true;
		await Promise.all(floods);
	}
	await eventually(
		'counters equal the ledger',
		async () => {
			const { stdout } = await runTollgate(['doctor', 'ledger', '--json', '--config', product.configPath]);
			const checks = JSON.parse(stdout) as { name: string; ok: boolean }[];
			return checks.filter(({ name, ok }) => name.startsWith('counters of') && ok).length === 2 ? true : undefined;
		},
		15_000,
	);
}, 90_000);
