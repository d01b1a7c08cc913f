import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);

beforeEach(async () => {
	subject = await startAdmin();
});
afterEach(() => subject.stop());

const startedAt = '2026-11-21T12:00:05.000Z';

describe('a client', () => {
	test('is created with a secret that is shown once', async () => {
		const made = await send('POST', '/clients', { id: 'bot', name: 'Bot' });
		expect([made.status, made.headers.get('location')]).toEqual([201, '/clients/bot']);
		const { client_secret: secret, ...client } = made.body;
		expect(secret).toMatch(/^[\w-]{43}$/);
		expect(client).toEqual({
			id: 'bot',
			name: 'Bot',
			team: null,
			scopes: ['invoke'],
			disabled: false,
			may_set_attributes: false,
			secrets: [{ expires_at: null }],
			origin: 'api',
			created_at: startedAt,
			updated_at: startedAt,
		});
		const read = await send('GET', '/clients/bot');
		expect(read.body).toEqual(client);
		const everything = [read.text, (await send('GET', '/clients')).text, (await send('GET', '/audit')).text].join('');
		expect(everything).not.toMatch(/scrypt|hash/);
		expect(everything).not.toContain(secret);
	});

	test('names its team, by which the team is found', async () => {
		await send('POST', '/clients', { id: 'bot', name: 'Bot' });
		await send('POST', '/clients', { id: 'loner', name: 'Loner' });
		await send('POST', '/teams', { id: 'red', client_ids: ['bot'] });
		const teamOf = async (id: string) => (await send('GET', `/clients/${id}`)).body['team'];
		expect([await teamOf('bot'), await teamOf('loner'), await teamOf('pinned-client')]).toEqual(['red', null, 'pinned']);
		const { data } = (await send('GET', '/clients')).body as { data: { id: string; team: string | null }[] };
		expect(data.map(({ id, team }) => [id, team])).toEqual([
			['bot', 'red'],
			['loner', null],
			['pinned-client', 'pinned'],
		]);
		const found = async (clientId: string) =>
			((await send('GET', `/teams?client_id=${clientId}`)).body['data'] as { id: string }[]).map(({ id }) => id);
		expect([await found('bot'), await found('pinned-client'), await found('loner'), await found('absent')]).toEqual([
			['red'],
			['pinned'],
			[],
			[],
		]);
		await send('PUT', '/teams/red', { client_ids: [] });
		expect([await teamOf('bot'), await found('bot')]).toEqual([null, []]);
	});

	test('gets a new secret while the old one still works for a time', async () => {
		await send('POST', '/clients', { id: 'bot', name: 'Bot' });
		const rotated = await send('POST', '/clients/bot/rotate', { overlap_seconds: 60 });
		expect([rotated.status, rotated.body['secrets']]).toEqual([200, [{ expires_at: null }, { expires_at: '2026-11-21T12:01:05.000Z' }]]);
		subject.clock.advance(60_000);
		expect((await send('GET', '/clients/bot')).body['secrets']).toEqual([{ expires_at: null }]);
		const again = await send('POST', '/clients/bot/rotate', { overlap_seconds: 0 });
		expect(again.body['secrets']).toHaveLength(1);
		expect((await send('POST', '/clients/bot/rotate')).body['secrets']).toMatchObject([{}, { expires_at: '2026-11-21T13:01:05.000Z' }]);
		expect(again.body['client_secret']).not.toBe(rotated.body['client_secret']);
	});

	test('is disabled, renamed and given scopes', async () => {
		const made = await send('POST', '/clients', { id: 'bot', name: 'Bot', scopes: ['invoke', 'admin'] });
		const changed = await send(
			'PUT',
			'/clients/bot',
			{ disabled: true, name: 'B', scopes: ['invoke'], may_set_attributes: true },
			{ 'if-match': made.headers.get('etag') ?? '' },
		);
		expect([changed.status, changed.body]).toMatchObject([
			200,
			{ disabled: true, name: 'B', scopes: ['invoke'], may_set_attributes: true },
		]);
		expect(await subject.records.clients.get('bot')).toMatchObject({ isDisabled: true, canSetAttributes: true });
		expect((await send('PUT', '/clients/bot', {}, { 'if-match': made.headers.get('etag') ?? '' })).status).toBe(412);
		expect((await send('PUT', '/clients/bot', changed.body)).body).toEqual(changed.body);
	});

	test('has a tag that changes with every change, and with it one of 50 writers wins', async () => {
		const tags = [(await send('POST', '/clients', { id: 'bot', name: 'Bot' })).headers.get('etag')];
		tags.push((await send('POST', '/clients/bot/rotate', {})).headers.get('etag'));
		tags.push((await send('PUT', '/clients/bot', { name: 'Bot' })).headers.get('etag'));
		expect(new Set(tags).size).toBe(3);
		expect((await send('GET', '/clients/bot')).headers.get('etag')).toBe(tags[2]);
		const ifMatch = { 'if-match': tags[2] ?? '' };
		const responses = await Promise.all(
			Array.from({ length: 50 }, (_, index) =>
				index % 2 === 0 ? send('PUT', '/clients/bot', { name: `n${index}` }, ifMatch) : send('POST', '/clients/bot/rotate', {}, ifMatch),
			),
		);
		expect(responses.map(({ status }) => String(status)).toSorted()).toEqual(['200', ...Array.from({ length: 49 }, () => '412')]);
		expect((await send('DELETE', '/clients/bot', undefined, ifMatch)).status).toBe(412);
	});

	test('that is deleted leaves its team', async () => {
		await send('POST', '/clients', { id: 'bot', name: 'Bot' });
		await send('POST', '/teams', { id: 'red', client_ids: ['bot'] });
		expect((await send('DELETE', '/clients/bot')).status).toBe(204);
		expect((await send('GET', '/teams/red')).body['client_ids']).toEqual([]);
		for (const [method, path] of [
			['GET', ''],
			['PUT', ''],
			['DELETE', ''],
			['POST', '/rotate'],
		] as const) {
			expect((await send(method, `/clients/bot${path}`, method === 'GET' ? undefined : {})).status).toBe(404);
		}
	});

	test('of the configuration is listed, and can only be changed there', async () => {
		expect((await send('GET', '/clients')).body['data']).toMatchObject([{ id: 'pinned-client', origin: 'config', secrets: [] }]);
		expect((await send('GET', '/clients/pinned-client')).body).toMatchObject({ origin: 'config' });
		expect((await send('PUT', '/clients/pinned-client', {})).body['code']).toBe('record_read_only');
		expect((await send('DELETE', '/clients/pinned-client')).status).toBe(409);
		expect((await send('POST', '/clients/pinned-client/rotate', {})).status).toBe(409);
		expect((await send('POST', '/clients', { id: 'pinned-client', name: 'x' })).status).toBe(409);
	});

	test.each<[string, object, number, string]>([
		['no name', { id: 'x' }, 422, 'name'],
		['an unknown scope', { name: 'x', scopes: ['root'] }, 422, 'scopes[0]'],
		['too many scopes', { name: 'x', scopes: ['invoke', 'admin', 'invoke'] }, 422, 'scopes'],
		['a scope twice', { name: 'x', scopes: ['invoke', 'invoke'] }, 422, 'scopes'],
		['an id with a slash', { id: 'a/b', name: 'x' }, 422, 'id'],
		['a secret of its own', { name: 'x', secret: 'x'.repeat(40) }, 422, 'secret'],
		['a taken id', { id: 'bot', name: 'x' }, 409, 'id'],
	])('with %s is rejected', async (_title, body, status, path) => {
		await send('POST', '/clients', { id: 'bot', name: 'Bot' });
		const before = await subject.state();
		const response = await send('POST', '/clients', body);
		expect([response.status, response.body['errors']]).toMatchObject([status, [{ path }]]);
		expect(await subject.state()).toBe(before);
	});

	test.each([-1, 1.5, 31 * 86_400, '60'])('an overlap of %j is 422', async (overlap) => {
		expect((await send('POST', '/clients/bot/rotate', { overlap_seconds: overlap })).body['errors']).toMatchObject([
			{ path: 'overlap_seconds' },
		]);
	});
});

describe('the audit log', () => {
	test('has every change, newest first, with actor, time, before and after', async () => {
		const rates = { input_usd_per_million_tokens: '1', output_usd_per_million_tokens: '2.5' };
		const made = await send('POST', '/teams', { id: 'red' });
		await send('PUT', '/teams/red', { name: 'Red' }, { authorization: 'Bearer other' });
		await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '5' });
		await send('PUT', '/pricing/local/a/b', rates);
		await send('DELETE', '/pricing/local/a/b');
		await send('POST', '/clients', { id: 'bot', name: 'Bot' });
		await send('DELETE', '/teams/red');
		const { data } = (await send('GET', '/audit')).body as { data: Record<string, unknown>[] };
		expect(data.map(({ action, kind, key }) => `${String(action)} ${String(kind)} ${String(key)}`)).toEqual([
			'delete team red',
			'delete budget b',
			'create client bot',
			'delete price_override local/a/b',
			'create price_override local/a/b',
			'create budget b',
			'replace team red',
			'create team red',
		]);
		expect(data.at(-1)).toEqual({
			time: startedAt,
			actor: 'client:root',
			request_id: made.headers.get('x-request-id'),
			action: 'create',
			kind: 'team',
			key: 'red',
			before: null,
			after: {
				id: 'red',
				name: 'red',
				tier: 'sandbox',
				client_ids: [],
				limits: { rpm: null, daily_tokens: null, tpm: null, concurrent_requests: null, models: {}, mode: 'enforce' },
				models: null,
				providers: null,
				require: null,
				metadata: {},
				created_at: startedAt,
				updated_at: startedAt,
			},
		});
		expect(data.at(-2)).toMatchObject({ actor: 'client:other', before: { name: 'red' }, after: { name: 'Red' } });
		expect(data[5]).toMatchObject({ after: { limit_usd: '5.00', model: null } });
		expect(data[3]).toMatchObject({ after: null, before: { provider: 'local', model: 'a/b', output_usd_per_million_tokens: '2.50' } });
	});

	test('is filtered and paged, without rejected requests', async () => {
		await send('POST', '/teams', { id: 'red' });
		await send('POST', '/teams', { id: 'red' });
		await send('PUT', '/teams/red', { tier: 'absent' });
		await send('PUT', '/teams/red', { name: 'Red' });
		await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '5' });
		const first = await send('GET', '/audit?kind=team&key=red&limit=1');
		expect(first.body['data']).toMatchObject([{ action: 'replace' }]);
		const next = await send('GET', `/audit?kind=team&key=red&limit=1&cursor=${String(first.body['next_cursor'])}`);
		expect(next.body).toMatchObject({ data: [{ action: 'create' }], next_cursor: null });
		expect((await send('GET', '/audit?kind=team&key=blue')).body['data']).toEqual([]);
		expect((await send('GET', '/audit?cursor=x')).body['errors']).toMatchObject([{ path: 'cursor' }]);
		expect((await send('GET', '/audit?kind=tema')).status).toBe(422);
	});
});

test('providers and the configuration are shown', async () => {
	const { data } = (await send('GET', '/providers')).body as { data: object[] };
	expect(data).toMatchObject([{ name: 'local', rate_limits: [] }, { name: 'provider_a' }, { name: 'provider_b' }]);
	expect(data[1]).toEqual({
		name: 'provider_a',
		kind: 'anthropic',
		configured: true,
		health: { state: 'healthy', since: startedAt, detail: null, gateways: 1, ejected_by: 0 },
		rate_limits: [
			{ model: 'm', kind: 'requests', limit: 50, remaining: 0, resets_at: startedAt, reported_at: startedAt },
			{ model: 'm', kind: 'retry_after', limit: null, remaining: 0, resets_at: null, reported_at: startedAt },
		],
	});
	expect((await send('GET', '/providers?limit=1000')).status).toBe(200);
	expect((await send('GET', '/config')).body).toEqual({ enable_admin_api: true, providers: { provider_a: { api_key: '***' } } });
});
