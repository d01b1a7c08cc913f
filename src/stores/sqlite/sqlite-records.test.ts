import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { recordsContract } from '../contracts/records.contract.ts';
import type { RecordStore } from '../contracts/records.ts';
import { responseOwnersContract } from '../contracts/response-owners.contract.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { webhookDeliveriesContract } from '../contracts/webhook-deliveries.contract.ts';
import { openSqliteRecords, recordsSchema } from './sqlite-records.ts';
import { createSqliteResponseOwners, responseOwnersFileName, type SqliteResponseOwners } from './sqlite-response-owners.ts';
import { createSqliteWebhookDeliveries } from './sqlite-webhook-deliveries.ts';

recordsContract('sqlite', async () => {
	const dataDir = makeDirectory();
	const clock = new ManualClock();
	const deps = { clock, log: createRecordingLog() };
	const stores: [RecordStore, RecordStore] = [openSqliteRecords({ dataDir }, deps), openSqliteRecords({ dataDir }, deps)];
	return {
		stores,
		passSecond: () => clock.advance(1000),
		async dispose() {
			for (const store of stores) await store.close();
			rmSync(dataDir, { recursive: true });
		},
	};
});

webhookDeliveriesContract('sqlite', async () => {
	const dataDir = makeDirectory();
	const [one, other] = [createSqliteWebhookDeliveries(dataDir), createSqliteWebhookDeliveries(dataDir)];
	return {
		stores: [one, other],
		async dispose() {
			one.close();
			other.close();
			rmSync(dataDir, { recursive: true });
		},
	};
});

responseOwnersContract('sqlite', async () => {
	const dataDir = makeDirectory();
	const clock = new ManualClock();
	const owners: [SqliteResponseOwners, SqliteResponseOwners] = [
		createSqliteResponseOwners(dataDir, clock),
		createSqliteResponseOwners(dataDir, clock),
	];
	return {
		owners,
		nowMs: () => clock.nowMs(),
		async dispose() {
			for (const store of owners) store.close();
			rmSync(dataDir, { recursive: true });
		},
	};
});

test('response owners are there after the file is opened again, are no change of the records, and a lost file is an upstream error', async () => {
	const dataDir = temporaryDirectory();
	const first = open(dataDir);
	let notifications = 0;
	first.onChange(() => notifications++);
	const owner = { team: 'red', provider: 'provider_b', model: 'gpt-5.6', expiresAtMs: Date.UTC(2100, 0) };
	await first.responseOwners.note(['resp_1'], owner);
	await first.close();
	expect(notifications).toBe(0);
	const second = open(dataDir);
	expect(await second.responseOwners.find(['resp_1'])).toEqual(new Map([['resp_1', owner]]));
	const database = new DatabaseSync(join(dataDir, responseOwnersFileName));
	database.exec('DROP TABLE response_owners');
	database.close();
	for (const attempt of [second.responseOwners.find(['resp_1']), second.responseOwners.note(['resp_2'], owner)]) {
		expect(await attempt.catch((cause: unknown) => cause)).toMatchObject({ name: 'UpstreamError', code: 'records_unavailable' });
	}
});

test('what was written is there after the file is opened again', async () => {
	const dataDir = temporaryDirectory();
	const first = open(dataDir);
	await first.teams.create({ id: 'red', name: 'Red', tier: 'standard', clientIds: ['one'] });
	await first.close();
	expect(await open(dataDir).teams.list()).toEqual([{ id: 'red', name: 'Red', tier: 'standard', clientIds: ['one'], version: 1 }]);
});

test('directory and files are for their owner only', async () => {
	const dataDir = join(temporaryDirectory(), 'deep', 'data');
	await open(dataDir).teams.create({ id: 'red', name: 'Red', tier: 'standard', clientIds: [] });
	const modes = ['', 'records.db', 'records.db-wal', 'records.db-shm'].map((name) => statSync(join(dataDir, name)).mode & 0o777);
	expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
});

test('processes that start on an empty directory at once all open it, and one of them creates a client', async () => {
	const dataDir = join(temporaryDirectory(), 'data');
	const script = `
		import { openSqliteRecords } from ${JSON.stringify(join(import.meta.dirname, 'sqlite-records.ts'))};
		const clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => ({ cancel() {} }) };
		const log = { debug() {}, info() {}, warn() {}, error() {} };
		const records = openSqliteRecords({ dataDir: ${JSON.stringify(dataDir)} }, { clock, log });
		const record = { id: 'one', name: 'one', secrets: [], scopes: [], isDisabled: false, canSetAttributes: false, createdAtMs: 1, updatedAtMs: 1 };
		console.log(await records.clients.create(record));`;
	const outcomes = await Promise.all(
		[1, 2, 3].map(async () => (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])).stdout.trim()),
	);
	expect(outcomes.toSorted()).toEqual(['created', 'id_taken', 'id_taken']);
});

test('a file that is no database is named, with what to do', () => {
	const dataDir = temporaryDirectory();
	writeFileSync(join(dataDir, 'records.db'), 'shopping list, rather longer than one header of a database file '.repeat(40));
	expect(() => open(dataDir)).toThrow(StoreUnusable);
	expect(() => open(dataDir)).toThrow(`${join(dataDir, 'records.db')} is not a Tollgate database`);
});

test('a data directory that is a file is named', () => {
	const dataDir = join(temporaryDirectory(), 'data');
	writeFileSync(dataDir, '');
	expect(() => open(dataDir)).toThrow(`The data directory ${dataDir} cannot be created: a file with this name exists`);
});

test('a database that is a directory is named', () => {
	const dataDir = temporaryDirectory();
	mkdirSync(join(dataDir, 'records.db'));
	expect(() => open(dataDir)).toThrow(`${join(dataDir, 'records.db')} is a directory`);
});

test('a data directory that this user may not write is named', () => {
	const dataDir = temporaryDirectory();
	chmodSync(dataDir, 0o500);
	onTestFinished(() => chmodSync(dataDir, 0o700));
	const complaint = process.getuid?.() === 0 ? complaintOfUnprivilegedUser(dataDir) : messageOf(() => open(join(dataDir, 'deep')));
	expect(complaint).toContain(`The data directory ${join(dataDir, 'deep')} is not writable for this user`);
});

test('a file of a newer release is not changed', async () => {
	const dataDir = temporaryDirectory();
	await open(dataDir).close();
	const database = new DatabaseSync(join(dataDir, 'records.db'));
	database.exec('PRAGMA user_version = 99');
	expect(() => open(dataDir)).toThrow('it was written by a newer release (schema 99');
	expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
	database.close();
});

test('a file of the first release is taken over', async () => {
	const dataDir = temporaryDirectory();
	const database = new DatabaseSync(join(dataDir, 'records.db'));
	database.exec(recordsSchema[0] ?? '');
	database.exec("PRAGMA user_version = 1; INSERT INTO teams VALUES ('blue', 'Blue', 'standard'), ('red', 'Red', 'premium')");
	database.exec("INSERT INTO team_clients VALUES ('one', 'red', 0)");
	database.close();
	const records = open(dataDir);
	expect(await records.teams.list()).toEqual([
		{ id: 'blue', name: 'Blue', tier: 'standard', clientIds: [], version: 1 },
		{ id: 'red', name: 'Red', tier: 'premium', clientIds: ['one'], version: 2 },
	]);
	await records.teams.create({ id: 'green', name: 'Green', tier: 'standard', clientIds: [] });
	expect(await records.teams.get('green')).toHaveProperty('version', 3);
});

test('a change whose audit entry cannot be written is not made', async () => {
	const dataDir = temporaryDirectory();
	const records = open(dataDir);
	const database = new DatabaseSync(join(dataDir, 'records.db'));
	database.exec("CREATE TRIGGER refuse BEFORE INSERT ON audit BEGIN SELECT raise(ABORT, 'no'); END");
	database.close();
	const team = { id: 'red', name: 'Red', tier: 'standard', clientIds: ['one'] };
	await expect(records.teams.create(team, { author: { actor: 'cli', atMs: 1 } })).rejects.toThrow(UpstreamError);
	expect(await records.teams.list()).toEqual([]);
	expect(await records.teams.create(team)).toBe('created');
});

test('a database that fails is an upstream error, not an internal error', async () => {
	const dataDir = temporaryDirectory();
	const records = open(dataDir);
	const database = new DatabaseSync(join(dataDir, 'records.db'));
	database.exec('DROP TABLE client_secrets');
	database.close();
	const record = {
		id: 'one',
		name: 'one',
		secrets: [],
		scopes: [],
		isDisabled: false,
		canSetAttributes: false,
		createdAtMs: 1,
		updatedAtMs: 1,
	};
	const failure = await records.clients.create(record).catch((cause: unknown) => cause);
	expect(failure).toBeInstanceOf(UpstreamError);
	expect(failure).toHaveProperty('code', 'records_unavailable');
	expect(await records.teams.list()).toEqual([]);
});

function open(dataDir: string): RecordStore {
	const store = openSqliteRecords({ dataDir }, { clock: new ManualClock(), log: createRecordingLog() });
	onTestFinished(() => store.close());
	return store;
}

function temporaryDirectory(): string {
	const path = makeDirectory();
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

function makeDirectory(): string {
	return mkdtempSync(join(tmpdir(), 'tollgate-records-'));
}

function messageOf(attempt: () => unknown): string {
	try {
		attempt();
		return '';
	} catch (cause) {
		return cause instanceof StoreUnusable ? cause.message : String(cause);
	}
}

/** File modes do not stop root, so the attempt runs in a process of the user `nobody`. */
function complaintOfUnprivilegedUser(dataDir: string): string {
	const script = `
		const { openSqliteRecords } = await import(${JSON.stringify(join(import.meta.dirname, 'sqlite-records.ts'))});
		process.setuid(65534);
		try {
			openSqliteRecords({ dataDir: ${JSON.stringify(join(dataDir, 'deep'))} }, {});
		} catch (cause) {
			console.log(cause.name + ': ' + cause.message);
		}`;
	return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
}
