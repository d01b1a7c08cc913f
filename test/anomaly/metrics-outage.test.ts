/** Metrics during outages, and from processes without an admin API. */
import { expect, test } from 'vitest';
import { call, type Deployment, planProduct, startDeployment, writeSettings } from '../support/deployment.ts';
import { readExposition, type Series, valueOf } from '../support/exposition.ts';
import { launcher, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/product.ts';
import { startRedis } from '../support/redis-server.ts';

async function scrape(port: number): Promise<readonly Series[]> {
	return readExposition(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
}

test('the counter store fails: metrics show the breaker, and the number of uncounted requests', async () => {
	const redis = await startRedis();
	const port = await freePort();
	const product: Deployment = await startDeployment({ stores: { counters: redis.url }, metrics: { listen: `127.0.0.1:${port}` } });
	const accessToken = await product.accessToken();
	const status = async (): Promise<number> => {
		const response = await call(product.gatewayUrl, accessToken, {});
		await response.arrayBuffer();
		return response.status;
	};
	expect(await status()).toBe(200);
	const measurements = async () => {
		const series = await scrape(port);
		const names = ['counter_store_up', 'counter_store_outages_total', 'uncounted_requests_total'];
		return names.map((name) => valueOf(series, `tollgate_${name}`));
	};
	expect(await measurements()).toEqual([1, 0, 0]);
	await redis.kill();
	let passed = 0;
	await eventually('the store is given up', async () => {
		expect(await status()).toBe(200);
		passed++;
		return (await measurements())[1] === 1 ? true : undefined;
	});
	expect(await measurements()).toEqual([0, 1, passed]);
	await redis.restart();
	await eventually('the store is used again', async () => ((await measurements())[0] === 1 ? true : undefined));
	// Requests pass uncounted until the team's counters are restored.
	await eventually('the team is counted again', async () => {
		const [, , before] = await measurements();
		expect(await status()).toBe(200);
		return (await measurements())[2] === before ? true : undefined;
	});
	expect((await measurements()).slice(0, 2)).toEqual([1, 1]);
	await redis.stop();
});

test('workers are shown by their first process, each under its number, and together they miss nothing', async () => {
	const redis = await startRedis();
	const port = await freePort();
	const product = await startDeployment({
		gateway: { workers: 2 },
		stores: { counters: redis.url },
		metrics: { listen: `127.0.0.1:${port}` },
	});
	const accessToken = await product.accessToken();
	for (let index = 0; index < 10; index++) {
		const response = await call(product.gatewayUrl, accessToken, { headers: { connection: 'close' } });
		expect(response.status).toBe(200);
		await response.arrayBuffer();
	}
	const done = { format: 'chat', status: '200' };
	const series = await eventually('all are counted', async () => {
		const now = await scrape(port);
		return valueOf(now, 'tollgate_requests_total', done) === 10 ? now : undefined;
	});
	expect(new Set(series.map(({ labels }) => labels['worker']))).toEqual(new Set(['0', '1', '2']));
	expect(series.filter(({ name, labels }) => name === 'tollgate_requests_total' && labels['worker'] === '0')).toEqual([]);
	expect(valueOf(series, 'tollgate_tokens_total', { kind: 'output' })).toBeGreaterThan(0);
	product.child.kill('SIGTERM');
	expect((await product.ended).code).toBe(0);
	await redis.stop();
});

test('a standalone edge has its own metrics', async () => {
	const [edgePort, port] = [await freePort(), await freePort()];
	const plan = await planProduct();
	writeSettings(plan.configPath, {
		roles: ['edge'],
		data_dir: `${plan.directory}/data`,
		auth: { issuer: plan.identityUrl },
		edge: { listen: `127.0.0.1:${edgePort}`, gateways: [`http://127.0.0.1:${await freePort()}`] },
		metrics: { listen: `127.0.0.1:${port}` },
	});
	const edge = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	await edge.logged('started');
	const rejected = await fetch(`http://127.0.0.1:${edgePort}/v1/chat/completions`, { method: 'POST', body: '{}' });
	expect(rejected.status).toBe(401);
	await rejected.arrayBuffer();
	const series = await eventually('it counts', async () => {
		const now = await scrape(port);
		return valueOf(now, 'tollgate_requests_total', { role: 'edge', format: 'chat', status: '401' }) === 1 ? now : undefined;
	});
	expect(valueOf(series, 'tollgate_errors_total', { role: 'edge', kind: 'rejected', code: 'token_missing' })).toBe(1);
	expect(valueOf(series, 'tollgate_key_set_failures_total')).toBeGreaterThan(0);
	// An edge has neither a ledger nor inference requests.
	expect(valueOf(series, 'tollgate_ledger_writable')).toBeUndefined();
	edge.child.kill('SIGTERM');
	expect((await edge.ended).code).toBe(0);
});
