/** Every operation against every role, and the ways in which a role could get more than it has. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, adminStartMs, configuredRecords, startAdmin } from '../../../test/support/admin.ts';
import { type AdminDocument, type AdminResponse, readAdminDocument } from '../../../test/support/admin-document.ts';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
import type { RecordedRequest } from '../../stores/contracts/request-records.ts';

const bearer = (...names: readonly string[]) => ({ authorization: `Bearer as~${names.join('+')}` });

const roles = ['invoke', 'admin', 'admin:read', 'admin:write', 'admin:secrets', 'admin:team:red'] as const;

type Role = (typeof roles)[number];

const readers: readonly Role[] = ['admin', 'admin:read', 'admin:write'];
const readersAndTeams: readonly Role[] = [...readers, 'admin:team:red'];
const writers: readonly Role[] = ['admin', 'admin:write'];
const writersAndTeams: readonly Role[] = [...writers, 'admin:team:red'];
const keepers: readonly Role[] = ['admin', 'admin:secrets', 'admin:team:red'];

/** Roles that may run each operation on team `red`. An operation that is missing here fails the test. */
const permitted: Readonly<Record<string, readonly Role[]>> = {
	'GET /teams': readersAndTeams,
	'GET /teams/{id}': readersAndTeams,
	'POST /teams': writers,
	'PUT /teams/{id}': writersAndTeams,
	'DELETE /teams/{id}': writers,
	'GET /clients': readersAndTeams,
	'GET /clients/{id}': readersAndTeams,
	'POST /clients': keepers,
	'POST /clients/{id}/rotate': keepers,
	'PUT /clients/{id}': writersAndTeams,
	'DELETE /clients/{id}': writersAndTeams,
	'GET /budgets': readersAndTeams,
	'GET /budgets/{id}': readersAndTeams,
	'POST /budgets': writers,
	'PUT /budgets/{id}': writers,
	'DELETE /budgets/{id}': writers,
	'GET /pricing': readersAndTeams,
	'GET /pricing/{provider}/{model}': readersAndTeams,
	'PUT /pricing/{provider}/{model}': writers,
	'DELETE /pricing/{provider}/{model}': writers,
	'GET /routing': readers,
	'GET /routing/{id}': readers,
	'POST /routing': writers,
	'PUT /routing/{id}': writers,
	'DELETE /routing/{id}': writers,
	'GET /usage': readersAndTeams,
	'GET /usage/{team}': readersAndTeams,
	'GET /usage/{team}/history': readersAndTeams,
	'GET /requests': readersAndTeams,
	'GET /requests/{request_id}': readersAndTeams,
	'GET /guardrails/assessments': readersAndTeams,
	'POST /explain': readersAndTeams,
	'POST /replay': readers,
	'GET /explain/{request_id}': readersAndTeams,
	'GET /audit': readers,
	'GET /providers': readers,
	'GET /config': readers,
	'GET /metrics': readers,
	'GET /webhooks': readers,
	'GET /webhooks/deliveries': readers,
	'POST /webhooks/{name}/test': writers,
};

/** Valid bodies, so that only the role decides. */
const bodies: Readonly<Record<string, (id: string) => object>> = {
	'POST /teams': () => ({ id: 'fresh-team' }),
	'PUT /teams/{id}': () => ({ name: 'Changed' }),
	'POST /clients': () => ({ id: 'fresh', name: 'Fresh' }),
	'PUT /clients/{id}': () => ({ name: 'Changed' }),
	'POST /clients/{id}/rotate': () => ({}),
	'POST /budgets': (id) => ({ team: id, model: 'fresh', limit_usd: '1' }),
	'PUT /budgets/{id}': () => ({ limit_usd: '999999' }),
	'POST /routing': () => ({ id: 'fresh', name: 'Fresh', targets: [{ provider: 'local' }] }),
	'PUT /routing/{id}': () => ({ name: 'Changed' }),
	'PUT /pricing/{provider}/{model}': () => ({ input_usd_per_million_tokens: '1', output_usd_per_million_tokens: '2' }),
	'POST /replay': () => ({ config_patch: {}, from: '2026-11-01', to: '2026-11-02' }),
	'POST /explain': (id) => ({ client_id: `${id}-client`, format: 'chat', body: { model: 'gpt-4o-mini', messages: [] } }),
};

function requestOf(team: string): RecordedRequest {
	const changes = { team, clientId: `${team}-client`, modelRequested: `${team}-model`, model: `${team}-model` };
	return recordedRequest(adminStartMs, team === 'red' ? 1 : 2, changes);
}

/** Fills the path with records of the team. */
function filled(path: string, team: string): string {
	const id = path.startsWith('/clients') ? `${team}-client` : path.startsWith('/budgets') ? `${team}-budget` : team;
	return path
		.replace('{provider}', 'provider_b')
		.replace('{model}', 'gpt-4o-mini')
		.replace('{team}', team)
		.replace('{name}', 'red')
		.replace('{request_id}', requestOf(team).id)
		.replace('{id}', path.startsWith('/routing') ? 'rule' : id);
}

async function fill({ send, book, ledger, clock, records, requestRecords }: AdminSubject): Promise<void> {
	for (const id of ['red', 'blue']) {
		const times = { createdAtMs: 0, updatedAtMs: 0 };
		await records.clients.create({
			id: `${id}-client`,
			name: `Client of ${id}`,
			secrets: [],
			scopes: ['invoke'],
			isDisabled: false,
			canSetAttributes: false,
			...times,
		});
		await send('POST', '/teams', { id, name: `Team ${id}`, client_ids: [`${id}-client`], metadata: { secret: `${id}-metadata` } });
		await send('POST', '/budgets', { id: `${id}-budget`, team: id, limit_usd: '5' });
		await book({ id: requestOf(id).id, team: id, clientId: `${id}-client`, model: `${id}-model`, costNanoUsd: 5n });
		const found = { policy: 'words', category: 'word', action: 'BLOCK', outcome: 'matched', count: 1, stage: 'input' } as const;
		requestRecords.add(requestOf(id));
		ledger.assess([{ ...found, atMs: clock.nowMs(), requestId: requestOf(id).id, team: id }]);
	}
	await send('POST', '/routing', { id: 'rule', name: 'Rule', match: { team: 'blue' }, targets: [{ provider: 'local' }] });
	await send('PUT', '/pricing/provider_b/gpt-4o-mini', { input_usd_per_million_tokens: '1', output_usd_per_million_tokens: '2' });
}

async function started(): Promise<AdminSubject> {
	const subject = await startAdmin({ hasOpenMetrics: false });
	await fill(subject);
	return subject;
}

let document: AdminDocument;
let guarded: { readonly name: string; readonly method: string; readonly path: string; readonly scopes: readonly string[] }[];

beforeAll(async () => {
	const subject = await startAdmin({ hasOpenMetrics: false });
	document = await readAdminDocument(subject.baseUrl);
	guarded = document.operations
		.filter(({ isPublic }) => !isPublic)
		.map(({ method, path, scopes }) => ({ name: `${method} ${path}`, method, path, scopes }));
	await subject.stop();
});

function ask(subject: AdminSubject, name: string, team: string, names: readonly string[]): Promise<AdminResponse> {
	const [method = '', path = ''] = name.split(' ');
	return subject.send(method, filled(path, team), bodies[name]?.(team), bearer(...names));
}

const missingScope = /^Bearer realm="tollgate", error="insufficient_scope", scope="tollgate\/(\S+)"$/;

describe('the matrix', () => {
	test('has every operation', () => {
		expect(guarded.map(({ name }) => name).toSorted()).toEqual(Object.keys(permitted).toSorted());
	});

	test.each(Object.entries(permitted))('%s is permitted to %j and to no other role', async (name, allowed) => {
		const { scopes } = guarded.find((one) => one.name === name) ?? { scopes: [] };
		expect(scopes.map((scope) => scope.replace('{team}', 'red')).toSorted()).toEqual(allowed.map((role) => `tollgate/${role}`).toSorted());
		let subject = await started();
		for (const role of roles) {
			const before = await subject.state();
			const response = await ask(subject, name, 'red', [role]);
			if (allowed.includes(role)) {
				expect([200, 201, 204], `${name} as ${role}: ${response.text}`).toContain(response.status);
				if (name.startsWith('GET')) continue;
				await subject.stop();
				subject = await started();
			} else {
				const [, missing = ''] = missingScope.exec(response.headers.get('www-authenticate') ?? '') ?? [];
				expect([response.status, response.body['code']], `${name} as ${role}: ${response.text}`).toEqual([403, 'scope_missing']);
				expect(response.body['detail'], `${name} as ${role}: ${response.text}`).toContain(`\`tollgate/${missing}\``);
				expect(allowed, `${name} as ${role}: ${response.text}`).toContain(missing);
				expect(await subject.state(), `${name} as ${role}: ${response.text}`).toBe(before);
			}
		}
		await subject.stop();
	});

	test('HEAD needs what GET needs, and other methods reveal no paths', async () => {
		const subject = await started();
		const statusOf = async (method: string, path: string, role: string) =>
			(await subject.send(method, path, undefined, bearer(role))).status;
		expect(await statusOf('HEAD', '/config', 'admin:read')).toBe(200);
		expect(await statusOf('HEAD', '/config', 'admin:secrets')).toBe(403);
		expect(await statusOf('HEAD', '/teams/blue', 'admin:team:red')).toBe(404);
		expect([await statusOf('PATCH', '/teams', 'admin:team:red'), await statusOf('PATCH', '/teams', 'invoke')]).toEqual([405, 403]);
		await subject.stop();
	});

	test('scopes add up: none limits another', async () => {
		const subject = await started();
		for (const { name } of guarded.filter(({ method }) => method === 'GET')) {
			const [one, other] = [
				await ask(subject, name, 'blue', ['admin:read']),
				await ask(subject, name, 'blue', ['admin:read', 'admin:team:red']),
			];
			expect([name, other.status, other.text]).toEqual([name, one.status, one.text]);
		}
		expect((await ask(subject, 'PUT /budgets/{id}', 'red', ['admin:team:red', 'admin:write'])).status).toBe(200);
		await subject.stop();
	});
});

describe('an administrator of team red', () => {
	const red = ['admin:team:red'];
	let subject: AdminSubject;

	beforeEach(async () => {
		subject = await started();
	});
	afterEach(() => subject.stop());

	test('finds nothing of team blue in any operation, and changes nothing of it', async () => {
		const before = await subject.state();
		const absent = await startAdmin({ hasOpenMetrics: false });
		let tried = 0;
		for (const { name, method, path } of guarded) {
			const response = await ask(subject, name, 'blue', red);
			tried++;
			if (name === 'POST /clients') {
				expect([response.status, response.body['team']], `${name}: ${response.text}`).toEqual([201, 'red']);
				await subject.records.clients.delete('fresh');
				continue;
			}
			expect([200, 403, 404], `${name}: ${response.text}`).toContain(response.status);
			// Prices are shared, and lists have only records of the own team.
			if (response.status === 200) {
				expect([method, path.endsWith('}') && !path.startsWith('/pricing')], `${name}: ${response.text}`).toEqual(['GET', false]);
			}
			if (response.status !== 404) {
				expect(response.text, `${name}: ${response.text}`).not.toMatch(/blue-(?:client|budget|request|model|metadata)|Team blue/);
				continue;
			}
			if (name === 'POST /explain') continue;
			// Exactly the response for a record that does not exist.
			const other = await ask(absent, name, 'blue', ['admin']);
			const { request_id: _one, ...found } = response.body;
			const { request_id: _other, ...unknown } = other.body;
			expect(found, `${name}: ${response.text}`).toEqual(unknown);
		}
		expect(tried).toBe(Object.keys(permitted).length);
		expect(stateWithoutAudit(await subject.state())).toBe(stateWithoutAudit(before));
		await absent.stop();
	});

	test.each([
		'/teams?client_id=blue-client',
		'/budgets?team=blue',
		'/clients?limit=1000',
		'/teams?limit=1000',
		'/requests?limit=1000',
		'/requests?client=blue-client',
		'/requests?model=blue-model',
		`/guardrails/assessments?request_id=${requestOf('blue').id}`,
		'/usage?group_by=client',
		'/usage?group_by=model',
		'/usage?group_by=team',
		'/usage?group_by=day',
	])('finds nothing of team blue with %s', async (path) => {
		for (const accept of ['application/json', 'text/csv']) {
			const response = await subject.send('GET', path, undefined, { ...bearer(...red), accept });
			expect(response.status).toBe(200);
			expect(response.text).not.toContain('blue');
		}
	});

	test.each(['/requests?team=blue', '/guardrails/assessments?team=blue', '/usage?team=blue'])(
		'gets 404 for %s, as for a team that does not exist',
		async (path) => {
			const response = await subject.send('GET', path, undefined, bearer(...red));
			expect([response.status, response.body['detail']]).toEqual([404, 'Team `blue` does not exist']);
		},
	);

	test('finds what is of team red', async () => {
		for (const path of ['/teams', '/budgets', '/clients', '/requests', '/guardrails/assessments', '/usage']) {
			const { body } = await subject.send('GET', path, undefined, bearer(...red));
			expect([path, (body['data'] as unknown[]).length]).toEqual([path, 1]);
			expect(JSON.stringify(body)).toContain('red');
		}
	});

	test('cannot let a client set attributes', async () => {
		for (const [method, path, body] of [
			['POST', '/clients', { id: 'door', name: 'Door', may_set_attributes: true }],
			['PUT', '/clients/red-client', { may_set_attributes: true }],
		] as const) {
			const response = await subject.send(method, path, body, bearer(...red));
			expect([response.status, response.body['detail']]).toEqual([403, expect.stringContaining('`tollgate/admin:write`')]);
		}
	});

	test.each([
		[{ tier: 'enterprise' }],
		[{ limits: { rpm: 1_000_000 } }],
		[{ limits: null }],
		[{ client_ids: ['red-client', 'blue-client'] }],
		[{ client_ids: ['unregistered'] }],
		[{ client_ids: [] }],
		[{ name: 'Fine', tier: 'sandbox' }],
	])('cannot change its limits or members with %j', async (body) => {
		const before = await subject.state();
		const response = await subject.send('PUT', '/teams/red', body, bearer(...red));
		expect([response.status, response.body['code']]).toEqual([403, 'scope_missing']);
		expect(response.body['detail']).toContain('`tollgate/admin:write`');
		expect(await subject.state()).toBe(before);
	});

	test('changes the name and the metadata of its team', async () => {
		const response = await subject.send('PUT', '/teams/red', { name: 'Crimson', metadata: { a: 'b' } }, bearer(...red));
		expect([response.status, response.body['name'], response.body['tier']]).toEqual([200, 'Crimson', 'sandbox']);
	});

	test('creates, rotates, disables and deletes clients of its team', async () => {
		const made = await subject.send('POST', '/clients', { id: 'bot', name: 'Bot' }, bearer(...red));
		expect([made.status, made.body['team'], made.body['scopes']]).toEqual([201, 'red', ['invoke']]);
		expect((await subject.records.teams.get('red'))?.clientIds).toEqual(['red-client', 'bot']);
		expect((await subject.send('POST', '/clients/bot/rotate', {}, bearer(...red))).status).toBe(200);
		expect((await subject.send('PUT', '/clients/bot', { disabled: true }, bearer(...red))).status).toBe(200);
		expect((await subject.send('DELETE', '/clients/bot', undefined, bearer(...red))).status).toBe(204);
		expect((await subject.records.teams.get('red'))?.clientIds).toEqual(['red-client']);
	});

	test.each(['admin', 'admin:read', 'admin:write', 'admin:secrets', 'admin:team:blue', 'admin:team:red'])(
		'cannot give a client the scope %s',
		async (scope) => {
			const before = await subject.state();
			for (const [method, path, body] of [
				['POST', '/clients', { id: 'door', name: 'Door', scopes: [scope] }],
				['PUT', '/clients/red-client', { scopes: ['invoke', scope] }],
			] as const) {
				const response = await subject.send(method, path, body, bearer(...red));
				expect([response.status, response.body['code']]).toEqual([403, 'scope_missing']);
			}
			expect(await subject.state()).toBe(before);
		},
	);

	test('cannot create a client in another team, outside of teams, or with an id that another team lists', async () => {
		await subject.send('PUT', '/teams/blue', { client_ids: ['blue-client', 'blue-reserved'] });
		for (const [body, status] of [
			[{ id: 'door', name: 'Door', team: 'blue' }, 404],
			[{ id: 'door', name: 'Door', team: 'absent' }, 404],
			[{ id: 'blue-reserved', name: 'Door' }, 409],
			[{ id: 'blue-client', name: 'Door' }, 409],
		] as const) {
			expect((await subject.send('POST', '/clients', body, bearer(...red))).status).toBe(status);
		}
		expect((await subject.send('POST', '/clients', { id: 'in', name: 'In', team: null }, bearer(...red))).body['team']).toBe('red');
	});

	test('cannot use a client of the team that has a scope of administrators', async () => {
		await subject.send('PUT', '/clients/red-client', { scopes: ['invoke', 'admin:read'] });
		for (const [method, path, body] of [
			['POST', '/clients/red-client/rotate', {}],
			['PUT', '/clients/red-client', { name: 'x' }],
			['DELETE', '/clients/red-client', undefined],
		] as const) {
			const response = await subject.send(method, path, body, bearer(...red));
			expect([response.status, response.body['detail']]).toEqual([403, expect.stringContaining('`tollgate/admin:read`')]);
		}
	});

	test('loses a client that is removed from the team', async () => {
		await subject.send('PUT', '/teams/red', { client_ids: [] });
		expect((await subject.send('POST', '/clients/red-client/rotate', {}, bearer(...red))).status).toBe(404);
	});

	test('sees no models in use by other teams', async () => {
		const response = await subject.send('GET', '/pricing?unpriced=true', undefined, bearer(...red));
		expect(response.status).toBe(403);
	});

	test.each([
		[{ client_id: 'blue-client' }, 404],
		[{ team: 'blue' }, 404],
		[{ client_id: 'unregistered' }, 404],
		[{ access_token: 'as~invoke' }, 404],
		[{ client_id: 'red-client' }, 200],
		[{ team: 'red' }, 200],
	])('gets an explanation of %j: %d', async (sender, status) => {
		const response = await subject.send(
			'POST',
			'/explain',
			{ ...sender, format: 'chat', body: { model: 'gpt-4o-mini', messages: [] } },
			bearer(...red),
		);
		expect([response.status, response.text.includes('as~invoke')]).toEqual([status, false]);
	});

	test('of two teams reads lists of records of both, and names the team for the others', async () => {
		const both = [...red, 'admin:team:blue'];
		expect((await subject.send('GET', '/clients', undefined, bearer(...both))).body['data']).toHaveLength(2);
		const unnamed = await subject.send('GET', '/requests', undefined, bearer(...both));
		expect([unnamed.status, unnamed.body['errors']]).toMatchObject([422, [{ path: 'team' }]]);
		expect((await subject.send('GET', '/requests?team=blue', undefined, bearer(...both))).text).toContain(requestOf('blue').id);
		expect((await subject.send('POST', '/clients', { name: 'x' }, bearer(...both))).status).toBe(422);
	});

	test('gets no stored response to a request that a token for another team sent', async () => {
		const key = { 'idempotency-key': 'same' };
		const body = { id: 'once', name: 'Once' };
		// The client is the access token here, so both requests need the same one: the subject's client ids are its tokens.
		const made = await subject.send('POST', '/clients', body, { ...bearer(...red), ...key });
		expect(made.status).toBe(201);
		await subject.send('PUT', '/teams/red', { client_ids: [] });
		const again = await subject.send('POST', '/clients/once/rotate', {}, { ...bearer(...red), ...key });
		expect(again.status).toBe(404);
	});

	test('of a team in the configuration cannot add clients, which only the configuration has', async () => {
		const response = await subject.send('POST', '/clients', { name: 'x' }, bearer('admin:team:pinned'));
		expect([response.status, response.body['code']]).toEqual([409, 'record_read_only']);
		expect(await subject.records.clients.list()).toHaveLength(2);
		const own = await subject.send('GET', '/clients', undefined, bearer('admin:team:pinned'));
		expect(own.body['data']).toMatchObject([{ id: 'pinned-client', team: 'pinned' }]);
	});
});

describe('privileges', () => {
	let subject: AdminSubject;

	beforeAll(async () => {
		subject = await started();
		for (const [id, scopes] of [
			['of-admin', ['admin']],
			['of-reader', ['invoke', 'admin:read']],
			['of-team', ['admin:team:blue']],
		] as const) {
			await subject.send('POST', '/clients', { id, name: id, scopes });
		}
	});
	afterAll(() => subject.stop());

	const all = ['admin', 'admin:read', 'admin:write', 'admin:secrets', 'admin:team:blue'];

	test.each([
		[['admin'], all],
		[['admin:secrets'], ['admin:secrets']],
		[
			['admin:read', 'admin:secrets'],
			['admin:read', 'admin:secrets'],
		],
		[
			['admin:write', 'admin:secrets'],
			['admin:read', 'admin:write', 'admin:secrets', 'admin:team:blue'],
		],
	])('as %j, only the scopes %j can be granted', async (names, grantable) => {
		for (const scope of all) {
			const before = await subject.state();
			const response = await subject.send('POST', '/clients', { name: 'New', scopes: ['invoke', scope] }, bearer(...names));
			expect([scope, response.status]).toEqual([scope, grantable.includes(scope) ? 201 : 403]);
			if (response.status === 403) expect(response.body['detail']).toContain(`\`tollgate/${scope}\``);
			if (response.status === 403) expect(await subject.state()).toBe(before);
		}
	});

	test('a holder of admin:write cannot give itself or another client more', async () => {
		for (const scope of ['admin', 'admin:secrets', 'admin:team:blue']) {
			const response = await subject.send('PUT', '/clients/red-client', { scopes: [scope] }, bearer('admin:write'));
			expect([response.status, response.body['detail']]).toEqual([403, expect.stringContaining(`\`tollgate/${scope}\``)]);
		}
		expect(
			(await subject.send('PUT', '/clients/red-client', { scopes: ['admin:read', 'admin:write'] }, bearer('admin:write'))).status,
		).toBe(200);
		await subject.send('PUT', '/clients/red-client', { scopes: ['invoke'] });
	});

	test.each([
		['rotate', 'of-admin', ['admin:secrets'], 'admin'],
		['rotate', 'of-admin', ['admin:write', 'admin:secrets'], 'admin'],
		['rotate', 'of-reader', ['admin:secrets'], 'admin:read'],
		['rotate', 'of-team', ['admin:secrets'], 'admin:team:blue'],
		['change', 'of-admin', ['admin:write'], 'admin'],
		['change', 'of-team', ['admin:write'], 'admin:team:blue'],
		['delete', 'of-admin', ['admin:write'], 'admin'],
	])('to %s %s, %j is not enough: %s is missing', async (what, id, names, missing) => {
		const before = await subject.state();
		const [method, path, body] = {
			rotate: ['POST', `/clients/${id}/rotate`, {}] as const,
			change: ['PUT', `/clients/${id}`, { disabled: true }] as const,
			delete: ['DELETE', `/clients/${id}`, undefined] as const,
		}[what] ?? ['', '', undefined];
		const response = await subject.send(method, path, body, bearer(...names));
		expect([response.status, response.body['detail']]).toEqual([403, expect.stringContaining(`\`tollgate/${missing}\``)]);
		expect(await subject.state()).toBe(before);
	});

	test('a holder of admin:secrets cannot add clients to a team', async () => {
		const response = await subject.send('POST', '/clients', { name: 'x', team: 'red' }, bearer('admin:secrets'));
		expect([response.status, response.body['detail']]).toEqual([403, expect.stringContaining('`tollgate/admin:write`')]);
		const made = await subject.send('POST', '/clients', { id: 'both', name: 'x', team: 'red' }, bearer('admin:secrets', 'admin:write'));
		expect([made.status, made.body['team']]).toEqual([201, 'red']);
	});

	test.each(['admin:all', 'admin:team:', 'admin:team:Red', 'tollgate/admin', 'root', 'invoke ', 'constructor'])(
		'%j is no scope of a client',
		async (scope) => {
			const response = await subject.send('POST', '/clients', { name: 'x', scopes: [scope] });
			expect([response.status, response.body['errors']]).toMatchObject([422, [{ path: 'scopes[0]' }]]);
		},
	);
});

test('a client of the embedded identity keeps only the scopes that it still has, at once', async () => {
	const clientId = 'as~admin:read+admin:write';
	let scopes = ['admin:read', 'admin:write'];
	const subject = await startAdmin(
		{ embeddedIssuer: 'https://issuer.example' },
		{ configured: () => ({ ...configuredRecords, configClients: [{ id: clientId, name: 'x', scopes, canSetAttributes: false }] }) },
	);
	const statuses = async () => [
		(await subject.send('GET', '/teams', undefined, { authorization: `Bearer ${clientId}` })).status,
		(await subject.send('POST', '/teams', { name: 'x' }, { authorization: `Bearer ${clientId}` })).status,
	];
	expect(await statuses()).toEqual([200, 201]);
	scopes = ['admin:read'];
	expect(await statuses()).toEqual([200, 403]);
	scopes = ['admin'];
	expect(await statuses(), 'another scope needs another token').toEqual([403, 403]);
	scopes = [];
	expect(await statuses()).toEqual([403, 403]);
	await subject.stop();
});

function stateWithoutAudit(state: string): string {
	return JSON.stringify(
		(JSON.parse(state) as unknown[]).slice(0, 5).map((list) => JSON.stringify(list).replace(/"(?:version|updatedAtMs)":\d+,?/g, '')),
	);
}
