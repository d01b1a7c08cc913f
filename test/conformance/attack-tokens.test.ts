/** Forged, stale and misspelled access tokens over HTTP (Spec: Authentication, 5 to 7). */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
	type AttackToken,
	attackKeys,
	attackMaxLifetimeSeconds,
	attackSkewSeconds,
	attackTokens,
	goodTokens,
} from '../support/attack-tokens.ts';
import { freePort } from '../support/product.ts';
import { TestIssuer } from '../support/test-issuer.ts';
import { allEndpoints, type EndpointUnderTest } from './formats.ts';
import { describeOwn, useSubject } from './subject.ts';

interface TestResponse {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly body: string;
}

const adminPort = await freePort();

/** Operations that read, change and delete a record. */
const adminOperations: readonly (readonly [method: string, path: string])[] = [
	['GET', '/teams'],
	['PUT', '/budgets/attacked'],
	['DELETE', '/clients/attacked'],
];

/** Attacks for tokens of the admin scope. Attacks on the scope's spelling are omitted where their outcome differs for this scope. */
const adminAttacks = [...goodTokens, ...attackTokens].filter(
	({ id, expect: status, needs }) => needs !== 'reject_unregistered' && id !== 'A60' && !(status === 200 && (id === 'A59' || id === 'A61')),
);

describeOwn('guarantees A1 to A64 over HTTP', 'a configuration of its own', () => {
	let issuer: TestIssuer;
	beforeAll(async () => {
		issuer = await TestIssuer.start();
		issuer.published.push(...attackKeys);
	});
	afterAll(() => issuer.stop());

	const subject = useSubject(() => ({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${adminPort}`, max_requests_per_minute: 1_000_000, max_unauthenticated_per_minute: 1_000_000 },
		auth: {
			issuer: issuer.issuer,
			jwks_uri: issuer.jwksUri,
			audience: issuer.audience,
			clock_skew_seconds: attackSkewSeconds,
			max_token_lifetime_seconds: attackMaxLifetimeSeconds,
		},
		teams: { unregistered_clients: 'reject', registered: [{ id: 'attacked', tier: 'enterprise', client_ids: [issuer.clientId] }] },
	}));

	function send({ path, family, question }: EndpointUnderTest, attack: AttackToken): Promise<TestResponse> {
		return sendTo('POST', `${subject.current.baseUrl}${path}`, JSON.stringify(question(`${family}-sim-text`)), attack);
	}

	/** Sends header fields unchanged, including duplicates. */
	async function sendTo(method: string, url: string, body: string, attack: AttackToken): Promise<TestResponse> {
		const accessToken = attack.makeToken(issuer);
		const authorization = attack.authorization === undefined ? `Bearer ${accessToken}` : attack.authorization(accessToken);
		const query = attack.query === undefined ? '' : `?${attack.query(accessToken)}`;
		return new Promise((resolve, reject) => {
			const sent = request(`${url}${query}`, { method, agent: false });
			if (body !== '') {
				sent.setHeader('content-type', 'application/json');
				sent.setHeader('content-length', Buffer.byteLength(body));
			}
			if (authorization !== undefined) sent.setHeader('authorization', authorization);
			sent.once('error', reject);
			sent.once('response', (response) => {
				const pieces: Buffer[] = [];
				response.on('data', (piece: Buffer) => pieces.push(piece));
				response.once('error', reject);
				response.once('end', () =>
					resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces).toString() }),
				);
			});
			sent.end(body);
		});
	}

	describe.each(allEndpoints)('%s', (_path, endpoint) => {
		it.each([...goodTokens, ...attackTokens])('$id $title: $expect', async (attack) => {
			const before = await subject.current.simulator.requestsServed();
			const response = await send(endpoint, attack);
			expect(attack.expectOverHttp ?? [attack.expect]).toContain(response.status);
			expect((await subject.current.simulator.requestsServed()) - before, 'calls of the provider').toBe(response.status === 200 ? 1 : 0);
			if (response.status === 200) return;
			expect(response.headers['x-amzn-waf-action']).toBeUndefined();
			// Only the gateway knows teams, so the response comes from the gateway and not from the edge.
			if (attack.needs === 'reject_unregistered') {
				expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'client_unregistered' } });
			} else expect(response.body).toMatch(/^<!doctype html>/);
			if (response.status === 401) expect(response.headers['www-authenticate']).toMatch(/^Bearer realm=/);
		});
	});

	describe.each(adminOperations)('admin API, %s %s', (method, path) => {
		beforeAll(() => void (issuer.scopeName = 'admin'));
		afterAll(() => void (issuer.scopeName = 'invoke'));

		it.each(adminAttacks)('$id $title: $expect', async (attack) => {
			const body = method === 'PUT' ? '{"limit_usd":"1.00"}' : '';
			const response = await sendTo(method, `http://127.0.0.1:${adminPort}${path}`, body, attack);
			if (attack.expect === 200) {
				// Expects 404 for changes, because the records do not exist.
				expect(response.status).toBe(method === 'GET' ? 200 : 404);
				return;
			}
			expect([attack.expect, ...(attack.expectOverHttp ?? [])]).toContain(response.status);
			if (response.status !== 401 && response.status !== 403) return;
			expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
			expect(response.headers['www-authenticate']).toMatch(/^Bearer realm=/);
			expect(JSON.parse(response.body)).toMatchObject({
				status: response.status,
				code: expect.stringMatching(/^(token|scope)_/) as unknown,
			});
		});
	});

	it('A23, A24: the attacker received no request for keys, and the issuer at most two', () => {
		expect(issuer.attackerRequests).toBe(0);
		expect(issuer.keySetRequests).toBeLessThanOrEqual(2);
	});
});
