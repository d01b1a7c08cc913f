/** Two processes that share Redis enforce the limit of one address within one per cent. Neither waits during an outage of Redis. */
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Product, startProduct } from '../support/product.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';

const limit = 2000;
let redis: RedisServer;
let products: Product[];

beforeAll(async () => {
	redis = await startRedis();
	const settings = { stores: { counters: redis.url }, edge: { firewall: { per_ip: { requests: limit } } } };
	products = await Promise.all([startProduct(settings), startProduct(settings)]);
});
afterAll(async () => {
	await Promise.all(products.map((product) => product.stop()));
	await redis.stop();
});

/** Sends requests over four connections, to each process in turn. @returns the number of requests that were not blocked. */
async function countPassed(requests: number, localAddress: string): Promise<number> {
	const agents = products.map(() => new Agent({ keepAlive: true, maxSockets: 2, localAddress }));
	let sent = 0;
	let passed = 0;
	const client = async (): Promise<void> => {
		while (sent < requests) if ((await ask(sent++)) === 200) passed++;
	};
	const ask = (index: number): Promise<number> =>
		new Promise((resolve, reject) => {
			const [product, agent] = [products[index % 2], agents[index % 2]];
			const requested = request(`${product?.gatewayUrl}/`, { ...(agent !== undefined && { agent }) }, (response) => {
				response.resume().once('end', () => resolve(response.statusCode ?? 0));
			});
			requested.once('error', reject).end();
		});
	await Promise.all(Array.from({ length: 4 }, client));
	for (const agent of agents) agent.destroy();
	return passed;
}

test('2,500 requests over two processes: 2,000 pass, give or take twenty', async () => {
	const passed = await countPassed(2500, '127.7.7.1');
	expect(passed).toBeGreaterThanOrEqual(limit * 0.99);
	expect(passed).toBeLessThanOrEqual(limit * 1.01);
});

test('without Redis each counts for itself', async () => {
	await redis.kill();
	expect(await countPassed(2500, '127.7.7.2')).toBe(2500);
});
