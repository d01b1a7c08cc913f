import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);

beforeEach(async () => {
	subject = await startAdmin();
});
afterEach(() => subject.stop());

const target = { provider: 'local', model: null, weight: 1 };

describe('a routing rule', () => {
	test('is created with defaults, read, changed in part and deleted', async () => {
		const made = await send('POST', '/routing', { id: 'r', name: 'Rule', targets: [{ provider: 'local' }] });
		expect([made.status, made.headers.get('location')]).toEqual([201, '/routing/r']);
		const rule = {
			id: 'r',
			name: 'Rule',
			priority: 100,
			enabled: true,
			mode: 'enforce',
			match: { model: '*', team: null, format: null },
			strategy: 'priority',
			targets: [target],
		};
		expect(made.body).toMatchObject(rule);
		const changed = await send('PUT', '/routing/r', { priority: 5, match: { model: 'gpt-5', team: 'red' } });
		expect(changed.body).toMatchObject({ ...rule, priority: 5, match: { model: 'gpt-5', team: 'red', format: null } });
		expect((await send('GET', '/routing')).body).toMatchObject({ data: [{ id: 'r', priority: 5 }], next_cursor: null });
		expect((await send('PUT', '/routing/r', { enabled: false }, { 'if-match': '"0"' })).status).toBe(412);
		const { headers, body: tried } = await send('PUT', '/routing/r', { mode: 'monitor' });
		expect(tried).toMatchObject({ mode: 'monitor', priority: 5 });
		expect((await send('DELETE', '/routing/r', undefined, { 'if-match': headers.get('etag') ?? '' })).status).toBe(204);
		expect((await send('GET', '/routing/r')).status).toBe(404);
		const { body } = await send('GET', '/audit?kind=routing_rule');
		expect((body['data'] as { action: string; key: string }[]).map(({ action, key }) => `${action} ${key}`)).toEqual([
			'delete r',
			'replace r',
			'replace r',
			'create r',
		]);
	});

	test.each([
		[{ targets: [] }, 'targets'],
		[{ targets: [{ provider: 'absent' }] }, 'targets[0].provider'],
		[{ targets: [{ provider: 'local', weight: -1 }] }, 'targets[0].weight'],
		[{ strategy: 'weighted', targets: [{ provider: 'local', weight: 0 }] }, 'targets'],
		[{ mode: 'try', targets: [{ provider: 'local' }] }, 'mode'],
		[{ strategy: 'random', targets: [{ provider: 'local' }] }, 'strategy'],
		[{ match: { format: 'gemini' }, targets: [{ provider: 'local' }] }, 'match.format'],
		[{ priority: 1.5, targets: [{ provider: 'local' }] }, 'priority'],
	])('with %j is rejected with the path', async (input, path) => {
		const rejected = await send('POST', '/routing', { id: 'r', name: 'Rule', ...input });
		expect(rejected.status).toBe(422);
		expect((rejected.body['errors'] as { path: string }[]).map((error) => error.path)).toContain(path);
		expect((await send('GET', '/routing/r')).status).toBe(404);
	});

	test('whose target names a vendor stores the name of its provider', async () => {
		const targets = [{ provider: 'openai', model: 'gpt-5' }, { provider: 'local' }];
		const { body } = await send('POST', '/routing', { id: 'r', name: 'Rule', targets });
		expect(body['targets']).toEqual([{ provider: 'provider_b', model: 'gpt-5', weight: 1 }, target]);
		const changed = await send('PUT', '/routing/r', { targets: [{ provider: 'anthropic' }] });
		expect(changed.body['targets']).toEqual([{ ...target, provider: 'provider_a' }]);
	});

	test.each([1, 100])('is listed by priority, then by id, %i per page', async (limit) => {
		const priorities = { a: 100, b: -5, c: 20, d: 9, e: -10, f: 100 };
		for (const [id, priority] of Object.entries(priorities)) {
			await send('POST', '/routing', { id, name: id, priority, targets: [{ provider: 'local' }] });
		}
		const found: string[] = [];
		let next: string | null = '';
		while (next !== null) {
			const { body } = await send('GET', `/routing?limit=${limit}${next === '' ? '' : `&cursor=${next}`}`);
			found.push(...(body['data'] as { id: string }[]).map(({ id }) => id));
			next = body['next_cursor'] as string | null;
		}
		expect(found).toEqual(['e', 'b', 'd', 'c', 'a', 'f']);
	});

	test('whose id is taken is not created', async () => {
		await send('POST', '/routing', { id: 'r', name: 'One', targets: [{ provider: 'local' }] });
		expect((await send('POST', '/routing', { id: 'r', name: 'Two', targets: [{ provider: 'local' }] })).status).toBe(409);
		expect((await send('GET', '/routing/r')).body).toMatchObject({ name: 'One' });
	});
});
