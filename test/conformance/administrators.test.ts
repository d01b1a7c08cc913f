/** Roles of administrators, several issuers and access rules, over HTTP. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/product.ts';
import { TestIssuer } from '../support/test-issuer.ts';
import { describeOwn, useSubject } from './subject.ts';

const [port, other] = [await freePort(), await TestIssuer.start({ clientId: 'agent', audience: 'gateway' })];
const adminUrl = `http://127.0.0.1:${port}`;
const secret = 'secret-of-an-administrator-0123456789';
const roles = ['admin:read', 'admin:write', 'admin:secrets', 'admin:team:red'];
const idOf = (role: string): string => role.replaceAll(':', '-');

afterAll(() => other.stop());

describeOwn('administrators', 'a configuration of its own', () => {
	const subject = useSubject({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
		identity: {
			clients: [
				{ id: 'agent', secret: 'secret-of-the-agent-0123456789', scopes: ['invoke'], team: 'config-team' },
				{ id: 'operator', secret: 'secret-of-the-operator-0123456789', scopes: ['invoke', 'admin'] },
				...roles.map((role) => ({ id: idOf(role), secret, scopes: [role] })),
			],
		},
		auth: { issuers: [{ issuer: other.issuer, audience: 'gateway', client_prefix: 'other:', scopes: ['invoke'] }] },
		access: {
			rules: [
				{ when: { issuer: other.issuer, groups: 'red-*' }, grant: ['admin:team', 'invoke'], team: 'red' },
				{ when: { issuer: other.issuer, groups: ['auditors'] }, grant: ['admin:read'] },
				{ when: { issuer: other.issuer, groups: 'lost' }, grant: ['invoke'], team: 'absent' },
			],
		},
	});

	const send = async (accessToken: string, method: string, path: string, body?: object) => {
		const response = await fetch(`${adminUrl}${path}`, {
			method,
			headers: { authorization: `Bearer ${accessToken}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		return {
			status: response.status,
			type: response.headers.get('content-type') ?? '',
			body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
		};
	};
	const tokenOf = async (id: string, scope: string, clientSecret = secret): Promise<string> =>
		(await subject.current.product?.accessToken({ id, secret: clientSecret }, `tollgate/${scope}`)) ?? '';
	const root = () => tokenOf('operator', 'admin', 'secret-of-the-operator-0123456789');
	const chat = (accessToken: string) =>
		fetch(`${subject.current.baseUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', accept: 'application/json' },
			body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] }),
		});

	beforeAll(async () => {
		for (const id of ['red', 'blue']) {
			await send(await root(), 'POST', '/teams', { id, tier: 'enterprise' });
			await send(await root(), 'POST', '/clients', { id: `${id}-client`, name: id, team: id });
			await send(await root(), 'POST', '/budgets', { id: `${id}-budget`, team: id, limit_usd: '5' });
		}
	});

	it('each have the permissions of their scope', async () => {
		const requests: [method: string, path: string, body?: object][] = [
			['GET', '/teams'],
			['PUT', '/budgets/red-budget', { limit_usd: '6' }],
			['POST', '/clients/red-client/rotate', {}],
			['GET', '/clients/red-client'],
			['GET', '/config'],
		];
		const statuses = await Promise.all(
			roles.map(async (role) => {
				const accessToken = await tokenOf(idOf(role), role);
				return Promise.all(requests.map(async ([method, path, body]) => (await send(accessToken, method, path, body)).status));
			}),
		);
		expect(statuses).toEqual([
			[200, 403, 403, 200, 200],
			[200, 200, 403, 200, 200],
			[403, 403, 200, 403, 403],
			[200, 403, 200, 200, 403],
		]);
	});

	it('get 403 as problem+json that names the missing scope', async () => {
		const response = await send(await tokenOf('admin-read', 'admin:read'), 'POST', '/teams', { id: 'green' });
		expect([response.status, response.type, response.body['detail']]).toEqual([
			403,
			expect.stringContaining('application/problem+json'),
			expect.stringContaining('`tollgate/admin:write`'),
		]);
	});

	it('of a team see and change nothing of another', async () => {
		const accessToken = await tokenOf('admin-team-red', 'admin:team:red');
		for (const path of ['/teams', '/clients', '/budgets', '/usage', '/requests', '/guardrails/assessments']) {
			const { status, body } = await send(accessToken, 'GET', path);
			expect([path, status, JSON.stringify(body).includes('blue')]).toEqual([path, 200, false]);
		}
		for (const [method, path, body] of [
			['GET', '/teams/blue'],
			['PUT', '/teams/blue', { name: 'x' }],
			['GET', '/usage/blue'],
			['GET', '/budgets/blue-budget'],
			['GET', '/clients/blue-client'],
			['DELETE', '/clients/blue-client'],
			['POST', '/clients/blue-client/rotate', {}],
		] as const) {
			expect([path, (await send(accessToken, method, path, body)).status]).toEqual([path, 404]);
		}
	});

	it('get their scopes only when they request them', async () => {
		const { tokenEndpoint } = subject.current;
		const form = { grant_type: 'client_credentials', client_id: 'admin-read', client_secret: secret };
		const withoutScope = await fetch(tokenEndpoint, { method: 'POST', body: new URLSearchParams(form) });
		expect(withoutScope.status).toBe(400);
		const more = await fetch(tokenEndpoint, { method: 'POST', body: new URLSearchParams({ ...form, scope: 'tollgate/admin:write' }) });
		expect([more.status, await more.json()]).toMatchObject([400, { error: 'invalid_scope' }]);
	});

	it('lose their access when their client changes', async () => {
		const made = await send(await root(), 'POST', '/clients', { id: 'second', name: 'x', scopes: ['admin:read'] });
		const accessToken = await tokenOf('second', 'admin:read', String(made.body['client_secret']));
		expect((await send(accessToken, 'GET', '/teams')).status).toBe(200);
		await send(await root(), 'PUT', '/clients/second', { scopes: ['invoke'] });
		expect((await send(accessToken, 'GET', '/teams')).status).toBe(403);
		await send(await root(), 'DELETE', '/clients/second');
		expect((await send(accessToken, 'GET', '/teams')).status).toBe(401);
	});

	it('of another issuer have what the first matching rule grants', async () => {
		const team = other.accessToken({ groups: ['auditors', 'red-leads'], scope: 'tollgate/admin' });
		expect((await send(team, 'GET', '/clients/red-client')).status).toBe(200);
		expect((await send(team, 'GET', '/clients/blue-client')).status).toBe(404);
		expect((await send(team, 'GET', '/config')).status).toBe(403);
		const auditor = other.accessToken({ groups: 'auditors' });
		expect((await send(auditor, 'GET', '/config')).status).toBe(200);
		expect((await send(auditor, 'POST', '/teams', { id: 'x' })).status).toBe(403);
	});

	it('of another issuer are not what the claim of their token says', async () => {
		expect((await send(other.accessToken({ scope: 'tollgate/admin' }), 'GET', '/teams')).status).toBe(403);
		expect((await send(other.accessToken({ aud: 'elsewhere', groups: 'auditors' }), 'GET', '/teams')).status).toBe(401);
		expect((await send(other.accessToken({ iss: subject.current.product?.identityUrl, groups: 'auditors' }), 'GET', '/teams')).status).toBe(
			401,
		);
	});

	it('and clients of two issuers with the same id are in different teams', async () => {
		const limits = async (accessToken: string) =>
			(await (
				await fetch(`${subject.current.baseUrl}/v1/limits`, { headers: { authorization: `Bearer ${accessToken}` } })
			).json()) as object;
		expect(await limits(await subject.current.accessToken())).toMatchObject({ team: 'config-team' });
		expect(await limits(other.accessToken())).toMatchObject({ team: 'other:agent' });
		expect(await limits(other.accessToken({ groups: 'red-team', scope: '' }))).toMatchObject({ team: 'red' });
		expect((await chat(other.accessToken({ groups: 'red-team', scope: '' }))).status).toBe(200);
		expect((await chat(other.accessToken({ groups: 'lost' }))).status).toBe(403);
		const { body } = await send(await root(), 'GET', '/requests?team=red');
		expect(body['data']).toMatchObject([{ team_id: 'red', client_id: 'other:agent' }]);
	});

	it('follow rules that change while the product runs', async () => {
		const { product } = subject.current;
		const accessToken = other.accessToken({ groups: 'newcomers' });
		expect((await send(accessToken, 'GET', '/teams')).status).toBe(403);
		const config = JSON.parse(readFileSync(product?.configPath ?? '', 'utf8')) as { access: { rules: object[] } };
		config.access.rules.push({ when: { issuer: other.issuer, groups: 'newcomers' }, grant: ['admin:read'] });
		writeFileSync(product?.configPath ?? '', JSON.stringify(config));
		product?.process.kill('SIGHUP');
		await expect.poll(async () => (await send(accessToken, 'GET', '/teams')).status, { timeout: 10_000 }).toBe(200);
	});
});
