/** Provider health in `/providers` of an admin process that serves no inference requests: separate from its gateways, and with workers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { client, planProduct, requestStatus, statusOf, untilReady, writeSettings } from '../support/deployment.ts';
import { launcher, type Running, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken, freePort } from '../support/product.ts';
import { type PostgresDatabase, type RedisDatabase, sharePostgres, shareRedis } from '../support/shared-stores.ts';

const providerKey = 'sk-canary-of-a-provider-0123456789';

interface Health {
	readonly state: string;
	readonly since: string | null;
	readonly detail: string | null;
	readonly gateways: number;
	readonly ejected_by: number;
}

let postgres: PostgresDatabase;
let redis: RedisDatabase;
beforeAll(async () => {
	[postgres, redis] = await Promise.all([sharePostgres(), shareRedis()]);
}, 30_000);
afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

/** Starts a provider that, while it is down, returns 500 and repeats the API key it received. */
async function startProvider() {
	const provider = { isDown: false, settings: {} };
	const httpResponse = {
		id: 'chatcmpl-1',
		object: 'chat.completion',
		created: 1,
		model: 'm',
		choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
	const server = createServer((request, response) => {
		request.resume().on('end', () => {
			response.writeHead(provider.isDown ? 500 : 200, { 'content-type': 'application/json' });
			response.end(JSON.stringify(provider.isDown ? { error: { message: `not with ${request.headers.authorization}` } } : httpResponse));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	const common = { kind: 'openai-compatible', api_key: providerKey, base_url: `http://127.0.0.1:${port}/v1`, allow_private_network: true };
	provider.settings = { llama: { ...common, models: ['llama'], eject_after_failures: 2 } };
	return provider;
}

function healthAt(adminUrl: string, adminToken: string): () => Promise<Health | undefined> {
	return async () => {
		const response = await fetch(`${adminUrl}/providers`, { headers: { authorization: `Bearer ${adminToken}` } });
		const text = await response.text();
		expect([response.status, text.includes(providerKey)], `/providers: ${text}`).toEqual([200, false]);
		const { data } = JSON.parse(text) as { data: { name: string; health: Health }[] };
		return data.find(({ name }) => name === 'llama')?.health;
	};
}

/** Returns the first health state that matches. */
async function untilHealth(what: string, read: () => Promise<Health | undefined>, fits: Partial<Health>): Promise<Health> {
	let last: Health | undefined;
	try {
		return await eventually(
			what,
			async () => {
				last = await read();
				return last !== undefined && Object.entries(fits).every(([name, value]) => last?.[name as keyof Health] === value)
					? last
					: undefined;
			},
			15_000,
		);
	} catch (cause) {
		throw new Error(`${what}: ${JSON.stringify(last)}`, { cause });
	}
}

test('separate from its gateways: a provider goes down for one of them, and returns; a gateway stops', async () => {
	const provider = await startProvider();
	const base = await planProduct({ roles: ['identity'] });
	const auth = { issuer: base.identityUrl, jwks_uri: `${base.identityUrl}/.well-known/jwks.json` };
	const stores = { records: await postgres.createDatabase() };
	const start = (name: string, settings: object): Running => {
		const path = `${base.directory}/${name}.json`;
		writeSettings(path, {
			auth,
			stores,
			data_dir: `${base.directory}/${name}`,
			teams: { unregistered_clients: { tier: 'enterprise' } },
			providers: provider.settings,
			...settings,
		});
		return startProcess(process.execPath, [launcher, 'start', '--config', path]);
	};
	const identity = startProcess(process.execPath, [launcher, 'start', '--config', base.configPath]);
	await eventually(
		'the identity is there',
		async () => ((await statusOf(`${base.identityUrl}/.well-known/jwks.json`)) === 200 ? true : undefined),
		15_000,
	);
	expect(identity.child.exitCode).toBeNull();
	const ports = [await freePort(), await freePort()];
	const gateways = ports.map((port) =>
		start(`gateway-${port}`, { roles: ['gateway'], gateway: { listen: `127.0.0.1:${port}`, shutdown_delay_ms: 0 } }),
	);
	const adminListen = `127.0.0.1:${await freePort()}`;
	const admin = start('admin', { roles: ['admin'], enable_admin_api: true, admin: { listen: adminListen } });
	const urls = ports.map((port) => `http://127.0.0.1:${port}`);
	await Promise.all(gateways.map((gateway, index) => untilReady(urls[index] ?? '', gateway)));
	await admin.logged('started');
	const health = healthAt(`http://${adminListen}`, await fetchAccessToken(`${base.identityUrl}/oauth2/token`, client, 'tollgate/admin'));
	const accessToken = await fetchAccessToken(`${base.identityUrl}/oauth2/token`, client, 'tollgate/invoke');
	const callFirst = () => requestStatus(urls[0] ?? '', accessToken, { model: 'llama' });

	await untilHealth('both are heard of', health, { gateways: 2, state: 'unknown', detail: null, ejected_by: 0 });
	expect(await callFirst()).toBe(200);
	await untilHealth('it is well', health, { gateways: 2, state: 'healthy', since: null, detail: null });

	provider.isDown = true;
	for (let number = 0; number < 2; number++) expect(await callFirst()).toBe(502);
	const unhealthy = await untilHealth('it is ill', health, { gateways: 2, state: 'unhealthy', ejected_by: 1, detail: 'returned 500' });
	expect(Date.parse(unhealthy.since ?? '')).toBeGreaterThan(0);

	provider.isDown = false;
	// Sole target: the gateway tries it although it is unhealthy.
	expect(await callFirst()).toBe(200);
	const again = await untilHealth('it is well again', health, { gateways: 2, state: 'healthy', ejected_by: 0, detail: 'returned 500' });
	expect(Date.parse(again.since ?? '')).toBeGreaterThanOrEqual(Date.parse(unhealthy.since ?? ''));

	gateways[1]?.child.kill('SIGTERM');
	expect(await gateways[1]?.ended).toMatchObject({ code: 0 });
	expect(await health()).toMatchObject({ gateways: 1, state: 'healthy' });
}, 60_000);

test('with workers, and records in SQLite', async () => {
	const provider = await startProvider();
	const adminListen = `127.0.0.1:${await freePort()}`;
	const plan = await planProduct({
		roles: ['edge', 'gateway', 'identity', 'admin'],
		enable_admin_api: true,
		admin: { listen: adminListen },
		gateway: { workers: 2 },
		stores: { counters: redis.url },
		providers: provider.settings,
	});
	const running = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	await untilReady(plan.gatewayUrl, running);
	const tokenUrl = `${plan.identityUrl}/oauth2/token`;
	const health = healthAt(`http://${adminListen}`, await fetchAccessToken(tokenUrl, client, 'tollgate/admin'));
	const accessToken = await fetchAccessToken(tokenUrl, client, 'tollgate/invoke');

	await untilHealth('both are heard of', health, { gateways: 2, state: 'unknown' });
	provider.isDown = true;
	// Three requests to two workers: one of them gets two.
	for (let number = 0; number < 3; number++) expect(await requestStatus(plan.gatewayUrl, accessToken, { model: 'llama' })).toBe(502);
	expect((await untilHealth('it is ill', health, { gateways: 2, state: 'unhealthy', detail: 'returned 500' })).ejected_by).toBeGreaterThan(
		0,
	);
}, 60_000);
