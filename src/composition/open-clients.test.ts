import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ClientOperations } from '../cli/environment.ts';
import { silentLog } from '../core/log.ts';
import { systemClock } from '../io/system-clock.ts';
import { openSqliteRecords } from '../stores/sqlite/sqlite-records.ts';
import { openAdmin } from './open-admin.ts';
import { openClients } from './open-clients.ts';

interface Subject {
	readonly clients: ClientOperations;
	readonly dataDir: string;
	makeTeam(body: Readonly<Record<string, unknown>>): Promise<void>;
}

async function open(): Promise<Subject> {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-clients-'));
	const dataDir = join(directory, 'data');
	const configPath = join(directory, 'tollgate.json');
	writeFileSync(
		configPath,
		JSON.stringify({
			data_dir: dataDir,
			identity: { clients: [{ id: 'configured', secret: 'a-secret-of-the-client' }] },
			teams: { registered: [{ id: 'pinned' }] },
		}),
	);
	const clients = await openClients({ configPath }, {});
	const admin = await openAdmin({ configPath }, {});
	onTestFinished(async () => {
		await admin.close();
		await clients.close();
		rmSync(directory, { recursive: true });
	});
	return {
		clients,
		dataDir,
		async makeTeam(body) {
			expect(await admin.request({ method: 'POST', path: '/teams', body })).toMatchObject({ status: 201 });
		},
	};
}

test('a client is created, listed, given another secret, and deleted', async () => {
	const { clients } = await open();
	const created = await clients.create({ id: 'search', name: 'Search', scopes: ['invoke'] });
	expect(created).toEqual({ id: 'search', secret: expect.stringMatching(/^[\w-]{43}$/) as unknown });
	expect(await clients.create({ id: 'search', name: 'Again', scopes: ['invoke'] })).toBe('id_taken');
	expect(await clients.list()).toMatchObject([{ id: 'search', name: 'Search', scopes: ['invoke'], secrets: [{}] }]);
	expect(await clients.rotate('search', 60)).toEqual({ secret: expect.stringMatching(/^[\w-]{43}$/) as unknown });
	expect((await clients.list())[0]?.secrets).toHaveLength(2);
	expect(await clients.rotate('nobody', 60)).toBeUndefined();
	expect(await clients.delete('search')).toBe(true);
	expect(await clients.delete('search')).toBe(false);
});

test('the id of a configured client is taken: its secret would never work', async () => {
	const { clients } = await open();
	expect(await clients.create({ id: 'configured', name: 'x', scopes: ['invoke'] })).toBe('id_taken');
	expect(await clients.list()).toEqual([]);
});

test('a client joins its team, which is created if it is new', async () => {
	const { clients, dataDir } = await open();
	const create = (id: string) => clients.create({ id, name: 'x', scopes: ['invoke'], team: 'search' });
	expect(await create('one')).toMatchObject({ isTeamNew: true });
	expect(await create('two')).toMatchObject({ isTeamNew: false });
	const records = openSqliteRecords({ dataDir }, { clock: systemClock, log: silentLog });
	onTestFinished(() => records.close());
	expect(await records.teams.list()).toMatchObject([{ id: 'search', tier: 'sandbox', clientIds: ['one', 'two'] }]);
	const { entries } = await records.audit.list({ limit: 10 });
	expect(entries.map(({ actor, action, key }) => `${actor} ${action} ${key}`)).toEqual([
		'cli replace search',
		'cli create two',
		'cli create search',
		'cli create one',
	]);
});

test('a team that names the client already has it, and the secret is shown', async () => {
	const { clients, makeTeam } = await open();
	await makeTeam({ id: 'search', client_ids: ['other', 'one'] });
	const created = await clients.create({ id: 'one', name: 'x', scopes: ['invoke'], team: 'search' });
	expect(created).toEqual({ id: 'one', secret: expect.stringMatching(/^[\w-]{43}$/) as unknown, isTeamNew: false });
});

test.each(['new', 'there'])('a client of another team does not join one that is %s, and is shown with its secret', async (team) => {
	const { clients, makeTeam } = await open();
	await makeTeam({ id: 'search', client_ids: ['one'] });
	await makeTeam({ id: 'there' });
	const created = await clients.create({ id: 'one', name: 'x', scopes: ['invoke'], team });
	expect(created).toMatchObject({
		id: 'one',
		secret: expect.stringMatching(/^[\w-]{43}$/) as unknown,
		teamFailure: { exitCode: 1, message: expect.stringContaining('`search`') as unknown },
	});
	expect(await clients.list()).toMatchObject([{ id: 'one' }]);
});

test('a team of the configuration gets its clients there', async () => {
	const { clients } = await open();
	await expect(clients.create({ id: 'one', name: 'x', scopes: ['invoke'], team: 'pinned' })).rejects.toThrow('in the configuration');
	expect(await clients.list(), 'nothing was made').toEqual([]);
});
