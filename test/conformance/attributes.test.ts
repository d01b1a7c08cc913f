/** Attributes of requests over HTTP: permission, claims of an external issuer, a separate edge, and usage by them. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { requestStatus, untilReady, writeSettings } from '../support/deployment.ts';
import { launcher, startProcess, temporaryDirectory } from '../support/processes.ts';
import { agent, eventually, freePort, operator, type Product, startProduct } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { SimulatorControl } from '../support/simulator-control.ts';
import { TestIssuer } from '../support/test-issuer.ts';
import { until } from '../support/until.ts';
import { describeOwn } from './subject.ts';

const header = 'x-gateway-attributes';
const bot = { id: 'bot', secret: 'secret-of-the-bot-0123456789abcd' };

type Row = Readonly<Record<string, unknown>>;

/** Reads all pages of a report. */
async function usage(adminUrl: string, accessToken: string, query: string): Promise<readonly Row[]> {
	const rows: Row[] = [];
	for (let cursor: string | null = ''; cursor !== null; ) {
		const page = `${adminUrl}/usage?${query}&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
		const response = await fetch(page, { headers: { authorization: `Bearer ${accessToken}` } });
		if (response.status !== 200) throw new Error(`${query}: ${response.status} ${await response.text()}`);
		const body = (await response.json()) as { data: Row[]; next_cursor: string | null };
		rows.push(...body.data);
		cursor = body.next_cursor;
	}
	return rows;
}

async function adminSettings(): Promise<{ readonly adminUrl: string; readonly settings: object }> {
	const port = await freePort();
	return { adminUrl: `http://127.0.0.1:${port}`, settings: { enable_admin_api: true, admin: { listen: `127.0.0.1:${port}` } } };
}

describeOwn('attributes of requests', 'a configuration of its own', () => {
	let product: Product;
	let adminUrl: string;
	beforeAll(async () => {
		const admin = await adminSettings();
		adminUrl = admin.adminUrl;
		product = await startProduct({
			...admin.settings,
			roles: ['edge', 'gateway', 'admin', 'identity', 'simulator'],
			identity: {
				clients: [
					{ ...agent, scopes: ['invoke'], team: 'search' },
					{ ...operator, scopes: ['invoke', 'admin'] },
					{ ...bot, scopes: ['invoke'], team: 'search', may_set_attributes: true },
				],
			},
		});
	}, 60_000);
	afterAll(async () => {
		await product.stop();
	});

	const ask = async (client: { id: string; secret: string }, attributes: string | undefined, path = '/v1/chat/completions') => {
		const body = {
			model: path === '/v1/messages' ? 'claude-haiku-4-5' : 'gpt-4o-mini',
			max_tokens: 20,
			messages: [{ role: 'user', content: 'Hi.' }],
		};
		const authorization = `Bearer ${await product.accessToken(client)}`;
		const headers = { 'content-type': 'application/json', authorization, ...(attributes !== undefined && { [header]: attributes }) };
		return fetch(`${product.gatewayUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
	};

	it('are rejected without permission, and name the cure', async () => {
		const response = await ask(agent, 'project=search');
		expect(response.status).toBe(403);
		const { error } = (await response.json()) as { error: Row };
		expect(error).toMatchObject({ code: 'attributes_not_allowed', param: header });
		expect(error['message']).toContain('may_set_attributes');
		expect(((await (await ask(agent, 'project=search', '/v1/messages')).json()) as Row)['type']).toBe('error');
	});

	it.each(['', 'project', 'Project=a', 'project=a b', 'a=1,a=2', `a=${'x'.repeat(129)}`, 'a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9'])(
		'that are malformed (%j) are 400 with the field as param',
		async (text) => {
			const response = await ask(bot, text);
			expect(response.status).toBe(400);
			expect(((await response.json()) as { error: Row }).error).toMatchObject({ code: 'field_invalid', param: header });
		},
	);

	it('in two lines are one list, and header fields beyond their limit are rejected before', async () => {
		const accessToken = await product.accessToken(bot);
		const statusOf = async (...lines: string[]): Promise<string | undefined> => {
			const client = new RawClient(Number(new URL(product.gatewayUrl).port));
			const body = JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] });
			const fields = [`host: x`, `authorization: Bearer ${accessToken}`, 'content-type: application/json', 'connection: close'];
			const all = [...fields, ...lines.map((line) => `${header}: ${line}`), `content-length: ${body.length}`];
			client.send(`POST /v1/chat/completions HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`);
			await until(() => client.isEnded);
			return /^HTTP\/1\.1 (\d+)/.exec(client.text)?.[1];
		};
		expect(await statusOf('twice=lines', 'user=two')).toBe('200');
		expect(await statusOf('twice=lines', 'twice=lines')).toBe('400');
		expect(await statusOf(`a=${'x'.repeat(100_000)}`)).toBe('431');
	});

	it('split usage, whose sums are those of the requests', async () => {
		const projects = ['p1', 'p2', 'p3'];
		const expected = new Map<string, number>();
		for (let index = 0; index < 18; index++) {
			const project = projects[index % 3] ?? '';
			const path = index % 2 === 0 ? '/v1/chat/completions' : '/v1/messages';
			const response = await ask(bot, `project=${project},user=u${index % 4}`, path);
			expect(response.status).toBe(200);
			await response.arrayBuffer();
			const key = `${path} ${project}`;
			expected.set(key, (expected.get(key) ?? 0) + 1);
		}
		const admin = await product.accessToken(operator, 'tollgate/admin');
		const rows = await eventually('usage has all requests', async () => {
			const found = await usage(adminUrl, admin, 'group_by=endpoint,attribute:project,team');
			const ofProjects = found.filter((row) => projects.includes(String(row['attribute:project'])));
			return ofProjects.reduce((sum, row) => sum + Number(row['requests']), 0) === 18 ? ofProjects : undefined;
		});
		expect(new Map(rows.map((row) => [`${String(row['endpoint'])} ${String(row['attribute:project'])}`, row['requests']]))).toEqual(
			expected,
		);
		expect(new Set(rows.map((row) => row['team']))).toEqual(new Set(['search']));
		const nanoUsd = (some: readonly Row[]): bigint =>
			some.reduce(
				(sum, row) => sum + BigInt(String(row['cost_usd']).replace(/\.(\d*)$/, (_, digits: string) => digits.padEnd(9, '0'))),
				0n,
			);
		const [whole, byUser, byHour] = await Promise.all(
			['group_by=team', 'group_by=attribute:user,client,model', 'group_by=attribute:project&interval=hour'].map((query) =>
				usage(adminUrl, admin, query),
			),
		);
		expect(nanoUsd(whole ?? [])).toBeGreaterThan(0n);
		expect([nanoUsd(byUser ?? []), nanoUsd(byHour ?? [])]).toEqual([nanoUsd(whole ?? []), nanoUsd(whole ?? [])]);
	});

	it('reach no provider', async () => {
		for (const path of ['/v1/chat/completions', '/v1/messages']) {
			expect((await ask(bot, 'project=secret-project', path)).status).toBe(200);
			const newest = await new SimulatorControl(product.simulatorUrl).newestRequest();
			expect(JSON.stringify(newest)).not.toContain('secret-project');
			expect(Object.keys(newest.headers)).not.toContain(header);
		}
	});
});

describeOwn('attributes from claims of an external issuer, behind a separate edge', 'a configuration of its own', () => {
	it('are those of the token, and win over the header of a client with permission', { timeout: 90_000 }, async () => {
		const issuer = await TestIssuer.start();
		onTestFinished(() => issuer.stop());
		const { adminUrl, settings } = await adminSettings();
		const auth = { issuer: issuer.issuer, jwks_uri: issuer.jwksUri };
		const teams = { attributes_from_claims: { project: 'project_id', environment: 'https://example.com/env' } };
		const gateway = await startProduct({ ...settings, auth, teams, roles: ['gateway', 'admin', 'simulator'] });
		onTestFinished(async () => void (await gateway.stop()));
		const listen = `127.0.0.1:${await freePort()}`;
		const edgeUrl = `http://${listen}`;
		const edgeConfig = join(temporaryDirectory(), 'edge.json');
		const edge = { overload: { loop_delay_ms: 60_000 }, listen, gateways: [gateway.gatewayUrl] };
		writeSettings(edgeConfig, { auth, roles: ['edge'], data_dir: `${edgeConfig}-data`, edge });
		await untilReady(edgeUrl, startProcess(process.execPath, [launcher, 'start', '--config', edgeConfig]));
		const admin = issuer.accessToken({ scope: 'tollgate/admin', client_id: 'operator' });
		const registered = await fetch(`${adminUrl}/clients`, {
			method: 'POST',
			headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
			body: JSON.stringify({ id: 'partner', name: 'Partner', may_set_attributes: true }),
		});
		expect(registered.status).toBe(201);
		const ask = (claims: Row, headers: Record<string, string> = {}): Promise<number> =>
			requestStatus(edgeUrl, issuer.accessToken({ client_id: 'partner', ...claims }), { headers });
		const claims = { project_id: 'search', 'https://example.com/env': ['production'] };
		expect(await ask(claims)).toBe(200);
		await eventually('the gateway knows the permission', async () =>
			(await ask(claims, { [header]: 'project=mine,user=42' })) === 200 ? true : undefined,
		);
		expect(await ask({ ...claims, client_id: 'other' }, { [header]: 'project=mine' })).toBe(403);
		expect(await ask({ ...claims, client_id: 'other' })).toBe(200);
		expect(await ask({ project_id: 'two words' })).toBe(200);
		const rows = await eventually('usage has all requests', async () => {
			const found = await usage(adminUrl, admin, 'group_by=team,attribute:project,attribute:user');
			return found.reduce((sum, row) => sum + Number(row['requests']), 0) === 4 ? found : undefined;
		});
		expect(rows.map((row) => [row['team'], row['attribute:project'], row['attribute:user'], row['requests']])).toEqual([
			['other', 'search', null, 1],
			['partner', null, null, 1],
			['partner', 'search', '42', 1],
			['partner', 'search', null, 1],
		]);
		expect((await usage(adminUrl, admin, 'group_by=attribute:environment')).map((row) => row['attribute:environment'])).toEqual([null]);
	});
});
