/** Admin API of a complete product: a change takes effect on the next request (Spec: Administrative endpoints). */
import { expect, it } from 'vitest';
import { freePort } from '../support/product.ts';
import { describeOwn, useSubject } from './subject.ts';

const port = await freePort();
const adminUrl = `http://127.0.0.1:${port}`;

describeOwn('Spec: Admin interface', 'a configuration of its own', () => {
	const subject = useSubject({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
	});

	const admin = async (method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> => {
		const { product, adminClient, scopeBase } = subject.current;
		const accessToken = await product?.accessToken(adminClient, `${scopeBase}/admin`);
		const response = await fetch(`${adminUrl}${path}`, {
			method,
			headers: { authorization: `Bearer ${accessToken}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
	};
	const call = async (): Promise<Response> =>
		fetch(`${subject.current.baseUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] }),
		});

	it('takes only tokens with the admin scope', async () => {
		expect((await fetch(`${adminUrl}/teams`)).status).toBe(401);
		const invoke = await fetch(`${adminUrl}/teams`, { headers: { authorization: `Bearer ${await subject.current.accessToken()}` } });
		expect([invoke.status, invoke.headers.get('content-type')]).toEqual([403, expect.stringContaining('problem+json')]);
	});

	it('takes its rights from an operator that is disabled, then deleted, though the token of it lives on', async () => {
		const { product, scopeBase } = subject.current;
		const made = await admin('POST', '/clients', { id: 'op2', name: 'Second', scopes: ['invoke', 'admin'] });
		const client = { id: 'op2', secret: String(made.body['client_secret']) };
		const authorization = `Bearer ${await product?.accessToken(client, `${scopeBase}/admin`)}`;
		const send = (method: string, path: string, body?: object) =>
			fetch(`${adminUrl}${path}`, {
				method,
				headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
				...(body !== undefined && { body: JSON.stringify(body) }),
			});
		expect((await send('GET', '/clients')).status).toBe(200);
		await admin('PUT', '/clients/op2', { disabled: true });
		expect((await send('GET', '/clients')).status).toBe(401);
		await admin('DELETE', '/clients/op2');
		expect((await send('POST', '/clients', { id: 'door', name: 'Door', scopes: ['admin'] })).status).toBe(401);
		expect((await admin('GET', '/clients/door')).status).toBe(404);
	});

	it('leads a model elsewhere by a rule, at once, and back again', async () => {
		const rule = {
			id: 'elsewhere',
			name: 'Elsewhere',
			match: { model: 'gpt-4o-mini', format: 'chat' },
			targets: [{ provider: 'provider_a', model: 'claude-sonnet-4-5' }],
		};
		expect((await admin('POST', '/routing', rule)).status).toBe(201);
		const led = await call();
		expect([led.status, led.headers.get('x-gateway-provider'), led.headers.get('x-gateway-model')]).toEqual([
			200,
			'provider_a',
			'claude-sonnet-4-5',
		]);
		expect(await led.json()).toMatchObject({ object: 'chat.completion' });
		expect((await admin('PUT', '/routing/elsewhere', { enabled: false })).status).toBe(200);
		expect((await call()).headers.get('x-gateway-provider')).toBe('provider_b');
		expect((await admin('DELETE', '/routing/elsewhere')).status).toBe(204);
	});

	it('creates a team, a price and a budget that apply to the next request, and reports its cost', async () => {
		const client = subject.current.client.id;
		expect(await admin('POST', '/teams', { id: 'red', name: 'Red', tier: 'standard', client_ids: [client] })).toMatchObject({
			status: 201,
		});
		const first = await call();
		expect([first.status, first.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '100']);

		const price = { input_usd_per_million_tokens: '1000000', output_usd_per_million_tokens: '1000000' };
		expect((await admin('PUT', '/pricing/provider_b/gpt-4o-mini', price)).status).toBe(200);
		expect((await call()).status).toBe(200);
		await expect
			.poll(async () => Number(((await admin('GET', '/usage/red')).body as { cost_usd?: string }).cost_usd), { timeout: 3000 })
			.toBeGreaterThan(10);

		expect((await admin('POST', '/budgets', { id: 'red-all', team: 'red', limit_usd: '1.00' })).status).toBe(201);
		const rejected = await call();
		expect(rejected.status).toBe(429);
		expect(await rejected.json()).toMatchObject({ action: 'reject', error: { code: 'budget_exceeded' } });
		expect((await admin('GET', '/budgets/red-all')).body).toMatchObject({ usage: { state: 'exhausted' } });

		expect((await admin('DELETE', '/budgets/red-all')).status).toBe(204);
		expect((await admin('DELETE', '/pricing/provider_b/gpt-4o-mini')).status).toBe(204);
		expect((await call()).status).toBe(200);
		const { data } = (await admin('GET', '/audit')).body as { data: unknown[] };
		expect(data.length).toBeGreaterThanOrEqual(5);
		const requests = (await admin('GET', '/requests?team=red')).body as { data: { id: string }[] };
		expect(requests.data.map((row) => row.id)).toContain(first.headers.get('x-request-id'));
	});
});

describeOwn('Spec: Admin interface, without `enable_admin_api`', 'a configuration of its own', () => {
	const subject = useSubject({
		enable_admin_api: false,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${port}` },
	});

	it('nothing listens, though the role is named; no other address serves it', async () => {
		const { baseUrl, product, adminClient, scopeBase } = subject.current;
		await expect(fetch(`${adminUrl}/healthz`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
		const accessToken = await product?.accessToken(adminClient, `${scopeBase}/admin ${scopeBase}/invoke`);
		for (const path of ['/teams', '/budgets', '/openapi.json', '/config']) {
			for (const url of [baseUrl, product?.identityUrl ?? '']) {
				const { status } = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${accessToken}` } });
				expect([404, 405], `${url}${path}`).toContain(status);
			}
		}
	});
});
