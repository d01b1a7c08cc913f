/** Tollgate's tokens compared with those of an independent issuer, oidc-provider, for the same grant. */
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, basicOf, type IdentitySubject, startIdentity } from '../../../test/support/identity.ts';

const audience = 'https://gateway.example';

let externalIssuerServer: Server;
let externalIssuerUrl: string;
let subject: IdentitySubject;

/** The part of the package that this test uses; it has no types. */
interface OidcProvider {
	callback(): RequestListener;
}

beforeAll(async () => {
	const packageName = 'oidc-provider';
	const { default: Provider } = (await import(packageName)) as { default: new (issuer: string, configuration: object) => OidcProvider };
	externalIssuerServer = createServer().listen(0, '127.0.0.1');
	await once(externalIssuerServer, 'listening');
	const address = externalIssuerServer.address();
	externalIssuerUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
	const provider = new Provider(externalIssuerUrl, {
		clients: [
			{ client_id: agent.id, client_secret: agent.secret, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
		],
		features: {
			clientCredentials: { enabled: true },
			devInteractions: { enabled: false },
			resourceIndicators: {
				enabled: true,
				defaultResource: () => audience,
				getResourceServerInfo: () => ({ scope: 'tollgate/invoke', audience, accessTokenFormat: 'jwt', accessTokenTTL: 3600 }),
			},
		},
	});
	externalIssuerServer.on('request', provider.callback());
	subject = await startIdentity({ audience });
});

afterAll(async () => {
	externalIssuerServer.close();
	await subject.stop();
});

async function fetchToken(endpoint: string): Promise<{ response: Record<string, unknown>; accessToken: string }> {
	const response = await fetch(endpoint, {
		method: 'POST',
		headers: basicOf(agent.id, agent.secret),
		body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'tollgate/invoke' }),
	});
	const { access_token: accessToken, ...httpResponse } = (await response.json()) as { access_token: string };
	return { response: httpResponse, accessToken };
}

test('every member of header, claims and response that the other issuer sends is also in Tollgate’s', async () => {
	const foreign = await fetchToken(`${externalIssuerUrl}/token`);
	const own = await fetchToken(`${subject.baseUrl}/oauth2/token`);
	const changing = ['iss', 'iat', 'exp', 'jti'];
	const externalClaims = decodeJwt(foreign.accessToken);
	const ownClaims = decodeJwt(own.accessToken);
	expect(Object.keys(externalClaims).toSorted()).toEqual(['aud', 'client_id', 'exp', 'iat', 'iss', 'jti', 'scope', 'sub']);
	for (const [name, value] of Object.entries(externalClaims)) {
		if (changing.includes(name)) expect(typeof ownClaims[name]).toBe(typeof value);
		else expect([name, ownClaims[name]]).toEqual([name, value]);
	}
	expect((ownClaims.exp ?? 0) - (ownClaims.iat ?? 0)).toBe((externalClaims.exp ?? 0) - (externalClaims.iat ?? 0));
	expect(Object.keys(decodeProtectedHeader(own.accessToken)).toSorted()).toEqual(
		Object.keys(decodeProtectedHeader(foreign.accessToken)).toSorted(),
	);
	expect(decodeProtectedHeader(own.accessToken).typ).toBe(decodeProtectedHeader(foreign.accessToken).typ);
	expect(own.response).toEqual(foreign.response);
});

test('the published key has every member that one of the other issuer has', async () => {
	const membersOf = async (url: string): Promise<string[]> => {
		const { keys } = (await (await fetch(url)).json()) as { keys: object[] };
		return Object.keys(keys[0] ?? {}).toSorted();
	};
	const foreign = await membersOf(`${externalIssuerUrl}/jwks`);
	expect(await membersOf(`${subject.baseUrl}/.well-known/jwks.json`)).toEqual(expect.arrayContaining(foreign));
});
