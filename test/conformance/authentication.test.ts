import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chatBody, messagesBody, send, useSubject } from './subject.ts';

const subject = useSubject();

const inferencePaths = ['/v1/chat/completions', '/v1/messages'];

describe('Spec: Authentication', () => {
	it.each(inferencePaths)('4: %s takes Authorization: Bearer <ACCESS_TOKEN>', async (path) => {
		const body = path.endsWith('messages') ? messagesBody(subject.current) : chatBody(subject.current);
		const response = await send(subject.current, path, { body });
		expect(response.status).toBe(200);
	});

	it('2: the token is a signed JWT that lives 3600 seconds', async () => {
		const claims = decodePart(await subject.current.accessToken(), 1);
		expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3600);
	});

	it('3: the token carries the invoke scope, and the admin scope only when asked for', async () => {
		const { tokenEndpoint, adminClient, scopeBase } = subject.current;
		const plain = await requestToken(tokenEndpoint, adminClient);
		expect(String(plain.response['scope']).split(' ')).not.toContain(`${scopeBase}/admin`);
		const admin = await requestToken(tokenEndpoint, adminClient, { scope: `${scopeBase}/admin` });
		expect(admin.response['scope']).toBe(`${scopeBase}/admin`);
	});

	it('3: a scope not configured on the client is invalid_scope', async () => {
		const { tokenEndpoint, client, scopeBase } = subject.current;
		const rejected = await requestToken(tokenEndpoint, client, { scope: `${scopeBase}/no-such-scope` });
		expect(rejected.status).toBe(400);
		expect(rejected.response['error']).toBe('invalid_scope');
	});

	describe.each(inferencePaths)('6: %s returns 401 with an HTML page', (path) => {
		const cases: [string, (accessToken: string) => string | null][] = [
			['without a token', () => null],
			['to an empty token', () => 'Bearer '],
			['to another scheme', (accessToken) => `Basic ${accessToken}`],
			['to a malformed token', () => 'Bearer not-a-token'],
			[
				'to a token whose payload was changed',
				(accessToken) => `Bearer ${withClaims(accessToken, { scope: 'tollgate/invoke tollgate/admin' })}`,
			],
			['to a token without signature', (accessToken) => `Bearer ${accessToken.split('.').slice(0, 2).join('.')}.`],
			['to an unsigned token', (accessToken) => `Bearer ${encode({ alg: 'none', typ: 'at+jwt' })}.${accessToken.split('.')[1]}.`],
			['to a token signed with a guessed secret', (accessToken) => `Bearer ${signedWithSecret(accessToken)}`],
		];
		it.each(cases)('%s', async (_title, authorization) => {
			const headers = { authorization: authorization(await subject.current.accessToken()) };
			const response = await send(subject.current, path, { headers, body: chatBody(subject.current) });
			expect(response.status).toBe(401);
			expect(response.headers.get('content-type')).toMatch(/^text\/html/);
			expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
			expect(response.headers.get('x-amzn-waf-action')).toBeNull();
			expect(await response.text()).toMatch(/^<!doctype html>/i);
		});
	});

	it.each(inferencePaths)('7: %s returns 403 to a valid token without the required scope', async (path) => {
		const { tokenEndpoint, adminClient, scopeBase } = subject.current;
		const { response: httpResponse } = await requestToken(tokenEndpoint, adminClient, { scope: `${scopeBase}/admin` });
		const response = await send(subject.current, path, {
			accessToken: String(httpResponse['access_token']),
			body: chatBody(subject.current),
		});
		expect(response.status).toBe(403);
		expect(response.headers.get('content-type')).toMatch(/^text\/html/);
		expect(response.headers.get('x-amzn-waf-action')).toBeNull();
	});

	it('a token in the query string is ignored', async () => {
		const accessToken = await subject.current.accessToken();
		const response = await send(subject.current, `/v1/chat/completions?access_token=${accessToken}`, {
			headers: { authorization: null },
			body: chatBody(subject.current),
		});
		expect(response.status).toBe(401);
	});
});

describe('Spec: Token endpoint and Errors, rule 2', () => {
	it('returns a token, its type, its lifetime and its scope, with status 200 and not to be stored', async () => {
		const { tokenEndpoint, client, scopeBase } = subject.current;
		const { status, headers, response } = await requestToken(tokenEndpoint, client);
		expect(status).toBe(200);
		expect(response).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: `${scopeBase}/invoke` });
		expect(headers.get('cache-control')).toContain('no-store');
	});

	it('invalid_client: an unknown client and a wrong secret look the same', async () => {
		const { tokenEndpoint, client } = subject.current;
		const unknown = await requestToken(tokenEndpoint, { id: 'nobody', secret: 'nothing' });
		const wrong = await requestToken(tokenEndpoint, { id: client.id, secret: 'nothing' });
		expect(unknown.status).toBe(401);
		expect(wrong.status).toBe(401);
		expect(unknown.response).toEqual(wrong.response);
		expect(unknown.response['error']).toBe('invalid_client');
	});

	it('unsupported_grant_type: any grant but client_credentials', async () => {
		const { tokenEndpoint, client } = subject.current;
		const rejected = await requestToken(tokenEndpoint, client, { grant_type: 'password' });
		expect(rejected.status).toBe(400);
		expect(rejected.response['error']).toBe('unsupported_grant_type');
	});

	it('takes client_secret_basic as well', async () => {
		const { tokenEndpoint, client } = subject.current;
		const response = await fetch(tokenEndpoint, {
			method: 'POST',
			headers: { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` },
			body: new URLSearchParams({ grant_type: 'client_credentials' }),
		});
		expect(response.status).toBe(200);
	});
});

async function requestToken(
	tokenEndpoint: string,
	client: { id: string; secret: string },
	extra: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; response: Record<string, unknown> }> {
	const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret, ...extra });
	const response = await fetch(tokenEndpoint, { method: 'POST', body: form });
	return { status: response.status, headers: response.headers, response: (await response.json()) as Record<string, unknown> };
}

function decodePart(accessToken: string, index: number): Record<string, unknown> {
	return JSON.parse(Buffer.from(accessToken.split('.')[index] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

function encode(value: object): string {
	return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function withClaims(accessToken: string, claims: Record<string, unknown>): string {
	const [header, , signature] = accessToken.split('.');
	return `${header}.${encode({ ...decodePart(accessToken, 1), ...claims })}.${signature}`;
}

function signedWithSecret(accessToken: string): string {
	const signed = `${encode({ ...decodePart(accessToken, 0), alg: 'HS256' })}.${accessToken.split('.')[1]}`;
	return `${signed}.${createHmac('sha256', 'secret').update(signed).digest('base64url')}`;
}
