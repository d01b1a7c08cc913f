/** An external issuer with every fault, with the product as a separate process. */

import { generateKeyPairSync } from 'node:crypto';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { expect, onTestFinished, test, vi } from 'vitest';
import { call, type Deployment, planProduct, requestStatus, startDeployment, statusOf, untilReady } from '../support/deployment.ts';
import { launcher, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/product.ts';
import { makeSigningKey, TestIssuer } from '../support/test-issuer.ts';

async function startIssuer(): Promise<TestIssuer> {
	const issuer = await TestIssuer.start();
	onTestFinished(() => issuer.stop());
	return issuer;
}

/** Starts the product without the identity role. */
function startFor(issuer: string, auth: object = {}): Promise<Deployment> {
	return startDeployment({ roles: ['edge', 'gateway', 'simulator'], auth: { issuer, ...auth } });
}

const quick = { max_age_seconds: 1, cool_down_seconds: 1 };

test('RFC 9068 tokens of oidc-provider, found by discovery, and tokens in Cognito’s shape', async () => {
	const { issuer: oidc, fetchToken } = await startOidcProvider();
	const product = await startFor(oidc, { audience });
	const accessToken = await fetchToken();
	expect(await requestStatus(product.gatewayUrl, accessToken)).toBe(200);
	expect(await requestStatus(product.gatewayUrl, accessToken, { format: 'messages', isStreaming: true })).toBe(200);
	expect(await product.logged('request', (line) => line['path'] === '/v1/messages')).toMatchObject({
		status: 200,
		clientId: 'agent',
		team: 'agent',
	});

	const cognito = await startIssuer();
	const other = await startFor(cognito.issuer);
	const claims = { client_id: '1h57kf5cpq17m0eml12EXAMPLE', sub: '1h57kf5cpq17m0eml12EXAMPLE', aud: undefined, nbf: undefined, version: 2 };
	expect(await requestStatus(other.gatewayUrl, cognito.accessToken(claims, { typ: undefined }))).toBe(200);
	expect(
		await requestStatus(other.gatewayUrl, cognito.accessToken({ ...claims, token_use: 'id', aud: claims.client_id }, { typ: undefined })),
	).toBe(401);
	expect(await requestStatus(other.gatewayUrl, accessToken), 'a token of the other issuer').toBe(401);
	expect(await requestStatus(other.gatewayUrl, cognito.accessToken({ scope: 'tollgate/admin' }))).toBe(403);
});

test('K1: a new key works at its first token; K2: unknown keys cause one fetch; K6: a withdrawn key is rejected', async () => {
	const issuer = await startIssuer();
	const product = await startFor(issuer.issuer, { key_set: { max_age_seconds: 2, cool_down_seconds: 1 } });
	const old = issuer.accessToken();
	expect(await requestStatus(product.gatewayUrl, old)).toBe(200);

	const former = issuer.key;
	issuer.key = makeSigningKey('second');
	issuer.published = [former.jwk, issuer.key.jwk];
	expect(await requestStatus(product.gatewayUrl, issuer.accessToken())).toBe(200);
	expect(await requestStatus(product.gatewayUrl, old)).toBe(200);

	const before = issuer.keySetRequests;
	const strangers = Array.from({ length: 200 }, (_, index) =>
		requestStatus(product.gatewayUrl, issuer.accessToken({}, { kid: `stranger-${index}` })),
	);
	expect(new Set(await Promise.all(strangers))).toEqual(new Set([401]));
	expect(issuer.keySetRequests - before, 'one for strangers, one for age').toBeLessThanOrEqual(3);

	issuer.published = [issuer.key.jwk];
	const withdrawnMs = performance.now();
	await eventually(
		'the withdrawn key is refused',
		async () => ((await requestStatus(product.gatewayUrl, old)) === 401 ? true : undefined),
		7000,
	);
	expect(performance.now() - withdrawnMs, 'max age and five seconds').toBeLessThan(7000);
	expect(await requestStatus(product.gatewayUrl, issuer.accessToken())).toBe(200);
});

test('K3 to K5: known keys stay valid through every fault of the key set', async () => {
	const issuer = await startIssuer();
	const product = await startFor(issuer.issuer, { key_set: { ...quick, timeout_ms: 300 } });
	const accessToken = issuer.accessToken();
	expect(await requestStatus(product.gatewayUrl, accessToken)).toBe(200);
	for (const fault of ['drop', 'hang', 'html', 'redirect'] as const) {
		issuer.fault = fault;
		const seen = issuer.keySetRequests;
		await eventually(`a fetch that ends in ${fault}`, () => (issuer.keySetRequests > seen ? true : undefined));
		expect(await requestStatus(product.gatewayUrl, accessToken)).toBe(200);
		// New token, signed with a known key.
		expect(await requestStatus(product.gatewayUrl, issuer.accessToken())).toBe(200);
		expect(await statusOf(`${product.gatewayUrl}/readyz`)).toBe(200);
		const startedMs = performance.now();
		expect(await requestStatus(product.gatewayUrl, issuer.accessToken({}, { kid: 'unknown' }))).toBe(401);
		expect(performance.now() - startedMs, 'nobody waits long for an issuer that fails').toBeLessThan(700);
	}
	expect(issuer.attackerRequests, 'redirects are not followed').toBe(0);
	await product.logged('key set could not be fetched');
	issuer.fault = undefined;
	await product.logged('key set fetched again');
});

test('K7: a cold start while the issuer is down: not ready, requests are 503, recovers without a restart', async () => {
	const port = await freePort();
	const plan = await planProduct({
		roles: ['edge', 'gateway', 'simulator'],
		auth: { issuer: `http://127.0.0.1:${port}`, key_set: { cool_down_seconds: 1 } },
	});
	const product = startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	await eventually('it lives', async () => ((await statusOf(`${plan.gatewayUrl}/healthz`)) === 200 ? true : undefined), 15_000);
	expect(await statusOf(`${plan.gatewayUrl}/`)).toBe(200);
	const readiness = await fetch(`${plan.gatewayUrl}/readyz`);
	expect(readiness.status).toBe(503);
	expect(await readiness.json()).toMatchObject({ status: 'not_ready', dependencies: { key_set: 'unavailable', records: 'ok' } });

	const issuer = await startIssuer();
	const claims = { iss: `http://127.0.0.1:${port}` };
	const response = await call(plan.gatewayUrl, issuer.accessToken(claims));
	expect(response.status).toBe(503);
	expect(response.headers.get('content-type')).toContain('text/html');
	expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
	await response.text();
	expect(await requestStatus(plan.gatewayUrl, 'no.such.token'), 'a malformed token is one even now').toBe(401);

	serveAs(port, issuer);
	await untilReady(plan.gatewayUrl, product);
	expect(await requestStatus(plan.gatewayUrl, issuer.accessToken(claims))).toBe(200);
	expect(product.log.filter((line) => line['msg'] === 'key set could not be fetched')).toHaveLength(1);
});

// The delay of one second is tested under a manual clock in src/io/serving-role.test.ts.
test('K7: an issuer that hangs does not hold up the start until its fetch is over', async () => {
	const issuer = await startIssuer();
	issuer.fault = 'hang';
	const plan = await planProduct({
		roles: ['edge', 'gateway', 'simulator'],
		auth: { issuer: issuer.issuer, key_set: { timeout_ms: 600_000 } },
	});
	startProcess(process.execPath, [launcher, 'start', '--config', plan.configPath]);
	await eventually('it lives', async () => ((await statusOf(`${plan.gatewayUrl}/healthz`)) === 200 ? true : undefined), 15_000);
	expect(issuer.keySetRequests, 'the first fetch hangs').toBe(1);
	expect(await statusOf(`${plan.gatewayUrl}/readyz`)).toBe(503);
});

/** Serves the issuer at another address, which its tokens name. */
function serveAs(port: number, issuer: TestIssuer): Server {
	const server = createServer((_request, response) => {
		const isDiscovery = _request.url === '/.well-known/openid-configuration';
		const own = { issuer: `http://127.0.0.1:${port}`, jwks_uri: `http://127.0.0.1:${port}/jwks` };
		response.setHeader('content-type', 'application/json').end(JSON.stringify(isDiscovery ? own : { keys: issuer.published }));
	});
	server.listen(port, '127.0.0.1');
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return server;
}

const audience = 'https://gateway.example/';

/** OpenID provider that issues RFC 9068 access tokens to `client_credentials` clients. */
async function startOidcProvider(): Promise<{ issuer: string; fetchToken: () => Promise<string> }> {
	// Silences the provider's messages on the console.
	vi.spyOn(console, 'warn').mockImplementation(() => undefined);
	vi.spyOn(console, 'info').mockImplementation(() => undefined);
	const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
	const port = await freePort();
	const issuer = `http://127.0.0.1:${port}`;
	const resourceServer = { scope: 'tollgate/invoke', audience, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } };
	const provider = new Provider(issuer, {
		clients: [{ client_id: 'agent', client_secret: 'secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
		jwks: { keys: [{ ...pair.privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'foreign' }] },
		features: {
			devInteractions: { enabled: false },
			clientCredentials: { enabled: true },
			resourceIndicators: { enabled: true, defaultResource: () => audience, getResourceServerInfo: () => resourceServer },
		},
	});
	const server = createServer(provider.callback());
	await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const fetchToken = async (): Promise<string> => {
		const form = { grant_type: 'client_credentials', client_id: 'agent', client_secret: 'secret', scope: 'tollgate/invoke' };
		const response = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) });
		const httpResponse = (await response.json()) as { access_token?: string };
		if (httpResponse.access_token === undefined) throw new Error(JSON.stringify(httpResponse));
		return httpResponse.access_token;
	};
	return { issuer, fetchToken };
}
