import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, configuredRecords, startAdmin } from '../../../test/support/admin.ts';

let subject: AdminSubject;
const send: AdminSubject['send'] = (...request) => subject.send(...request);

beforeEach(async () => {
	subject = await startAdmin({}, { unpricedModels: () => [{ provider: 'local', model: 'refused' }] });
});
afterEach(() => subject.stop());

const rates = { input_usd_per_million_tokens: '2.5', output_usd_per_million_tokens: '10' };
const listAll = async (query = '') => {
	const entries: { provider: string; model: string; source: string | null }[] = [];
	let cursor: string | null = '';
	while (cursor !== null) {
		const { body } = await send('GET', `/pricing?limit=50${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
		entries.push(...(body['data'] as typeof entries));
		cursor = body['next_cursor'] as string | null;
	}
	return entries;
};

describe('prices', () => {
	test('an override replaces the default, which applies again when it is deleted', async () => {
		const address = '/pricing/provider_b/gpt-4o-mini';
		const before = await send('GET', address);
		expect([before.status, before.headers.get('etag'), before.body]).toMatchObject([
			200,
			null,
			{ source: 'default', updated_at: null, input_usd_per_million_tokens: '0.15', output_usd_per_million_tokens: '0.60' },
		]);
		const set = await send('PUT', address, { ...rates, cache_read_usd_per_million_tokens: '1.25' });
		expect([set.status, set.body]).toEqual([
			200,
			{
				provider: 'provider_b',
				model: 'gpt-4o-mini',
				input_usd_per_million_tokens: '2.50',
				output_usd_per_million_tokens: '10.00',
				cache_read_usd_per_million_tokens: '1.25',
				cache_write_usd_per_million_tokens: '2.50',
				long_input: [],
				priced_as: null,
				source: 'override',
				updated_at: '2026-11-21T12:00:05.000Z',
			},
		]);
		expect((await send('GET', address)).body).toEqual(set.body);
		expect((await send('PUT', address, set.body, { 'if-match': set.headers.get('etag') ?? '' })).status).toBe(200);
		expect((await listAll()).filter(({ model }) => model === 'gpt-4o-mini')).toMatchObject([{ source: 'override' }]);
		expect((await send('DELETE', address)).status).toBe(204);
		expect((await send('GET', address)).body).toEqual(before.body);
		expect((await send('DELETE', address)).status).toBe(404);
	});

	test('models can contain slashes, colons and more, encoded or not', async () => {
		for (const [path, model] of [
			['meta/llama-3:70b', 'meta/llama-3:70b'],
			['meta%2Fllama-4%3A70b', 'meta/llama-4:70b'],
			['a%20b%25c%3Fd', 'a b%c?d'],
			['ft:gpt-4o:acme::1', 'ft:gpt-4o:acme::1'],
			['..%2f..%2fx', '../../x'],
		] as const) {
			const set = await send('PUT', `/pricing/local/${path}`, rates);
			expect([set.status, set.body['model']]).toEqual([200, model]);
			expect((await send('GET', `/pricing/local/${encodeURIComponent(model)}`)).body).toEqual(set.body);
			expect((await send('DELETE', `/pricing/local/${path}`)).status).toBe(204);
		}
	});

	test('of a deployment is that of its model, and of another spelling that of its listed name', async () => {
		const vendorModel = (model: string) => (model === 'chat-prod' ? 'gpt-4o-mini' : model);
		const providers = [{ name: 'azure', kind: 'azure-openai', isConfigured: true, vendorModel }];
		await subject.stop();
		subject = await startAdmin({}, { configured: () => ({ ...configuredRecords, providers }) });
		const read = async (model: string) => {
			const { body, headers } = await send('GET', `/pricing/azure/${model}`);
			return [body['model'], body['input_usd_per_million_tokens'], body['source'], body['priced_as'], headers.has('etag')];
		};
		expect(await read('chat-prod')).toEqual(['chat-prod', '0.15', 'default', 'gpt-4o-mini', false]);
		expect(await read('gpt-4o-mini-2024-07-18')).toEqual(['gpt-4o-mini-2024-07-18', '0.15', 'default', 'gpt-4o-mini', false]);
		expect((await send('GET', '/pricing/azure/other')).status).toBe(404);
		await send('PUT', '/pricing/azure/gpt-4o-mini', rates);
		expect(await read('chat-prod')).toEqual(['chat-prod', '2.50', 'override', 'gpt-4o-mini', false]);
		await send('PUT', '/pricing/azure/chat-prod', { ...rates, input_usd_per_million_tokens: '1' });
		expect(await read('chat-prod')).toEqual(['chat-prod', '1.00', 'override', null, true]);
	});

	test('a vendor’s name selects its provider in paths and filters, and responses have the provider’s own name', async () => {
		const set = await send('PUT', '/pricing/openai/gpt-4o', { ...rates, provider: 'openai' });
		expect(set).toMatchObject({ status: 200, body: { provider: 'provider_b', model: 'gpt-4o', source: 'override' } });
		expect((await send('GET', '/pricing/openai/gpt-4o')).body).toEqual((await send('GET', '/pricing/provider_b/gpt-4o')).body);
		expect(new Set((await listAll('&provider=openai')).map(({ provider }) => provider))).toEqual(new Set(['provider_b']));
		expect((await send('DELETE', '/pricing/openai/gpt-4o')).status).toBe(204);
		expect((await send('GET', '/pricing/provider_b/gpt-4o')).body).toMatchObject({ source: 'default' });
	});

	test('the list has the overrides first, then the defaults of every provider once, in order', async () => {
		await send('PUT', '/pricing/provider_b/gpt-4o', rates);
		await send('PUT', '/pricing/local/llama', rates);
		const entries = await listAll();
		const names = entries.map(({ provider, model }) => `${provider}\u0000${model}`);
		expect(new Set(names).size).toBe(names.length);
		const firstDefault = entries.findIndex(({ source }) => source === 'default');
		expect(names.slice(0, firstDefault)).toEqual(['local\u0000llama', 'provider_b\u0000gpt-4o']);
		expect(entries.slice(firstDefault).every(({ source }) => source === 'default')).toBe(true);
		expect(names.slice(firstDefault)).toEqual(names.slice(firstDefault).toSorted());
		expect(new Set(entries.map(({ provider }) => provider))).toEqual(new Set(['local', 'provider_a', 'provider_b']));
		expect((await listAll('&provider=local')).map(({ model }) => model)).toEqual(['llama']);
	});

	test('of long inputs are listed separately', async () => {
		const { body } = await send('GET', '/pricing/provider_a/claude-sonnet-4-5');
		expect(body['long_input']).toMatchObject([{ above_input_tokens: 200_000, input_usd_per_million_tokens: '6.00' }]);
	});

	test('?unpriced=true lists models that were requested or rejected and have no price now', async () => {
		await subject.book({ provider: 'local', model: 'llama' });
		await subject.book({ provider: 'local', model: 'priced' });
		await subject.book({ provider: 'local', model: 'models/Priced' });
		await subject.book({ provider: 'provider_b', model: 'gpt-4o-mini' });
		await send('PUT', '/pricing/local/priced', rates);
		const entries = await listAll('&unpriced=true');
		expect(entries.map(({ model, source }) => [model, source])).toEqual([
			['llama', null],
			['refused', null],
		]);
		expect((await send('GET', '/pricing/local/llama')).status).toBe(404);
	});

	test.each<[string, string, object, number, string | undefined]>([
		['seven decimals', 'local/m', { ...rates, input_usd_per_million_tokens: '0.0000001' }, 422, 'input_usd_per_million_tokens'],
		['a negative rate', 'local/m', { ...rates, output_usd_per_million_tokens: '-1' }, 422, 'output_usd_per_million_tokens'],
		['a number', 'local/m', { ...rates, output_usd_per_million_tokens: 1 }, 422, 'output_usd_per_million_tokens'],
		['an absurd rate', 'local/m', { ...rates, output_usd_per_million_tokens: '1234567890123' }, 422, 'output_usd_per_million_tokens'],
		['half a price', 'local/m', { input_usd_per_million_tokens: '1' }, 422, 'output_usd_per_million_tokens'],
		['an unknown member', 'local/m', { ...rates, input: '1' }, 422, 'input'],
		['another model than the address', 'local/m', { ...rates, model: 'n' }, 422, 'model'],
		['a model that is too long', `local/${'m'.repeat(257)}`, rates, 422, 'model'],
		['an unknown provider', 'provider_x/m', rates, 404, undefined],
	])('with %s are rejected and nothing is set', async (_title, path, body, status, field) => {
		const before = await subject.state();
		const response = await send('PUT', `/pricing/${path}`, body);
		expect([response.status, (response.body['errors'] as { path: string }[])[0]?.path]).toEqual([status, field]);
		expect(await subject.state()).toBe(before);
	});

	test('a condition on a missing override is stale; of many that set one at once one wins a tag', async () => {
		expect((await send('PUT', '/pricing/local/m', rates, { 'if-match': '"1"' })).status).toBe(412);
		const etag = (await send('PUT', '/pricing/local/m', rates)).headers.get('etag') ?? '';
		const responses = await Promise.all(Array.from({ length: 50 }, () => send('PUT', '/pricing/local/m', rates, { 'if-match': etag })));
		expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
	});
});
