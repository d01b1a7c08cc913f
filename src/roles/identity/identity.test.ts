import { once } from 'node:events';
import { createServer } from 'node:http';
import { createLocalJWKSet, createRemoteJWKSet, jwtVerify } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agent, cheapCost, formOf, type IdentitySubject, issuer, startIdentity } from '../../../test/support/identity.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { systemClock } from '../../io/system-clock.ts';
import { hashClientSecret, newDerivation } from '../../stores/contracts/client-secret.ts';
import { createClientsAdministration } from '../../stores/contracts/clients-administration.ts';

async function start(...parameters: Parameters<typeof startIdentity>): Promise<IdentitySubject> {
	const subject = await startIdentity(...parameters);
	onTestFinished(() => subject.stop());
	return subject;
}

async function getJson(url: string): Promise<unknown> {
	return (await fetch(url)).json();
}

describe('what identity publishes', () => {
	test('the key set contains public members only, and can be cached for five minutes', async () => {
		const subject = await start();
		const response = await fetch(`${subject.baseUrl}/.well-known/jwks.json`);
		const { keys } = (await response.json()) as { keys: Record<string, unknown>[] };
		expect(keys).toEqual([
			{ kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB', kid: expect.any(String) as string, n: expect.any(String) as string },
		]);
		expect(keys).toEqual(subject.identity.publishedKeySet().keys);
		expect(response.headers.get('cache-control')).toBe('public, max-age=300');
		expect(response.headers.has('pragma')).toBe(false);
	});

	test('both discovery documents name the issuer and addresses below it', async () => {
		const { baseUrl } = await start();
		const document = await getJson(`${baseUrl}/.well-known/openid-configuration`);
		expect(document).toEqual({
			issuer,
			token_endpoint: `${issuer}/oauth2/token`,
			jwks_uri: `${issuer}/.well-known/jwks.json`,
			grant_types_supported: ['client_credentials'],
			token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
			scopes_supported: ['tollgate/invoke', 'tollgate/admin', 'tollgate/admin:read', 'tollgate/admin:write', 'tollgate/admin:secrets'],
			response_types_supported: [],
			subject_types_supported: ['public'],
			id_token_signing_alg_values_supported: ['RS256'],
		});
		expect(await getJson(`${baseUrl}/.well-known/oauth-authorization-server`)).toEqual(document);
	});

	test('an issuer with a path is served below that path as well', async () => {
		const { baseUrl } = await start({ issuer: 'https://example.com/login/' });
		for (const path of [
			'/login/.well-known/openid-configuration',
			'/.well-known/openid-configuration',
			'/.well-known/oauth-authorization-server/login',
		]) {
			expect(await getJson(baseUrl + path)).toMatchObject({
				issuer: 'https://example.com/login/',
				token_endpoint: 'https://example.com/login/oauth2/token',
				jwks_uri: 'https://example.com/login/.well-known/jwks.json',
			});
		}
		const response = await fetch(`${baseUrl}/login/oauth2/token`, { method: 'POST', body: new URLSearchParams(formOf(agent)) });
		expect(response.status).toBe(200);
	});

	test.each(['/', '/healthz', '/readyz'])('%s is 200', async (path) => {
		expect((await fetch((await start()).baseUrl + path)).status).toBe(200);
	});

	test('it is not ready while the records cannot be read, and still alive', async () => {
		const records = createMemoryRecords();
		const subject = await start({}, { records });
		records.signingKeys.list = () => Promise.reject(new Error('disk gone'));
		expect((await fetch(`${subject.baseUrl}/readyz`)).status).toBe(503);
		expect((await fetch(`${subject.baseUrl}/healthz`)).status).toBe(200);
	});

	test.each(['/nothing', '/oauth2', '/oauth2/token/', '/OAUTH2/TOKEN', '/..%2foauth2/token', '/%ff', '/%'])(
		'%s returns JSON, not found or not readable',
		async (path) => {
			const response = await fetch((await start()).baseUrl + path, { method: 'POST' });
			expect([400, 404]).toContain(response.status);
			expect(await response.json()).toEqual({ error: expect.any(String) as string, error_description: expect.any(String) as string });
		},
	);

	test('an internal error shows only its request id, and is logged in full', async () => {
		const records = createMemoryRecords();
		const subject = await start({}, { records });
		records.clients.get = () => Promise.reject(new Error('inner detail'));
		const response = await subject.post(formOf({ id: 'other', secret: 'x' }));
		const body = (await response.json()) as { request_id: string };
		expect([response.status, body]).toMatchObject([500, { error: 'server_error', request_id: response.headers.get('x-request-id') }]);
		expect(JSON.stringify(body)).not.toContain('inner detail');
		const line = subject.log.lines.find(({ level }) => level === 'error');
		expect(line?.fields).toMatchObject({
			requestId: body.request_id,
			cause: expect.objectContaining({ message: 'inner detail' }) as Error,
		});
	});
});

describe('clients', () => {
	test('one that another process creates, rotates, disables or deletes is visible immediately', async () => {
		const subject = await start();
		const administration = createClientsAdministration({ clients: subject.records.clients, clock: systemClock });
		const created = await administration.createClient({ name: 'Late', scopes: ['invoke'] });
		if (created === 'id_taken') throw new Error(created);
		const { id } = created.record;
		const statusOf = async (secret: string): Promise<number> => (await subject.post(formOf({ id, secret }))).status;
		expect(await statusOf(created.secret)).toBe(200);
		const rotated = await administration.rotateSecret(id, 60);
		expect(await statusOf(created.secret)).toBe(200);
		expect(await statusOf(rotated?.secret ?? '')).toBe(200);
		const again = await administration.rotateSecret(id, 0);
		expect(await statusOf(created.secret)).toBe(401);
		expect(await statusOf(rotated?.secret ?? '')).toBe(401);
		expect(await statusOf(again?.secret ?? '')).toBe(200);
		const setDisabled = async (isDisabled: boolean) => {
			const record = await subject.records.clients.get(id);
			if (record !== undefined) await subject.records.clients.replace({ ...record, isDisabled });
		};
		await setDisabled(true);
		expect(await statusOf(again?.secret ?? '')).toBe(401);
		await setDisabled(false);
		expect(await statusOf(again?.secret ?? '')).toBe(200);
		await subject.records.clients.delete(id);
		expect(await statusOf(again?.secret ?? '')).toBe(401);
	});

	test('a configured one can have a hash, precedes a stored one, and changes with the settings', async () => {
		const secretHash = await hashClientSecret('hashed-secret-0123456789', newDerivation(cheapCost));
		const hashed = { id: 'hashed', name: 'Hashed', secretHash, scopes: ['invoke'] };
		const subject = await start({ configuredClients: [hashed] });
		const administration = createClientsAdministration({ clients: subject.records.clients, clock: systemClock });
		await administration.createClient({ id: 'hashed', name: 'Stored', scopes: ['invoke'], secret: 'stored-secret-0123456789' });
		const statusOf = async (secret: string): Promise<number> => (await subject.post(formOf({ id: 'hashed', secret }))).status;
		expect(await statusOf('hashed-secret-0123456789')).toBe(200);
		expect(await statusOf('stored-secret-0123456789')).toBe(401);
		const live = { accessTokenSeconds: 600, keyRotationSeconds: 86_400, maxAttemptsPerMinute: 10, graceMs: 10 };
		await expect(subject.identity.reconfigure({ ...live, configuredClients: [{ ...hashed, secretHash: 'scrypt$1' }] })).rejects.toThrow(
			'identity.clients: hashed has no usable secret',
		);
		expect(await statusOf('hashed-secret-0123456789')).toBe(200);
		await subject.identity.reconfigure({ ...live, configuredClients: [] });
		expect(await statusOf('hashed-secret-0123456789')).toBe(401);
		const response = await subject.post(formOf({ id: 'hashed', secret: 'stored-secret-0123456789' }));
		expect(await response.json()).toMatchObject({ expires_in: 600 });
	});
});

describe('as a role', () => {
	test('a taken port rejects the start with the operating system’s error', async () => {
		const server = createServer().listen(0, '127.0.0.1');
		await once(server, 'listening');
		onTestFinished(() => void server.close());
		const address = server.address();
		const port = typeof address === 'object' && address !== null ? address.port : 0;
		await expect(startIdentity({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
	});

	test('its key set is available as soon as it has started, and listeners are notified of changes', async () => {
		const subject = await start();
		const keySet = createLocalJWKSet({ keys: [...subject.identity.publishedKeySet().keys] });
		await jwtVerify(await subject.accessToken(), keySet, { issuer });
		let changes = 0;
		subject.identity.onKeysChanged(() => changes++);
		const [key] = await subject.records.signingKeys.list();
		if (key === undefined) throw new Error('no key');
		await subject.records.signingKeys.rotate({ ...key, kid: 'next' }, key.kid, [{ kid: key.kid, retiredAtMs: Date.now() + 1e6 }]);
		await expect.poll(() => changes).toBe(1);
		expect(subject.identity.publishedKeySet().keys).toHaveLength(2);
	});

	test('a configured audience becomes the claim aud', async () => {
		const subject = await start({ audience: 'https://gateway.example' });
		const keySet = createRemoteJWKSet(new URL(`${subject.baseUrl}/.well-known/jwks.json`));
		const { payload } = await jwtVerify(await subject.accessToken(), keySet, { issuer });
		expect(payload.aud).toBe('https://gateway.example');
	});

	test('stop closes idle connections immediately and releases the port', async () => {
		const subject = await start();
		await subject.accessToken();
		const beganMs = performance.now();
		await subject.stop();
		expect(performance.now() - beganMs).toBeLessThan(500);
		await expect(fetch(subject.baseUrl)).rejects.toThrow('fetch failed');
	});
});
