/** Every dependency of the product is unavailable at its start, and they return one by one. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/io/system-clock.ts';
import { openPostgresRecords } from '../../src/stores/postgres/postgres-records.ts';
import { call, planProduct, requestStatus, statusOf } from '../support/deployment.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { launcher, type Running, startProcess } from '../support/processes.ts';
import { agent, eventually, fetchAccessToken } from '../support/product.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { TestIssuer } from '../support/test-issuer.ts';

let postgres: PostgresServer;
let redis: RedisServer;
beforeAll(async () => {
	[postgres, redis] = await Promise.all([startPostgres('fsync=off'), startRedis()]);
	const records = await openPostgresRecords({ url: postgres.url }, { clock: systemClock, log: createRecordingLog() });
	await records.teams.create({ id: 'red', name: 'red', tier: 'enterprise', clientIds: [agent.id] });
	await records.close();
});
afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

const stores = (): object => ({ records: postgres.url, counters: redis.url });

test('without records, counters and issuer: it lives, reports it, rejects no request for it, and recovers without a restart', async () => {
	await Promise.all([postgres.kill(), redis.kill()]);
	const issuer = await TestIssuer.start();
	onTestFinished(() => issuer.stop());
	issuer.fault = 'drop';
	const auth = { issuer: issuer.issuer, key_set: { cool_down_seconds: 1 } };
	const { gatewayUrl, configPath } = await planProduct({ roles: ['edge', 'gateway', 'simulator'], auth, stores: stores() });
	const product = startProcess(process.execPath, [launcher, 'start', '--config', configPath]);
	await untilLives(gatewayUrl, product);
	const away = { key_set: 'unavailable', records: 'unavailable', ledger: 'ok', counters: 'unavailable' };
	// Request records show their state after the first of them.
	expect(await readiness(gatewayUrl)).toMatchObject([503, away]);
	await expectNotNow(gatewayUrl, issuer.accessToken());
	expect(await requestStatus(gatewayUrl, 'no.such.token')).toBe(401);

	issuer.fault = undefined;
	await eventually('the key set is there', async () => (await readiness(gatewayUrl))[1]['key_set'] === 'ok' || undefined);
	expect(await readiness(gatewayUrl)).toMatchObject([503, { ...away, key_set: 'ok' }]);
	await expectNotNow(gatewayUrl, issuer.accessToken(), 'records_unavailable');
	expect(await requestStatus(gatewayUrl, issuer.accessToken({}, { kid: 'unknown' })), 'a bad token is one also now').toBe(401);
	expect(await statusOf(`${gatewayUrl}/healthz`)).toBe(200);

	await postgres.restart();
	await eventually('it is ready', async () => (await readiness(gatewayUrl))[0] === 200 || undefined, 10_000);
	expect(await requestStatus(gatewayUrl, issuer.accessToken()), 'without counters calls pass').toBe(200);

	await redis.restart();
	await eventually(
		'all is well',
		async () => Object.values((await readiness(gatewayUrl))[1]).every((state) => state === 'ok') || undefined,
	);
	expect(await requestStatus(gatewayUrl, issuer.accessToken(), { format: 'messages' })).toBe(200);
	const served = await product.logged('request', ({ path, status }) => path === '/v1/messages' && status === 200);
	expect(served, 'the team that only the records know').toMatchObject({ team: 'red' });

	expect(product.child.exitCode).toBeNull();
	const complaints = product.log.filter(({ level }) => level === 'warn' || level === 'error').map(({ msg }) => String(msg));
	for (const said of ['key set could not be fetched', 'records in PostgreSQL is not usable yet', 'counter store not reachable yet']) {
		expect(complaints.filter((complaint) => complaint === said)).toHaveLength(1);
	}
});

test('an identity provider that starts without its records issues tokens as soon as they return', async () => {
	await postgres.kill();
	const { gatewayUrl, identityUrl, configPath } = await planProduct({ stores: stores() });
	const product = startProcess(process.execPath, [launcher, 'start', '--config', configPath]);
	await untilLives(gatewayUrl, product);
	expect(await statusOf(`${identityUrl}/healthz`)).toBe(200);
	expect(await statusOf(`${identityUrl}/readyz`)).toBe(503);
	expect(await statusOf(`${identityUrl}/.well-known/jwks.json`), 'not an empty key set').toBe(503);
	const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: agent.id, client_secret: agent.secret });
	const rejected = await fetch(`${identityUrl}/oauth2/token`, { method: 'POST', body: form });
	expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
	expect((await readiness(gatewayUrl))[0]).toBe(503);

	await postgres.restart();
	await eventually('it is ready', async () => (await readiness(gatewayUrl))[0] === 200 || undefined, 10_000);
	expect(await statusOf(`${identityUrl}/readyz`)).toBe(200);
	const accessToken = await fetchAccessToken(`${identityUrl}/oauth2/token`, agent);
	expect(await requestStatus(gatewayUrl, accessToken)).toBe(200);
	expect(product.child.exitCode).toBeNull();
});

async function untilLives(url: string, { child, stderr }: Running): Promise<void> {
	await eventually(
		'it lives',
		async () => {
			if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${stderr}`);
			return (await statusOf(`${url}/healthz`)) === 200 ? true : undefined;
		},
		15_000,
	);
}

async function readiness(url: string): Promise<[status: number, dependencies: Record<string, string>]> {
	const response = await fetch(`${url}/readyz`);
	return [response.status, ((await response.json()) as { dependencies: Record<string, string> }).dependencies];
}

/** Expects 503 with `retry-after`, because the request cannot be decided yet. */
async function expectNotNow(url: string, accessToken: string, code?: string): Promise<void> {
	const response = await call(url, accessToken);
	expect(response.status).toBe(503);
	expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
	const text = await response.text();
	if (code !== undefined) expect(JSON.parse(text)).toMatchObject({ error: { code } });
}
