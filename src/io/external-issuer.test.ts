import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testKeySetSettings } from '../../test/support/edge-bench.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { TestIssuer } from '../../test/support/test-issuer.ts';
import { createAccessTokenVerifier } from './access-tokens.ts';
import { KeySet } from './key-set.ts';
import { remoteKeySet } from './key-set-source.ts';
import { systemClock } from './system-clock.ts';

const audience = 'https://gateway.example/';
const client = { client_id: 'agent', client_secret: 'secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };

/** Starts an OpenID provider that issues RFC 9068 access tokens to `client_credentials` clients. */
async function startOidcProvider(algorithm: 'RS256' | 'ES256'): Promise<{ issuer: string; fetchToken: () => Promise<string> }> {
	// The provider prints a banner.
	for (const method of ['warn', 'info'] as const) {
		const silenced = vi.spyOn(console, method).mockImplementation(() => undefined);
		onTestFinished(() => silenced.mockRestore());
	}
	const pair =
		algorithm === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const resourceServer = { scope: 'tollgate/invoke', audience, accessTokenFormat: 'jwt', jwt: { sign: { alg: algorithm } } };
	const provider = new Provider(issuer, {
		clients: [{ ...client, id_token_signed_response_alg: algorithm }],
		jwks: { keys: [{ ...pair.privateKey.export({ format: 'jwk' }), use: 'sig', alg: algorithm, kid: 'foreign' }] },
		features: {
			devInteractions: { enabled: false },
			clientCredentials: { enabled: true },
			resourceIndicators: { enabled: true, defaultResource: () => audience, getResourceServerInfo: () => resourceServer },
		},
	});
	server.on('request', provider.callback());
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const fetchToken = async (): Promise<string> => {
		const response = await fetch(`${issuer}/token`, {
			method: 'POST',
			body: new URLSearchParams({
				grant_type: 'client_credentials',
				client_id: 'agent',
				client_secret: 'secret',
				scope: 'tollgate/invoke',
			}),
		});
		const httpResponse = (await response.json()) as { access_token?: string };
		if (httpResponse.access_token === undefined) throw new Error(JSON.stringify(httpResponse));
		return httpResponse.access_token;
	};
	return { issuer, fetchToken };
}

async function startVerifier(issuer: string, wantedAudience: string | null = null) {
	const source = remoteKeySet({ issuer, jwksUri: null, timeoutMs: 5000 });
	const keySet = new KeySet(source, testKeySetSettings, { clock: systemClock, log: createRecordingLog() });
	onTestFinished(() => keySet.stop());
	await keySet.start();
	const rules = { issuer, audience: wantedAudience, clockSkewSeconds: 5, maxLifetimeSeconds: null };
	return createAccessTokenVerifier({ ...rules, cacheSize: 10 }, { keySet, clock: systemClock });
}

describe('any OIDC issuer can replace the identity role', () => {
	test.each(['RS256', 'ES256'] as const)('tokens of oidc-provider (RFC 9068, %s), found by discovery', async (algorithm) => {
		const { issuer, fetchToken } = await startOidcProvider(algorithm);
		const accessToken = await fetchToken();
		const verifier = await startVerifier(issuer, audience);
		expect(await verifier.verify(accessToken)).toMatchObject({ clientId: 'agent', issuer, scopes: new Set(['tollgate/invoke']) });
		await expect(startVerifier(issuer, 'somebody-else').then((other) => other.verify(accessToken))).rejects.toThrow(/access token/);
	});

	test('tokens in Cognito’s shape: token_use, no typ, no aud, sub is the client', async () => {
		const issuer = await TestIssuer.start();
		onTestFinished(() => issuer.stop());
		const claims = {
			client_id: '1h57kf5cpq17m0eml12EXAMPLE',
			sub: '1h57kf5cpq17m0eml12EXAMPLE',
			aud: undefined,
			nbf: undefined,
			version: 2,
		};
		const accessToken = issuer.accessToken({ ...claims, auth_time: issuer.nowSeconds() }, { typ: undefined });
		const verifier = await startVerifier(issuer.issuer);
		expect(await verifier.verify(accessToken)).toMatchObject({ clientId: claims.client_id, scopes: new Set(['tollgate/invoke']) });
		const idToken = issuer.accessToken({ ...claims, token_use: 'id', aud: claims.client_id }, { typ: undefined });
		expect(() => verifier.verify(idToken)).toThrow(/access token/);
	});

	test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
		[
			'Auth0',
			{ client_id: undefined, azp: 'auth0-client', sub: 'auth0-client@clients', gty: 'client-credentials' },
			{ typ: 'JWT' },
			'auth0-client',
		],
		[
			'Entra ID v2',
			{ client_id: undefined, azp: 'entra-client', scope: undefined, scp: 'tollgate/invoke' },
			{ typ: 'JWT' },
			'entra-client',
		],
		[
			'Okta',
			{ client_id: undefined, cid: 'okta', sub: 'okta-client', scope: undefined, scp: ['tollgate/invoke'] },
			{ typ: undefined },
			'okta-client',
		],
		[
			'Keycloak',
			{ client_id: undefined, azp: 'keycloak-client', typ: 'Bearer', scope: 'profile tollgate/invoke' },
			{ typ: 'JWT' },
			'keycloak-client',
		],
	])('tokens in the shape of %s', async (_vendor, claims, header, clientId) => {
		const issuer = await TestIssuer.start();
		onTestFinished(() => issuer.stop());
		const verifier = await startVerifier(issuer.issuer);
		const caller = await verifier.verify(issuer.accessToken({ token_use: undefined, ...claims }, header));
		expect(caller.clientId).toBe(clientId);
		expect(caller.scopes.has('tollgate/invoke')).toBe(true);
	});
});
