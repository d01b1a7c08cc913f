import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, configuredRecords, startAdmin } from '../../../test/support/admin.ts';
import { type AdminDocument, readAdminDocument } from '../../../test/support/admin-document.ts';
import { Rejection } from '../../core/rejection.ts';
import { createTokenAccess } from './access.ts';

let subject: AdminSubject;
let document: AdminDocument;

beforeAll(async () => {
	subject = await startAdmin();
	document = await readAdminDocument(subject.baseUrl);
	await subject.send('POST', '/teams', { id: 'red' });
	await subject.send('POST', '/budgets', { id: 'red', team: 'red', limit_usd: '1' });
	await subject.send('POST', '/clients', { id: 'red', name: 'Red' });
});
afterAll(() => subject.stop());

function filled(path: string): string {
	return path
		.replace('{provider}', 'provider_a')
		.replace('{model}', 'red')
		.replace(/\{\w+\}/g, 'red');
}

const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });

const insufficient = (scope: string) => `Bearer realm="tollgate", error="insufficient_scope", scope="${scope}"`;

const rejections: [title: string, headers: Record<string, string>, status: number, code: string, challenge: string | undefined][] = [
	['no authorization', { authorization: '' }, 401, 'token_missing', 'Bearer realm="tollgate"'],
	['another scheme', { authorization: 'Basic cm9vdDpyb290' }, 401, 'token_missing', 'Bearer realm="tollgate"'],
	['an unknown token', bearer('forged'), 401, 'token_invalid', 'Bearer realm="tollgate", error="invalid_token"'],
	['no scope', bearer('none'), 403, 'scope_missing', undefined],
	['the invoke scope', bearer('agent'), 403, 'scope_missing', undefined],
	['scopes that look alike', bearer('near'), 403, 'scope_missing', undefined],
];

test('every operation of the table is rejected without the admin scope, and nothing changes', async () => {
	const guarded = document.operations.filter(({ isPublic }) => !isPublic);
	expect(guarded.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
		'DELETE /budgets/{id}',
		'DELETE /clients/{id}',
		'DELETE /pricing/{provider}/{model}',
		'DELETE /routing/{id}',
		'DELETE /teams/{id}',
		'GET /audit',
		'GET /budgets',
		'GET /budgets/{id}',
		'GET /clients',
		'GET /clients/{id}',
		'GET /config',
		'GET /explain/{request_id}',
		'GET /guardrails/assessments',
		'GET /pricing',
		'GET /pricing/{provider}/{model}',
		'GET /providers',
		'GET /requests',
		'GET /requests/{request_id}',
		'GET /routing',
		'GET /routing/{id}',
		'GET /teams',
		'GET /teams/{id}',
		'GET /usage',
		'GET /usage/{team}',
		'GET /usage/{team}/history',
		'GET /webhooks',
		'GET /webhooks/deliveries',
		'POST /budgets',
		'POST /clients',
		'POST /clients/{id}/rotate',
		'POST /explain',
		'POST /replay',
		'POST /routing',
		'POST /teams',
		'POST /webhooks/{name}/test',
		'PUT /budgets/{id}',
		'PUT /clients/{id}',
		'PUT /pricing/{provider}/{model}',
		'PUT /routing/{id}',
		'PUT /teams/{id}',
	]);
	const before = await subject.state();
	for (const { method, path, scopes } of guarded) {
		for (const [title, headers, status, code, challenge] of rejections) {
			const response = await subject.send(method, filled(path), method === 'GET' ? undefined : {}, headers);
			const found = [
				response.status,
				response.body['code'],
				response.headers.get('www-authenticate'),
				response.headers.get('content-type'),
			];
			expect(found, `${method} ${path} with ${title}`).toEqual([
				status,
				code,
				challenge ?? insufficient(scopes[0] ?? ''),
				'application/problem+json; charset=utf-8',
			]);
		}
	}
	expect(await subject.state()).toBe(before);
});

test('a rejection names the scope that is missing', async () => {
	const { body } = await subject.send('GET', '/teams', undefined, bearer('agent'));
	expect(body['detail']).toContain('an access token with the scope `tollgate/admin:read`');
	const unknown = await subject.send('GET', '/absent', undefined, bearer('agent'));
	expect(unknown.body['detail']).toContain('an access token with the scope `tollgate/admin`');
});

test('public operations are served without a token, and are the only ones', async () => {
	const open = document.operations.filter(({ isPublic }) => isPublic);
	expect(open.map(({ path }) => path).toSorted()).toEqual(['/', '/docs', '/healthz', '/metrics', '/openapi.json', '/readyz']);
	for (const { method, path } of open) expect((await subject.send(method, path, undefined, { authorization: '' })).status).toBe(200);
});

test('every documented operation is served', async () => {
	for (const { method, path } of document.operations) {
		const response = await subject.send(
			method,
			filled(path).replaceAll('red', 'absent'),
			method === 'GET' || method === 'DELETE' ? undefined : {},
		);
		expect([404, 405].includes(response.status) && response.body['code'] !== 'record_unknown', `${method} ${path}`).toBe(false);
	}
});

test('unauthenticated clients cannot find out which paths exist', async () => {
	for (const [method, path] of [
		['GET', '/absent'],
		['PATCH', '/teams'],
		['OPTIONS', '/teams'],
		['GET', '/teams/'],
	] as const) {
		expect((await subject.send(method, path, undefined, { authorization: '' })).status).toBe(401);
	}
});

test('two authorization headers are rejected, even if both are valid', async () => {
	const { host } = new URL(subject.baseUrl);
	const status = await new Promise<number | undefined>((resolve, reject) => {
		const headers = ['host', host, 'authorization', 'Bearer root', 'authorization', 'Bearer root'];
		const requested = request(`${subject.baseUrl}/teams`, { headers }, (response) => {
			response.resume();
			resolve(response.statusCode);
		});
		requested.on('error', reject).end();
	});
	expect(status).toBe(401);
});

describe('an operator of the embedded issuer', () => {
	const own = { embeddedIssuer: 'https://issuer.example' };
	const codeOf = async ({ send }: AdminSubject, method: string, path: string, body?: object) => {
		const response = await send(method, path, body, bearer('other'));
		return response.status < 400 ? response.status : [response.status, response.body['code'], response.headers.get('www-authenticate')];
	};
	const invalid = [401, 'token_invalid', 'Bearer realm="tollgate", error="invalid_token"'];
	let owned: AdminSubject;

	beforeEach(async () => {
		owned = await startAdmin(own);
		const times = { createdAtMs: 0, updatedAtMs: 0 };
		for (const id of ['root', 'other']) {
			await owned.records.clients.create({
				id,
				name: id,
				secrets: [],
				scopes: ['invoke', 'admin'],
				isDisabled: false,
				canSetAttributes: false,
				...times,
			});
		}
	});
	afterEach(() => owned.stop());

	test('is rejected from the next request on once disabled, although its token is valid, and accepted again once enabled', async () => {
		expect(await codeOf(owned, 'GET', '/clients')).toBe(200);
		await owned.send('PUT', '/clients/other', { disabled: true });
		expect(await codeOf(owned, 'GET', '/clients')).toEqual(invalid);
		await owned.send('PUT', '/clients/other', { disabled: false });
		expect(await codeOf(owned, 'GET', '/clients')).toBe(200);
	});

	test('cannot create a client of its own once deleted', async () => {
		await owned.send('DELETE', '/clients/other');
		expect(await codeOf(owned, 'POST', '/clients', { id: 'door', name: 'Door', scopes: ['admin'] })).toEqual(invalid);
		expect(await owned.records.clients.get('door')).toBeUndefined();
	});

	test('is 403 once the scope is removed', async () => {
		await owned.send('PUT', '/clients/other', { scopes: ['invoke'] });
		expect(await codeOf(owned, 'GET', '/clients')).toEqual([403, 'scope_missing', insufficient('tollgate/admin:read')]);
	});

	test('is accepted if the configuration has it, whatever the records contain, while it has the scope there', async () => {
		let configClients = [
			{ id: 'other', name: 'Other', scopes: ['admin' as const], canSetAttributes: false },
			{ id: 'root', name: 'Root', scopes: ['invoke' as const], canSetAttributes: false },
		];
		const pinned = await startAdmin(own, { configured: () => ({ ...configuredRecords, configClients }) });
		try {
			expect(await codeOf(pinned, 'GET', '/clients')).toBe(200);
			expect((await pinned.send('GET', '/clients')).status).toBe(403);
			configClients = [];
			expect(await codeOf(pinned, 'GET', '/clients')).toEqual(invalid);
		} finally {
			await pinned.stop();
		}
	});
});

describe('while tokens cannot be verified', () => {
	test('it is 503 with retry-after', async () => {
		const response = await subject.send('GET', '/teams', undefined, bearer('unjudged'));
		expect([response.status, response.body['code'], response.headers.get('retry-after')]).toEqual([503, 'key_set_unavailable', '1']);
	});
});

test('a client that sends too many requests is 429 until the minute is over; others are not', async () => {
	const throttled = await startAdmin({ maxRequestsPerMinute: 3 });
	try {
		const statuses = async (accessToken: string) => {
			const responses = [];
			for (let index = 0; index < 4; index++) responses.push(await throttled.send('GET', '/teams', undefined, bearer(accessToken)));
			return responses;
		};
		const responses = await statuses('root');
		expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
		expect([responses[3]?.body['code'], responses[3]?.headers.get('retry-after')]).toEqual(['admin_rate_exceeded', '55']);
		expect((await throttled.send('GET', '/teams', undefined, bearer('other'))).status).toBe(200);
		throttled.clock.advance(55_000);
		expect((await throttled.send('GET', '/teams')).status).toBe(200);
	} finally {
		await throttled.stop();
	}
});

describe('requests without a valid token', () => {
	const addressOf = (address: string) => ({ 'x-forwarded-for': address });

	test('are 429 from an address that sends too many, until the minute is over; other addresses and valid tokens are not', async () => {
		const throttled = await startAdmin({ maxUnauthenticatedPerMinute: 3, trustedProxies: ['127.0.0.1'] });
		try {
			const ask = (path: string, headers: Record<string, string>) => throttled.send('GET', path, undefined, headers);
			const bad = { ...bearer('forged'), ...addressOf('192.0.2.1') };
			const statuses = [];
			for (const path of ['/teams', '/openapi.json', '/absent', '/teams', '/docs', '/budgets']) {
				statuses.push((await ask(path, bad)).status);
			}
			expect(statuses).toEqual([401, 200, 401, 429, 429, 429]);
			const rejected = await ask('/teams', bad);
			expect([rejected.body['code'], rejected.headers.get('retry-after')]).toEqual(['admin_rate_exceeded', '55']);
			expect((await ask('/teams', { ...bearer('agent'), ...addressOf('192.0.2.1') })).status).toBe(429);
			expect((await ask('/teams', { ...bearer('root'), ...addressOf('192.0.2.1') })).status).toBe(200);
			expect((await ask('/healthz', addressOf('192.0.2.1'))).status).toBe(200);
			expect((await ask('/teams', { ...bearer('forged'), ...addressOf('192.0.2.2') })).status).toBe(401);
			throttled.clock.advance(55_000);
			expect((await ask('/teams', bad)).status).toBe(401);
		} finally {
			await throttled.stop();
		}
	});

	test('are counted by the network of an IPv6 address, and in bounded memory', async () => {
		const access = createTokenAccess(
			{ scopeBase: 'tollgate', embeddedIssuer: '', maxRequestsPerMinute: 1, maxUnauthenticatedPerMinute: 1, trustedProxies: [] },
			{
				verifier: { verify: () => Promise.reject(new Rejection('token_invalid')) },
				clock: subject.clock,
				records: subject.records,
				configured: () => configuredRecords,
			},
		);
		const ask = (peerAddress: string) =>
			access
				.identify({ peerAddress, headers: {}, authorizations: ['Bearer x'] }, undefined)
				.catch((cause: unknown) => (cause as Rejection).code);
		expect([await ask('2001:db8::1'), await ask('2001:db8::ffff:2'), await ask('2001:db8:0:1::1')]).toEqual([
			'token_invalid',
			'admin_rate_exceeded',
			'token_invalid',
		]);
		for (let index = 0; index < 10_000; index++) await ask(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);
		expect(await ask('2001:db8::1'), 'forgotten, as the longest known').toBe('token_invalid');
	});
});

test('limits that change with the configuration apply immediately', async () => {
	const settings = { maxRequestsPerMinute: 1 };
	const following = await startAdmin({
		get maxRequestsPerMinute() {
			return settings.maxRequestsPerMinute;
		},
	});
	try {
		expect((await following.send('GET', '/teams')).status).toBe(200);
		expect((await following.send('GET', '/teams')).status).toBe(429);
		settings.maxRequestsPerMinute = 2;
		expect((await following.send('GET', '/teams')).status).toBe(200);
	} finally {
		await following.stop();
	}
});
