/** Runs sqlmap at level 2 against every text of a client that reaches a store. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { startDeployment, statusOf } from '../support/deployment.ts';
import { temporaryDirectory } from '../support/processes.ts';
import { freePort } from '../support/product.ts';
import { type PostgresDatabase, sharePostgres } from '../support/shared-stores.ts';
import { offerProgram } from '../support/system-programs.ts';
import { TestIssuer } from '../support/test-issuer.ts';

const sqlmap = offerProgram('sqlmap');

/** Sends a request that contains the text. */
type Request = (text: string) => Promise<Response>;

interface Verdict {
	readonly isInjectable: boolean;
	readonly requests: number;
	readonly statuses: ReadonlySet<number>;
	readonly report: string;
}

/** Attacks one position. For sqlmap each position is a query parameter, with the response as its page. */
async function attack(ask: Request): Promise<Verdict> {
	const statuses = new Set<number>();
	let requests = 0;
	const front = createServer((request, response) => {
		requests++;
		const text = new URL(request.url ?? '', 'http://front').searchParams.get('text') ?? '';
		void responseTo(ask, text).then(({ status, body }) => {
			statuses.add(status);
			// The status is part of the page, because sqlmap stops at some statuses. Request ids are removed, because sqlmap would take them for
			// an effect.
			response.end(`${status}\n${body.replaceAll(/req_[0-9a-f]+/g, 'req')}`);
		});
	});
	await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		front.closeAllConnections();
		front.close();
	});
	const folder = temporaryDirectory();
	const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/?text=red`;
	const effort = ['--level', '2', '--risk', '1', '--threads', '1', '--timeout', '30', '--time-sec', '3'];
	const options = ['--batch', '--flush-session', '--skip-waf', '--disable-coloring', '--output-dir', folder, ...effort];
	const { stdout } = await promisify(execFile)(sqlmap ?? '', ['-u', url, '-p', 'text', ...options], {
		env: { PATH: process.env['PATH'], HOME: folder },
		maxBuffer: 16 * 1024 * 1024,
	});
	const isInjectable = stdout.includes('identified the following injection point');
	expect(isInjectable || stdout.includes('all tested parameters do not appear to be injectable'), `sqlmap came to an end: ${stdout}`).toBe(
		true,
	);
	return { isInjectable, requests, statuses, report: stdout };
}

/** Returns status 0 for texts that no HTTP client can send. */
async function responseTo(ask: Request, text: string): Promise<{ status: number; body: string }> {
	try {
		const response = await ask(text);
		return { status: response.status, body: await response.text() };
	} catch (cause) {
		if (!(cause instanceof TypeError) || cause.cause !== undefined) return { status: 599, body: String(cause) };
		return { status: 0, body: '' };
	}
}

let postgres: PostgresDatabase;
beforeAll(async () => {
	postgres = await sharePostgres();
}, 30_000);
afterAll(() => postgres.stop());

const perMinute = 1_000_000;

/** Starts a temporary target: admin API, token endpoint and gateway, without the edge's firewall. */
async function startTarget(records: string) {
	const issuer = await TestIssuer.start();
	onTestFinished(() => issuer.stop());
	const adminUrl = `http://127.0.0.1:${await freePort()}`;
	const product = await startDeployment({
		roles: ['gateway', 'identity', 'simulator', 'admin'],
		enable_admin_api: true,
		auth: { issuer: issuer.issuer, jwks_uri: issuer.jwksUri, key_set: { cool_down_seconds: 1 } },
		admin: {
			listen: adminUrl.replace('http://', ''),
			max_requests_per_minute: perMinute,
			max_unauthenticated_per_minute: perMinute,
		},
		identity: { max_attempts_per_minute: perMinute },
		stores: { records },
		teams: { unregistered_clients: 'reject' },
	});
	const adminToken = issuer.accessToken({ scope: 'tollgate/admin' });
	const admin = (path: string, init: RequestInit = {}): Promise<Response> =>
		fetch(`${adminUrl}${path}`, { ...init, headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' } });
	const create = async (path: string, record: object): Promise<void> => {
		expect((await admin(path, { method: 'POST', body: JSON.stringify(record) })).status).toBe(201);
	};
	await create('/teams', { id: 'red', name: 'Red', tier: 'standard', client_ids: ['red'] });
	await create('/clients', { id: 'red', name: 'Red', scopes: ['invoke'] });
	const call = (accessToken: string, model = 'gpt-4o-mini'): Promise<Response> =>
		fetch(`${product.gatewayUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
			body: JSON.stringify({ model, max_tokens: 20, messages: [{ role: 'user', content: 'Say hello.' }] }),
		});
	const path = (prefix: string) => (text: string) => admin(`${prefix}${encodeURIComponent(text)}`);
	const places: Record<string, Request> = {
		'client_id of the token endpoint': (text) =>
			fetch(`${product.identityUrl}/oauth2/token`, {
				method: 'POST',
				body: new URLSearchParams({ grant_type: 'client_credentials', client_id: text, client_secret: 'no secret of it' }),
			}),
		'Authorization of a call': (text) => call(text),
		'kid of an access token': (text) => call(issuer.accessToken({}, { kid: text })),
		'client_id of an access token': (text) => call(issuer.accessToken({ client_id: text, sub: text })),
		'/teams/{id}': path('/teams/'),
		'/clients/{id}': path('/clients/'),
		'/usage/{team}': path('/usage/'),
		'/pricing/{provider}/{model}': path('/pricing/provider_b/'),
		'/requests?team=': path('/requests?team='),
		'/audit?key=': path('/audit?kind=team&key='),
	};
	return { product, adminUrl, places };
}

describe.skipIf(sqlmap === undefined)('sqlmap', () => {
	test('finds what is planted', async () => {
		const database = new DatabaseSync(':memory:');
		onTestFinished(() => database.close());
		database.exec("CREATE TABLE teams (id TEXT, name TEXT); INSERT INTO teams VALUES ('red', 'Red'), ('blue', 'Blue')");
		const { isInjectable, requests, statuses } = await attack(async (text) => {
			try {
				return Response.json(database.prepare(`SELECT name FROM teams WHERE id = '${text}'`).all());
			} catch {
				return new Response('', { status: 500 });
			}
		});
		print(`planted: found with ${requests} requests`);
		expect([isInjectable, statuses]).toEqual([true, new Set([200, 500])]);
	});

	test.each(['sqlite', 'postgres'])('finds nothing in the product, with records in %s', async (kind) => {
		const beganMs = performance.now();
		const { product, adminUrl, places } = await startTarget(kind === 'sqlite' ? 'sqlite' : await postgres.createDatabase());
		let total = 0;
		for (const [place, ask] of Object.entries(places)) {
			expect((await ask('red')).status, `${place} of what is there`).toBeLessThan(500);
			const { isInjectable, requests, statuses, report } = await attack(ask);
			print(`${kind}, ${place}: ${requests} requests, statuses ${[...statuses].join(' ')}`);
			total += requests;
			expect(isInjectable, `${place}: ${report}`).toBe(false);
			expect(Math.max(...statuses), `${place}: ${[...statuses].join(' ')}`).toBeLessThan(500);
			expect(requests).toBeGreaterThan(100);
		}
		print(
			`${kind}: nothing in ${Object.keys(places).length} places with ${total} requests, ${((performance.now() - beganMs) / 1000).toFixed(0)} s`,
		);
		expect([product.child.exitCode, await statusOf(`${product.gatewayUrl}/readyz`), await statusOf(`${adminUrl}/openapi.json`)]).toEqual([
			null,
			200,
			200,
		]);
		expect(product.log.filter((line) => line['level'] === 'error')).toEqual([]);
	});
});
