import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);

beforeEach(async () => {
	subject = await startAdmin();
});
afterEach(() => subject.stop());

const startedAt = '2026-11-21T12:00:05.000Z';

const noLimits = { rpm: null, daily_tokens: null, tpm: null, concurrent_requests: null, models: {}, mode: 'enforce' };

describe('a team', () => {
	test('is created, read, changed and deleted', async () => {
		const made = await send('POST', '/teams', {
			name: 'Red Ⅳ Team!',
			client_ids: ['agent'],
			limits: { rpm: 7 },
			metadata: { owner: 'ann' },
		});
		expect(made.status).toBe(201);
		expect(made.headers.get('location')).toBe('/teams/red-iv-team');
		const team = {
			id: 'red-iv-team',
			name: 'Red Ⅳ Team!',
			tier: 'sandbox',
			client_ids: ['agent'],
			limits: { ...noLimits, rpm: 7 },
			models: null,
			providers: null,
			require: null,
			metadata: { owner: 'ann' },
			origin: 'api',
			created_at: startedAt,
			updated_at: startedAt,
		};
		expect(made.body).toEqual(team);
		const read = await send('GET', '/teams/red-iv-team');
		expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, team, made.headers.get('etag')]);

		subject.clock.advance(1000);
		const changed = await send('PUT', '/teams/red-iv-team', { tier: 'standard', limits: { daily_tokens: 5 } });
		expect(changed.status).toBe(200);
		expect(changed.body).toEqual({
			...team,
			tier: 'standard',
			limits: { ...noLimits, daily_tokens: 5 },
			updated_at: '2026-11-21T12:00:06.000Z',
		});
		expect(changed.headers.get('etag')).not.toBe(made.headers.get('etag'));

		const gone = await send('DELETE', '/teams/red-iv-team');
		expect([gone.status, gone.text]).toEqual([204, '']);
		expect((await send('GET', '/teams/red-iv-team')).status).toBe(404);
		expect((await send('DELETE', '/teams/red-iv-team')).status).toBe(404);
	});

	test('can be sent back as it was read', async () => {
		const made = await send('POST', '/teams', { id: 'red', tier: 'standard', client_ids: ['a', 'b'] });
		const again = await send('PUT', '/teams/red', made.body);
		expect([again.status, again.body]).toEqual([200, made.body]);
	});

	test('has lists of models, providers and facts, which null removes', async () => {
		const models = { allow: ['gpt-*', 'fast'], deny: ['gpt-4*'] };
		const made = await send('POST', '/teams', { id: 'red', models, providers: ['openai', 'local'] });
		expect(made.body).toMatchObject({ models: { ...models, mode: 'enforce' }, providers: ['provider_b', 'local'], require: null });
		expect((await send('PUT', '/teams/red', made.body)).body).toEqual(made.body);
		const watched = { allow: ['local'], mode: 'monitor' };
		const changed = await send('PUT', '/teams/red', {
			models: { deny: ['gpt-4o'], mode: 'monitor' },
			providers: watched,
			require: { region: 'eu' },
		});
		expect(changed.body).toMatchObject({
			models: { allow: null, deny: ['gpt-4o'], mode: 'monitor' },
			providers: watched,
			require: { region: 'eu', retention: null, mode: 'enforce' },
		});
		expect((await send('PUT', '/teams/red', { name: 'Red' })).body).toEqual({ ...changed.body, name: 'Red' });
		const cleared = await send('PUT', '/teams/red', { models: null, providers: null, require: null });
		expect(cleared.body).toMatchObject({ models: null, providers: null, require: null });
		expect((await subject.records.teams.get('red'))?.allowLists).toBeUndefined();
	});

	test('is deleted together with its budgets', async () => {
		await send('POST', '/teams', { id: 'red' });
		await send('POST', '/budgets', { id: 'b', team: 'red', limit_usd: '1.00' });
		await send('DELETE', '/teams/red');
		expect((await send('GET', '/budgets/b')).status).toBe(404);
	});

	test.each<[string, object, string]>([
		['an unknown tier', { id: 'red', tier: 'standart' }, 'tier'],
		['an unknown member', { id: 'red', clientIds: [] }, 'clientIds'],
		['an unknown member further down', { id: 'red', limits: { rpn: 1 } }, 'limits.rpn'],
		['an empty list of models', { id: 'red', models: { allow: [] } }, 'models.allow'],
		['a blank in a pattern', { id: 'red', models: { allow: ['gpt 4'] } }, 'models.allow[0]'],
		['an unknown mode', { id: 'red', models: { deny: ['gpt-*'], mode: 'warn' } }, 'models.mode'],
		['lists that exclude each other', { id: 'red', models: { allow: ['gpt-4o'], deny: ['*4o'] } }, 'models.deny'],
		['an unknown provider', { id: 'red', providers: ['local', 'nobody'] }, 'providers[1]'],
		['no provider', { id: 'red', providers: [] }, 'providers'],
		['a region that no provider has', { id: 'red', require: { region: 'mars' } }, 'require.region'],
		['an unknown fact', { id: 'red', require: { colour: 'red' } }, 'require.colour'],
		['a negative limit', { id: 'red', limits: { rpm: -1 } }, 'limits.rpm'],
		['a fraction', { id: 'red', limits: { daily_tokens: 1.5 } }, 'limits.daily_tokens'],
		['a limit of no kind for a model', { id: 'red', limits: { models: { 'gpt-*': {} } } }, 'limits.models["gpt-*"]'],
		['a negative limit of a model', { id: 'red', limits: { models: { 'gpt-*': { rpm: -1 } } } }, 'limits.models["gpt-*"].rpm'],
		['an unknown mode', { id: 'red', limits: { mode: 'dream' } }, 'limits.mode'],
		['an id that is no slug', { id: 'Red' }, 'id'],
		['an id that addresses take for another one', { id: '..' }, 'id'],
		['no id and no name', { tier: 'sandbox' }, 'name'],
		['a name of which no id can be made', { name: '!!!' }, 'id'],
		['a client twice', { id: 'red', client_ids: ['a', 'b', 'a'] }, 'client_ids[2]'],
		['a client id with a line feed', { id: 'red', client_ids: ['a\nb'] }, 'client_ids[0]'],
		['half a character', { id: 'red', name: 'a\ud800' }, 'name'],
		['metadata that is no text', { id: 'red', metadata: { a: 1 } }, 'metadata.a'],
	])('with %s is 422 and names the field', async (_title, body, path) => {
		const before = await subject.state();
		const response = await send('POST', '/teams', body);
		expect([response.status, response.body['code']]).toEqual([422, 'fields_invalid']);
		expect((response.body['errors'] as { path: string }[]).map((error) => error.path)).toEqual([path]);
		expect(await subject.state()).toBe(before);
	});

	test('with an unknown member or tier names the nearest known one', async () => {
		const messageOf = async (body: object) => ((await send('POST', '/teams', body)).body['errors'] as { message: string }[])[0]?.message;
		expect(await messageOf({ id: 'red', clientIds: [] })).toBe('is an unknown field: did you mean client_ids?');
		expect(await messageOf({ id: 'red', limits: { rmp: 1 } })).toBe('is an unknown field: did you mean rpm?');
		const { body } = await send('GET', '/teams/red?fields=id');
		expect(body).toMatchObject({ errors: [{ path: 'fields', message: 'is an unknown field: remove it' }] });
		expect(await messageOf({ id: 'red', tier: 'standart' })).toBe('is `standart`, an unknown tier: did you mean standard?');
		expect(await messageOf({ id: 'red', metadata: 'x'.repeat(5) })).toBe('must be an object, not a string');
	});

	test('with a client of another team, also of the configuration, is 409 and changes nothing', async () => {
		await send('POST', '/teams', { id: 'red', client_ids: ['agent'] });
		await send('POST', '/teams', { id: 'blue' });
		const before = await subject.state();
		const created = await send('POST', '/teams', { id: 'green', client_ids: ['free', 'agent'] });
		const changed = await send('PUT', '/teams/blue', { client_ids: ['agent'] });
		const pinned = await send('PUT', '/teams/blue', { client_ids: ['x', 'pinned-client'] });
		expect([created, changed, pinned].map(({ status, body }) => [status, body['code'], (body['errors'] as object[])[0]])).toEqual([
			[409, 'record_conflict', { path: 'client_ids[1]', message: 'is already in team `red`: a client can be in one team' }],
			[409, 'record_conflict', { path: 'client_ids[0]', message: 'is already in team `red`: a client can be in one team' }],
			[409, 'record_conflict', { path: 'client_ids[1]', message: 'is already in team `pinned`: a client can be in one team' }],
		]);
		expect(await subject.state()).toBe(before);
	});

	test('with a taken id, or a name that results in one, is 409', async () => {
		await send('POST', '/teams', { id: 'red' });
		expect((await send('POST', '/teams', { id: 'red' })).status).toBe(409);
		expect((await send('POST', '/teams', { name: 'RED' })).body['errors']).toEqual([
			{ path: 'name', message: 'leads to the id `red`, which another team has: set `id`' },
		]);
		expect((await send('POST', '/teams', { id: 'pinned' })).status).toBe(409);
	});

	test('of the configuration is shown, and can only be changed there', async () => {
		const read = await send('GET', '/teams/pinned');
		expect([read.status, read.body['origin'], read.body['created_at'], read.headers.get('etag')]).toEqual([200, 'config', null, null]);
		const changed = await send('PUT', '/teams/pinned', { tier: 'sandbox' });
		const deleted = await send('DELETE', '/teams/pinned');
		expect([changed.status, changed.body['code'], deleted.status]).toEqual([409, 'record_read_only', 409]);
	});

	test('never changes its id', async () => {
		await send('POST', '/teams', { id: 'red' });
		expect((await send('PUT', '/teams/red', { id: 'blue' })).body['errors']).toMatchObject([{ path: 'id' }]);
	});

	test('that does not exist is 404 for every method', async () => {
		for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
			expect((await send(method, '/teams/absent', body)).body['code']).toBe('record_unknown');
			expect((await send(method, `/teams/${'x'.repeat(2000)}`, body)).status).toBe(404);
			expect((await send(method, '/teams/a%2Fb', body)).status).toBe(404);
		}
	});
});

describe('conditional changes', () => {
	test('a stale if-match is 412 and changes nothing; the current one, or any, passes', async () => {
		const etag = (await send('POST', '/teams', { id: 'red' })).headers.get('etag') ?? '';
		for (const stale of ['"0"', `W/${etag}`, 'nonsense', '']) {
			if (stale === '') continue;
			expect((await send('PUT', '/teams/red', { name: 'x' }, { 'if-match': stale })).status).toBe(412);
			expect((await send('DELETE', '/teams/red', undefined, { 'if-match': stale })).status).toBe(412);
		}
		expect((await send('PUT', '/teams/red', { name: 'x' }, { 'if-match': `"0", ${etag}` })).status).toBe(200);
		expect((await send('PUT', '/teams/red', { name: 'y' }, { 'if-match': etag })).status).toBe(412);
		expect((await send('PUT', '/teams/red', { name: 'y' }, { 'if-match': '*' })).status).toBe(200);
		expect((await send('DELETE', '/teams/red', undefined, { 'if-match': etag })).status).toBe(412);
	});

	test('a tag of a team that was deleted and created again is stale', async () => {
		const etag = (await send('POST', '/teams', { id: 'red' })).headers.get('etag') ?? '';
		await send('DELETE', '/teams/red');
		await send('POST', '/teams', { id: 'red' });
		expect((await send('PUT', '/teams/red', { name: 'x' }, { 'if-match': etag })).status).toBe(412);
	});

	test('of 50 writers at once one wins for each tag', async () => {
		let etag = (await send('POST', '/teams', { id: 'red' })).headers.get('etag') ?? '';
		for (let round = 0; round < 3; round++) {
			const puts = Array.from({ length: 50 }, (_, index) =>
				send('PUT', '/teams/red', { name: `w${round}-${index}` }, { 'if-match': etag }),
			);
			const responses = await Promise.all(puts);
			const winners = responses.filter(({ status }) => status === 200);
			expect(winners).toHaveLength(1);
			expect(responses.filter(({ status }) => status === 412)).toHaveLength(49);
			const now = await send('GET', '/teams/red');
			expect(now.body).toEqual(winners[0]?.body);
			etag = now.headers.get('etag') ?? '';
		}
	});

	test('of 50 writers without a condition none is lost or rejected', async () => {
		await send('POST', '/teams', { id: 'red' });
		const responses = await Promise.all(
			Array.from({ length: 50 }, (_, index) =>
				send('PUT', '/teams/red', index % 2 === 0 ? { metadata: { a: `${index}` } } : { name: `n${index}` }),
			),
		);
		expect(responses.every(({ status }) => status === 200)).toBe(true);
		const { body } = await send('GET', '/teams/red');
		expect(body).toMatchObject({ name: expect.stringMatching(/^n/) as string, metadata: { a: expect.any(String) as string } });
	});

	test('of 50 that create one name one succeeds', async () => {
		const responses = await Promise.all(Array.from({ length: 50 }, () => send('POST', '/teams', { name: 'Red' })));
		expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
		expect(responses.filter(({ status }) => status === 409)).toHaveLength(49);
		expect(await subject.records.teams.list()).toHaveLength(1);
	});
});

describe('pages', () => {
	test('show every team once while others are added and removed', async () => {
		for (let index = 0; index < 9; index++) await send('POST', '/teams', { id: `t${index}` });
		const seen: string[] = [];
		let cursor: string | null = '';
		while (cursor !== null) {
			const { body } = await send('GET', `/teams?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
			seen.push(...(body['data'] as { id: string }[]).map(({ id }) => id));
			cursor = body['next_cursor'] as string | null;
			await send('POST', '/teams', { id: `a${seen.length}` });
			await send('DELETE', `/teams/${seen.at(-1)}`);
		}
		expect(seen).toEqual(['pinned', ...Array.from({ length: 9 }, (_, index) => `t${index}`)]);
	});

	test('end with the last item: no empty page follows', async () => {
		await send('POST', '/teams', { id: 'red' });
		expect((await send('GET', '/teams?limit=2')).body['next_cursor']).toBeNull();
	});

	test.each(['limit=0', 'limit=1001', 'limit=x', 'limit=1.5', 'limit=', 'cursor=x', 'cursor=', 'limit=1&limit=2', 'limt=1'])(
		'?%s is 422 and names the parameter',
		async (query) => {
			const response = await send('GET', `/teams?${query}`);
			expect([response.status, response.body['errors']]).toMatchObject([422, [{ path: query.split('=')[0] }]]);
		},
	);
});

describe('an idempotency-key', () => {
	const key = { 'idempotency-key': 'k-1' };

	test('repeated with the same body returns the first response and changes nothing', async () => {
		const first = await send('POST', '/teams', { name: 'Red' }, key);
		const state = await subject.state();
		const again = await send('POST', '/teams', { name: 'Red' }, key);
		expect([again.status, again.text, again.headers.get('location')]).toEqual([201, first.text, '/teams/red']);
		expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
		expect(await subject.state()).toBe(state);
	});

	test('with another body is 422; of another client or path it is another key', async () => {
		await send('POST', '/teams', { name: 'Red' }, key);
		expect((await send('POST', '/teams', { name: 'Blue' }, key)).body['code']).toBe('idempotency_key_reused');
		expect((await send('POST', '/teams', { name: 'Blue' }, { ...key, authorization: 'Bearer other' })).status).toBe(201);
		expect((await send('POST', '/budgets', { team: 'red', limit_usd: '1' }, key)).status).toBe(201);
	});

	test('of a rejected request is free again', async () => {
		expect((await send('POST', '/teams', { name: 'Red', tier: 'x' }, key)).status).toBe(422);
		expect((await send('POST', '/teams', { name: 'Red' }, key)).status).toBe(201);
	});

	test('sent concurrently creates one record, and all get its response', async () => {
		const responses = await Promise.all(Array.from({ length: 20 }, () => send('POST', '/clients', { name: 'x' }, key)));
		expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
		expect(await subject.records.clients.list()).toHaveLength(1);
	});

	test('expires after a day', async () => {
		await send('POST', '/teams', { name: 'Red' }, key);
		subject.clock.advance(24 * 3_600_000 - 1);
		expect((await send('POST', '/teams', { name: 'Red' }, key)).status).toBe(201);
		subject.clock.advance(1);
		expect((await send('POST', '/teams', { name: 'Red' }, key)).status).toBe(409);
	});

	test.each(['a b', 'x'.repeat(256)])('that is invalid is 422: %s', async (wrong) => {
		expect((await send('POST', '/teams', { name: 'Red' }, { 'idempotency-key': wrong })).body['errors']).toMatchObject([
			{ path: 'idempotency-key' },
		]);
	});
});
