import { beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { derive, parseSecretHash } from './client-secret.ts';
import { type ClientsAdministration, type ClientWithSecret, createClientsAdministration } from './clients-administration.ts';
import type { ClientRecord, RecordStore } from './records.ts';

let records: RecordStore;
let clock: ManualClock;
let administration: ClientsAdministration;

beforeEach(() => {
	records = createMemoryRecords();
	clock = new ManualClock(1_000_000);
	administration = createClientsAdministration({ clients: records.clients, clock });
});

async function create(...input: Parameters<ClientsAdministration['createClient']>): Promise<ClientWithSecret> {
	const created = await administration.createClient(...input);
	if (created === 'id_taken') throw new Error(created);
	return created;
}

async function isSecretOf(secret: string, hash: ClientRecord['secrets'][number] | undefined): Promise<boolean> {
	const parsed = parseSecretHash(hash?.hash ?? '');
	return parsed !== undefined && (await derive(secret, parsed.derivation)).equals(parsed.hash);
}

describe('creating a client', () => {
	test('makes an id from the name and a secret of 32 random bytes, of which only the hash is kept', async () => {
		const { record, secret } = await create({ name: 'Ärzte & Co. (Test)', scopes: ['invoke', 'invoke'] });
		expect(record).toMatchObject({ scopes: ['invoke'], isDisabled: false, createdAtMs: 1_000_000, updatedAtMs: 1_000_000 });
		expect(record.id).toMatch(/^a-rzte-co-test-[0-9a-f]{10}$/);
		expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
		expect(await records.clients.get(record.id)).toMatchObject(record);
		expect(await isSecretOf(secret, record.secrets[0])).toBe(true);
		expect(JSON.stringify(record)).not.toContain(secret);
	});

	test('of a name without letters still makes an id', async () => {
		expect((await create({ name: '東京', scopes: [] })).record.id).toMatch(/^client-[0-9a-f]{10}$/);
	});

	test('takes an id and a secret of choice, and says when the id is taken', async () => {
		const input = { id: 'Chosen_1.~-', name: 'x', scopes: ['admin'], secret: 'sixteen letters!' };
		expect(await create(input)).toMatchObject({ record: { id: 'Chosen_1.~-' }, secret: 'sixteen letters!' });
		expect(await administration.createClient({ ...input, secret: undefined })).toBe('id_taken');
	});

	test.each([
		['id', { id: 'with blank' }],
		['id', { id: '' }],
		['id', { id: 'x'.repeat(129) }],
		['name', { name: ' ' }],
		['name', { name: 'x'.repeat(201) }],
		['scopes', { scopes: ['tollgate/invoke'] }],
		['secret', { secret: 'fifteen letters' }],
		['secret', { secret: 'umläuts are not allowed' }],
	])('rejects a bad %s: %j', async (param, part) => {
		const input = { name: 'x', scopes: ['invoke'], ...part };
		await expect(administration.createClient(input)).rejects.toMatchObject({ code: 'field_invalid', param });
		expect(await records.clients.list()).toEqual([]);
	});
});

describe('rotating a secret', () => {
	test('keeps the old one for the overlap, at the work of one derivation', async () => {
		const { record, secret } = await create({ name: 'x', scopes: ['invoke'] });
		clock.advance(1000);
		const rotated = await administration.rotateSecret(record.id, 60);
		expect(rotated?.secret).not.toBe(secret);
		const { secrets, updatedAtMs } = (await records.clients.get(record.id)) ?? record;
		expect(updatedAtMs).toBe(1_001_000);
		expect(secrets.map(({ expiresAtMs }) => expiresAtMs)).toEqual([null, 1_061_000]);
		expect(await isSecretOf(rotated?.secret ?? '', secrets[0])).toBe(true);
		expect(await isSecretOf(secret, secrets[1])).toBe(true);
		const [first, second] = secrets.map(({ hash }) => parseSecretHash(hash)?.derivation);
		expect(first).toEqual(second);
	});

	test('again keeps only the newest of the old ones, and without overlap none', async () => {
		const { record } = await create({ name: 'x', scopes: ['invoke'] });
		const second = await administration.rotateSecret(record.id, 60);
		const third = await administration.rotateSecret(record.id, 60);
		expect(third?.record.secrets).toHaveLength(2);
		expect(await isSecretOf(second?.secret ?? '', third?.record.secrets[1])).toBe(true);
		expect((await administration.rotateSecret(record.id, 0))?.record.secrets).toHaveLength(1);
	});

	test('rejects an overlap that is no time, and unknown clients', async () => {
		for (const overlap of [-1, Number.NaN, Infinity]) {
			await expect(administration.rotateSecret('nobody', overlap)).rejects.toMatchObject({ code: 'field_invalid' });
		}
		expect(await administration.rotateSecret('nobody', 1)).toBeUndefined();
	});
});

test('of two rotations at once one fails as stale', async () => {
	const { record } = await create({ id: 'one', name: 'x', scopes: ['invoke'] });
	const outcomes = await Promise.allSettled([administration.rotateSecret('one', 60), administration.rotateSecret('one', 60)]);
	expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
	expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'record_stale' } });
	expect((await records.clients.get(record.id))?.secrets).toHaveLength(2);
});
