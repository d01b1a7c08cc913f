import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { agent, basicOf, formOf, type IdentitySubject, issuer, startIdentity } from '../../../test/support/identity.ts';
import { sendAfterResponse } from '../../../test/support/send-after-response.ts';

let subject: IdentitySubject;

/** Sends raw bytes on a separate connection. @returns all bytes received until it was closed. */
async function sendRaw(text: string): Promise<string> {
	const socket = connect(subject.identity.address?.port ?? 0, '127.0.0.1');
	let received = '';
	socket.setEncoding('utf8').on('data', (piece: string) => {
		received += piece;
	});
	socket.write(text);
	await once(socket, 'close');
	return received;
}

describe('the token endpoint', () => {
	beforeAll(async () => {
		const chief = { ...agent, id: 'chief', scopes: ['admin'] };
		subject = await startIdentity({ configuredClients: [agent, chief, { ...agent, id: 'bare', scopes: [] }] });
	});
	afterAll(() => subject.stop());

	test('returns a token that a foreign library verifies', async () => {
		const response = await subject.post(formOf(agent));
		expect(response.status).toBe(200);
		const { access_token: accessToken, ...rest } = (await response.json()) as { access_token: string };
		expect(rest).toEqual({ token_type: 'Bearer', expires_in: 3600, scope: 'tollgate/invoke' });
		const keySet = createRemoteJWKSet(new URL(`${subject.baseUrl}/.well-known/jwks.json`));
		const { payload, protectedHeader } = await jwtVerify(accessToken, keySet, { issuer, typ: 'at+jwt', algorithms: ['RS256'] });
		expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) as string });
		const { iat, jti, ...claims } = payload;
		expect(claims).toEqual({
			iss: issuer,
			sub: 'agent',
			client_id: 'agent',
			scope: 'tollgate/invoke',
			nbf: iat,
			exp: (iat ?? 0) + 3600,
			token_use: 'access',
		});
		expect(Math.abs(Date.now() / 1000 - (iat ?? 0))).toBeLessThan(5);
		expect(jti).toMatch(/^[0-9a-f-]{36}$/);
	});

	test('accepts Basic authentication, percent-encoded or not, with or without the same client_id in the form', async () => {
		const form = { grant_type: 'client_credentials' };
		for (const [headers, extra] of [
			[basicOf(agent.id, agent.secret), {}],
			[basicOf(agent.id, agent.secret), { client_id: agent.id }],
			[basicOf(agent.id, agent.secret.replaceAll('-', '%2D')), {}],
			[{ authorization: basicOf(agent.id, agent.secret).authorization.replace('Basic', 'bAsIc') }, {}],
		] as const) {
			expect((await subject.post({ ...form, ...extra }, headers)).status).toBe(200);
		}
	});

	test.each([
		['tollgate/admin', 'tollgate/admin'],
		['tollgate/admin tollgate/invoke', 'tollgate/admin tollgate/invoke'],
		['tollgate/invoke tollgate/invoke', 'tollgate/invoke'],
		['', 'tollgate/invoke'],
	])('grants of the scopes requested as %j exactly %j', async (requested, given) => {
		const response = await subject.post({ ...formOf(agent), scope: requested });
		const { scope, access_token: accessToken } = (await response.json()) as { scope: string; access_token: string };
		expect(scope).toBe(given);
		expect(decodeJwt(accessToken)['scope']).toBe(given);
	});

	const basic = basicOf(agent.id, agent.secret);
	const form = new URLSearchParams(formOf(agent)).toString();
	test.each([
		['an unknown client', formOf({ ...agent, id: 'nobody' }), {}, 401, 'invalid_client'],
		['a wrong secret', formOf({ ...agent, secret: 'wrong' }), {}, 401, 'invalid_client'],
		['no credentials', { grant_type: 'client_credentials' }, {}, 401, 'invalid_client'],
		['an id without a secret', { grant_type: 'client_credentials', client_id: 'agent' }, {}, 401, 'invalid_client'],
		['an empty secret', formOf({ ...agent, secret: '' }), {}, 401, 'invalid_client'],
		['a client id that breaks SQL', formOf({ ...agent, id: "' OR 1=1 --" }), {}, 401, 'invalid_client'],
		['another authentication scheme', { grant_type: 'client_credentials' }, { authorization: 'Bearer abc' }, 401, 'invalid_client'],
		['Basic that is not base64', { grant_type: 'client_credentials' }, { authorization: 'Basic %%%' }, 401, 'invalid_client'],
		['Basic without a colon', { grant_type: 'client_credentials' }, { authorization: 'Basic YWdlbnQ=' }, 400, 'invalid_request'],
		['Basic that is not UTF-8', { grant_type: 'client_credentials' }, { authorization: 'Basic /zr/' }, 400, 'invalid_request'],
		['Basic with broken percent-encoding', { grant_type: 'client_credentials' }, basicOf('agent', '%zz'), 400, 'invalid_request'],
		['Basic beside a secret in the body', formOf(agent), basic, 400, 'invalid_request'],
		['Basic beside another client_id', { grant_type: 'client_credentials', client_id: 'chief' }, basic, 400, 'invalid_request'],
		['a client without any scope', formOf({ ...agent, id: 'bare' }), {}, 400, 'invalid_grant'],
		['an unknown scope', { ...formOf(agent), scope: 'tollgate/other' }, {}, 400, 'invalid_scope'],
		['a scope without its base', { ...formOf(agent), scope: 'invoke' }, {}, 400, 'invalid_scope'],
		['a scope in other letters', { ...formOf(agent), scope: 'TOLLGATE/invoke' }, {}, 400, 'invalid_scope'],
		['one good and one bad scope', { ...formOf(agent), scope: 'tollgate/invoke x' }, {}, 400, 'invalid_scope'],
		['scopes with two blanks between', { ...formOf(agent), scope: 'tollgate/invoke  tollgate/admin' }, {}, 400, 'invalid_scope'],
		['a scope that is not granted', { ...formOf({ ...agent, id: 'chief' }), scope: 'tollgate/invoke' }, {}, 400, 'invalid_scope'],
		['no scope, when there is only admin', formOf({ ...agent, id: 'chief' }), {}, 400, 'invalid_scope'],
		['another grant', { ...formOf(agent), grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
		['no grant', { client_id: 'agent', client_secret: agent.secret }, {}, 400, 'invalid_request'],
		['an empty grant', { ...formOf(agent), grant_type: '' }, {}, 400, 'invalid_request'],
		['a repeated parameter', `${form}&client_id=agent`, {}, 400, 'invalid_request'],
		['a parameter repeated under an encoded name', `${form}&client%5Fid=agent`, {}, 400, 'invalid_request'],
		['a parameter repeated without a value', `${form}&scope=&scope=`, {}, 400, 'invalid_request'],
		['broken percent-encoding', `${form}&scope=%2`, {}, 400, 'invalid_request'],
		['percent-encoding that is not UTF-8', `${form}&scope=%ff`, {}, 400, 'invalid_request'],
		['a NUL', `${form}%00`, {}, 400, 'invalid_request'],
		['an empty body', '', {}, 400, 'invalid_request'],
		['JSON', JSON.stringify(formOf(agent)), { 'content-type': 'application/json' }, 400, 'invalid_request'],
		['plain text', form, { 'content-type': 'text/plain' }, 400, 'invalid_request'],
		['a body over 8 KB', `${form}&x=${'x'.repeat(8192)}`, {}, 413, 'body_too_large'],
	])('rejects %s', async (_what, body, headers, status, error) => {
		const response = await subject.post(body, headers);
		expect({ status: response.status, body: await response.json() }).toEqual({
			status,
			// Characters that RFC 6749 section 5.2 allows.
			body: { error, error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/) as string },
		});
		expect(response.headers.get('cache-control')).toBe('no-store');
		expect(response.headers.get('pragma')).toBe('no-cache');
		expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
		expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="tollgate", charset="UTF-8"' : null);
	});

	test('returns identical responses for an unknown client and a wrong secret', async () => {
		const [wrong, unknown] = await Promise.all(
			[formOf({ ...agent, secret: 'wrong' }), formOf({ ...agent, id: 'nobody' })].map(async (body) => {
				const response = await subject.post(body);
				const { date: _date, 'x-request-id': _requestId, ...headers } = Object.fromEntries(response.headers);
				return { status: response.status, headers, body: await response.text() };
			}),
		);
		expect(wrong).toEqual(unknown);
	});

	test('rejects bytes that are not UTF-8', async () => {
		const body = Buffer.concat([Buffer.from(`${form}&x=`), Buffer.from([0xff])]);
		const response = await fetch(`${subject.baseUrl}/oauth2/token`, {
			method: 'POST',
			headers: { 'content-type': 'application/x-www-form-urlencoded' },
			body,
		});
		expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
	});

	test.each(['client_secret=x', 'client%5Fsecret=x', 'scope=tollgate%2Finvoke', ''])('rejects the query %j', async (query) => {
		const response = await fetch(`${subject.baseUrl}/oauth2/token?${query}&`, { method: 'POST', body: new URLSearchParams(formOf(agent)) });
		expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_request' }]);
	});

	test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])('does not accept %s', async (method) => {
		const response = await fetch(`${subject.baseUrl}/oauth2/token`, { method });
		expect(response.status).toBe(405);
		expect(response.headers.get('allow')).toBe('POST');
		expect(response.headers.get('cache-control')).toBe('no-store');
	});

	test('keeps its responses out of caches and browsers', async () => {
		const response = await subject.post(formOf(agent));
		expect(Object.fromEntries(response.headers)).toMatchObject({
			'cache-control': 'no-store',
			pragma: 'no-cache',
			'content-type': 'application/json; charset=utf-8',
			'x-content-type-options': 'nosniff',
			'x-request-id': expect.stringMatching(/.+/) as string,
		});
		expect(response.headers.has('server')).toBe(false);
		expect(response.headers.has('x-powered-by')).toBe(false);
	});

	test('rejects a second authorization header, which a proxy might have added', async () => {
		const header = `authorization: ${basic.authorization}\r\n`;
		const body = 'grant_type=client_credentials';
		const response = await sendRaw(
			`POST /oauth2/token HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}${header}` +
				`content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
		);
		expect(response).toMatch(/^HTTP\/1\.1 400 /);
		expect(response).toContain('"error":"invalid_request"');
	});

	test('rejects an announced body over 8 KB before it has arrived', async () => {
		const response = await sendRaw(
			'POST /oauth2/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100000\r\n\r\n',
		);
		expect(response).toMatch(/^HTTP\/1\.1 413 /);
	});

	test('returns 400 for bytes that are no HTTP, and closes', async () => {
		const response = await sendRaw('GIMME TOKEN\r\n\r\n');
		expect(response).toMatch(/^HTTP\/1\.1 400 [^]*connection: close[^]*"error":"http_malformed"/);
	});

	test('returns 431 for header fields over 16 KB, and closes', async () => {
		expect(await sendRaw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 [^]*headers_too_large/);
	});

	test('discards the rest of a head that is too large, so that its client receives the response', async () => {
		const { received, error } = await sendAfterResponse(subject.identity.address?.port ?? 0);
		expect(received).toMatch(/^HTTP\/1\.1 431 [^]*headers_too_large/);
		expect(error).toBeUndefined();
	});

	test('never logs or returns a secret, also one in the wrong field', async () => {
		const canary = 'canary-0123456789abcdef';
		const requests = [
			formOf({ id: canary, secret: canary }),
			formOf({ id: 'agent', secret: canary }),
			{ ...formOf(agent), scope: canary },
			{ ...formOf(agent), grant_type: canary },
			`${canary}=%zz`,
			'',
		];
		for (const request of requests) expect(await (await subject.post(request, basicOf('agent', canary))).text()).not.toContain(canary);
		for (const request of requests) expect(await (await subject.post(request)).text()).not.toContain(canary);
		await fetch(`${subject.baseUrl}/oauth2/token?client_secret=${canary}`, { method: 'POST' });
		await fetch(`${subject.baseUrl}/oauth2/token/${canary}`, { method: 'POST' });
		await subject.accessToken();
		expect(JSON.stringify(subject.log.lines)).not.toContain(canary);
		expect(JSON.stringify(subject.log.lines)).not.toContain(agent.secret);
		expect(JSON.stringify(subject.log.lines)).not.toContain('eyJ');
	});

	test('logs who got a token, and which client was rejected', async () => {
		const accessToken = await subject.accessToken();
		expect(subject.log.lines.at(-1)).toMatchObject({
			event: 'access token issued',
			fields: { clientId: 'agent', scope: 'tollgate/invoke', jti: decodeJwt(accessToken).jti },
		});
		await subject.post(formOf({ ...agent, secret: 'wrong' }));
		expect(subject.log.lines.slice(-2)).toMatchObject([
			{ event: 'client not authenticated', fields: { clientId: 'agent' } },
			{ event: 'token request rejected', fields: { code: 'invalid_client' } },
		]);
	});

	test('10,000 tokens differ in jti, and all verify', { timeout: 60_000 }, async () => {
		const keySet = createRemoteJWKSet(new URL(`${subject.baseUrl}/.well-known/jwks.json`));
		const [jwk] = subject.identity.publishedKeySet().keys;
		const publicKey = createPublicKey({ key: { ...jwk }, format: 'jwk' });
		const pool = new Pool(subject.baseUrl, { connections: 20 });
		onTestFinished(() => pool.close());
		const headers = { 'content-type': 'application/x-www-form-urlencoded' };
		const body = new URLSearchParams(formOf(agent)).toString();
		const seen = new Set<string | undefined>();
		const issueSome = async (count: number): Promise<void> => {
			for (let index = 0; index < count; index++) {
				const response = await pool.request({ method: 'POST', path: '/oauth2/token', headers, body });
				const { access_token: accessToken } = (await response.body.json()) as { access_token: string };
				seen.add(decodeJwt(accessToken).jti);
				const [signed = '', signature = ''] = accessToken.split(/\.(?=[^.]*$)/);
				if (!verify('sha256', Buffer.from(signed), publicKey, Buffer.from(signature, 'base64url'))) throw new Error(accessToken);
				if (index % 10 === 0) await jwtVerify(accessToken, keySet, { issuer });
			}
		};
		await Promise.all(Array.from({ length: 20 }, () => issueSome(500)));
		expect(seen.size).toBe(10_000);
	});
});
