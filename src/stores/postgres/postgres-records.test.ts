import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { postgresCertificate, postgresPassword, query } from '../../../test/support/postgres-server.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { type PostgresDatabase, sharePostgres } from '../../../test/support/shared-stores.ts';
import { plainBudget } from '../../core/budget.ts';
import type { Team } from '../../core/team.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import { systemClock as clock } from '../../io/system-clock.ts';
import { recordsContract } from '../contracts/records.contract.ts';
import type { RecordStore } from '../contracts/records.ts';
import { responseOwnersContract } from '../contracts/response-owners.contract.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { webhookDeliveriesContract } from '../contracts/webhook-deliveries.contract.ts';
import { openRecordsSnapshot } from '../records-snapshot.ts';
import { migratePostgres } from './migrate.ts';
import { openPostgresRecords } from './postgres-records.ts';
import { recordsSchema } from './records-schema.ts';

let server: PostgresDatabase;
let contractUrl: string;
let cleaner: Client;

beforeAll(async () => {
	server = await sharePostgres();
	contractUrl = await server.createDatabase();
	await (await openStore(contractUrl)).close();
	cleaner = new Client(contractUrl);
	await cleaner.connect();
});
afterAll(async () => {
	await cleaner.end();
	await server.stop();
});

recordsContract('postgres', async () => {
	const tables = ['clients', 'teams', 'budgets', 'price_overrides', 'routing_rules', 'audit', 'signing_keys', 'provider_reports'];
	await cleaner.query(tables.map((table) => `DELETE FROM tollgate.${table}`).join(';'));
	const stores = await Promise.all([openStore(contractUrl), openStore(contractUrl)]);
	return {
		stores,
		// Less than the second within which changes are announced.
		passSecond: () => new Promise((resolve) => setTimeout(resolve, 400)),
		async dispose() {
			await Promise.all(stores.map((store) => store.close()));
		},
	};
});

webhookDeliveriesContract('postgres', async () => {
	await cleaner.query('DELETE FROM tollgate.webhook_deliveries; DELETE FROM tollgate.webhook_subjects');
	const stores = await Promise.all([openStore(contractUrl), openStore(contractUrl)]);
	return {
		stores: [stores[0].webhookDeliveries, stores[1].webhookDeliveries],
		async dispose() {
			await Promise.all(stores.map((store) => store.close()));
		},
	};
});

responseOwnersContract('postgres', async () => {
	await cleaner.query('DELETE FROM tollgate.response_owners');
	const stores = await Promise.all([openStore(contractUrl), openStore(contractUrl)]);
	return {
		owners: [stores[0].responseOwners, stores[1].responseOwners],
		nowMs: () => clock.nowMs(),
		async dispose() {
			await Promise.all(stores.map((store) => store.close()));
		},
	};
});

test('a change counts here once it has been caught up with, without waiting for news of it', async () => {
	const records = await openStore(await server.createDatabase());
	const snapshot = await openRecordsSnapshot(records, [], { clock, log: createRecordingLog() });
	onTestFinished(async () => {
		snapshot.close();
		await records.close();
	});
	for (let number = 0; number < 20; number++) {
		await records.teams.create({ id: `team-${number}`, name: 'x', tier: 'sandbox', clientIds: [] });
		await snapshot.caughtUp();
		expect(snapshot.team(`team-${number}`)?.id).toBe(`team-${number}`);
	}
});

test('processes that start on an empty database at once all open it, and one of them creates a client', async () => {
	const url = await server.createDatabase();
	const script = `
		import { openPostgresRecords } from ${JSON.stringify(join(import.meta.dirname, 'postgres-records.ts'))};
		import { systemClock as clock } from ${JSON.stringify(join(import.meta.dirname, '../../io/system-clock.ts'))};
		const log = { debug() {}, info() {}, warn() {}, error() {} };
		const records = await openPostgresRecords({ url: ${JSON.stringify(url)} }, { clock, log });
		const record = { id: 'one', name: 'one', secrets: [], scopes: [], isDisabled: false, canSetAttributes: false, createdAtMs: 1, updatedAtMs: 1 };
		console.log(await records.clients.create(record));
		await records.close();`;
	const outcomes = await Promise.all(
		[1, 2, 3].map(async () => (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])).stdout.trim()),
	);
	expect(outcomes.toSorted()).toEqual(['created', 'id_taken', 'id_taken']);
});

test('what looks like SQL, or is beyond letters, is only a text', async () => {
	const records = await open();
	const ids = [
		`'; DROP TABLE tollgate.teams; --`,
		`x' OR '1'='1`,
		'$1',
		'{"a",NULL}',
		'a\\"b',
		'\u0001',
		'\u0000',
		'\u0001\u0001',
		'',
		'🂡',
		'%',
	];
	for (const id of ids) {
		expect(await records.teams.create(team(id, [id]), { author: { actor: id, atMs: 1, requestId: id } })).toBe('created');
		expect(await records.budgets.create({ ...plainBudget, ...budget(id), team: id, model: id })).toBe('created');
	}
	expect((await records.teams.list()).map(({ id, clientIds }) => [id, ...clientIds])).toEqual(
		ids.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))).map((id) => [id, id]),
	);
	for (const id of ids) {
		expect(await records.teams.create(team('other', [id]))).toBe('client_taken');
		expect((await records.audit.list({ kind: 'team', key: id, limit: 9 })).entries).toMatchObject([{ actor: id, requestId: id, key: id }]);
		expect(await records.teams.delete(id)).toBe('deleted');
	}
	expect(await records.budgets.list()).toEqual([]);
});

test('many who change one record at once do so one after the other', async () => {
	const url = await server.createDatabase();
	const first = await open(url);
	const stores = [first, await open(url), await open(url)];
	const storeOf = (index: number): RecordStore => stores[index % 3] ?? first;
	await first.teams.create(team('red'));
	for (let round = 0; round < 3; round++) {
		const ifVersion = (await first.teams.get('red'))?.version ?? -1;
		const replacing = Array.from({ length: 18 }, (_, index) => storeOf(index).teams.replace(team('red', [`c${index}`]), { ifVersion }));
		const outcomes = await Promise.all(replacing);
		expect(outcomes.filter((outcome) => outcome === 'replaced')).toHaveLength(1);
		expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(17);
		expect((await storeOf(1).teams.get('red'))?.clientIds).toEqual([`c${outcomes.indexOf('replaced')}`]);
	}
	const created = await Promise.all(Array.from({ length: 30 }, (_, index) => storeOf(index).teams.create(team(`t${index}`))));
	expect(new Set(created)).toEqual(new Set(['created']));
	const versions = (await first.teams.list()).map(({ version }) => version);
	expect(new Set(versions).size).toBe(31);
	expect(Math.max(...versions)).toBe(34);
});

test('a change whose audit entry cannot be written is not made', async () => {
	const url = await server.createDatabase();
	const records = await open(url);
	await query(url, 'ALTER TABLE tollgate.audit ADD CHECK (false)');
	await expect(records.teams.create(team('red'), { author: { actor: 'cli', atMs: 1 } })).rejects.toThrow(UpstreamError);
	expect(await records.teams.list()).toEqual([]);
	expect(await records.teams.create(team('red'))).toBe('created');
});

test('a database that fails is a fault, which shows nothing of the record', async () => {
	const url = await server.createDatabase();
	const records = await open(url);
	await query(url, 'ALTER TABLE tollgate.signing_keys ADD CHECK (false)');
	const key = { kid: 'k1', privateJwk: 'very private', createdAtMs: 1, activeFromMs: 2, retiredAtMs: null };
	const failure = await records.signingKeys.rotate(key, null, []).catch((cause: unknown) => cause);
	expect(failure).toBeInstanceOf(UpstreamError);
	expect(failure).toHaveProperty('code', 'records_unavailable');
	expect(textOf(failure)).toContain('violates check constraint');
	expect(textOf(failure)).not.toContain('very private');
});

test('a database of a newer release is not changed', async () => {
	const url = await server.createDatabase();
	await (await open(url)).close();
	await query(url, 'UPDATE tollgate.schema_versions SET version = 99');
	const rejection = await openStore(url).catch((cause: unknown) => cause);
	expect(rejection).toBeInstanceOf(StoreUnusable);
	expect(String(rejection)).toMatch(/was written by a newer release \(schema 99 of the records, this release knows \d+\)/);
	expect(await query(url, 'SELECT version FROM tollgate.schema_versions')).toEqual([{ version: 99 }]);
});

test('migrating says from which version to which, and a step that fails leaves nothing behind', async () => {
	const url = await server.createDatabase();
	const deps = { clock, log: createRecordingLog() };
	const trial = { name: 'trial', steps: ['CREATE TABLE tollgate.trial (one integer)'] };
	expect(await migratePostgres({ url }, [recordsSchema, trial], deps)).toEqual([
		{ part: 'records', fromVersion: 0, toVersion: recordsSchema.steps.length },
		{ part: 'trial', fromVersion: 0, toVersion: 1 },
	]);
	const next = { ...trial, steps: [...trial.steps, 'ALTER TABLE tollgate.trial ADD COLUMN two integer', 'SELECT no_such_thing'] };
	await expect(migratePostgres({ url }, [next], deps)).rejects.toThrow(/column "no_such_thing" does not exist \(SQLSTATE 42703\)/);
	expect(await query(url, 'SELECT * FROM tollgate.trial')).toEqual([]);
	expect(await migratePostgres({ url }, [{ ...next, steps: next.steps.slice(0, 2) }], deps)).toEqual([
		{ part: 'trial', fromVersion: 1, toVersion: 2 },
	]);
});

test('a user who may not change the schema works with one that is up to date', async () => {
	const url = await server.createDatabase();
	await (await open(url)).close();
	await query(
		url,
		`CREATE ROLE worker LOGIN PASSWORD 'worker'; GRANT USAGE ON SCHEMA tollgate TO worker;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA tollgate TO worker`,
	);
	onTestFinished(async () => void (await query(url, 'DROP OWNED BY worker; DROP ROLE worker')));
	const records = await open(url.replace(/\/\/.*@/, '//worker:worker@'));
	expect(await records.teams.create(team('red'), { author: { actor: 'cli', atMs: 1 } })).toBe('created');
});

test.each([
	[
		'a wrong password',
		(url: string) => url.replace(/:[^:@]*@/, ':not%20the%20secret@'),
		/password authentication failed for user "postgres"/,
	],
	['a database that is not there', (url: string) => `${url}-other`, /database "database_\d+-other" does not exist/],
	[
		'a port where nobody listens',
		(url: string) => url.replace(/:\d+\//, ':1/'),
		/postgres:\/\/127\.0\.0\.1:1\/database_\d+: connect ECONNREFUSED/,
	],
	['a password that is not encoded', (url: string) => url.replace(/:[^:@]*@/, ':1/not%20the%20secret?#@'), /percent-encoded/],
	['another scheme', (url: string) => url.replace('postgres:', 'mysql:'), /write postgres:\/\//],
	['a certificate that is not there', (url: string) => `${url}?sslrootcert=/nowhere.pem`, /\/nowhere\.pem/],
])('%s is said without the password', async (_, change, complaint) => {
	const log = createRecordingLog();
	const url = change(await server.createDatabase());
	const rejection = await openPostgresRecords({ url }, { clock, log }).catch((cause: unknown) => cause);
	expect(rejection).toBeInstanceOf(StoreUnusable);
	expect(String(rejection)).toMatch(complaint);
	const said = textOf(rejection) + JSON.stringify(log.lines);
	for (const secret of [postgresPassword, encodeURIComponent(postgresPassword), 'not the secret', 'not%20the%20secret']) {
		expect(said).not.toContain(secret);
	}
});

test('TLS is as the URL says', async () => {
	const url = await server.createDatabase();
	const isEncrypted = async (parameters: string): Promise<unknown> =>
		(await query(`${url}${parameters}`, 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'))[0]?.['ssl'];
	expect(await isEncrypted('')).toBe(false);
	expect(await isEncrypted(`?sslmode=verify-full&sslrootcert=${postgresCertificate}`)).toBe(true);
	expect(await isEncrypted('?sslmode=no-verify')).toBe(true);
	const records = await open(`${url}?sslmode=verify-full&sslrootcert=${postgresCertificate}`);
	expect(await records.teams.create(team('red'))).toBe('created');
	await expect(openStore(`${url}?sslmode=verify-full`)).rejects.toThrow(/self-signed certificate/);
});

async function open(url?: string): Promise<RecordStore> {
	const store = await openStore(url ?? (await server.createDatabase()));
	onTestFinished(() => store.close());
	return store;
}

function openStore(url: string): Promise<RecordStore> {
	return openPostgresRecords({ url }, { clock, log: createRecordingLog() });
}

/** An error with its causes and all of their properties, as a careless log would show it. */
function textOf(cause: unknown): string {
	if (!(cause instanceof Error)) return JSON.stringify(cause) ?? '';
	return `${cause.message} ${cause.stack ?? ''} ${JSON.stringify(cause)} ${textOf(cause.cause)}`;
}

function team(id: string, clientIds: string[] = []): Team {
	return { id, name: `Team ${id}`, tier: 'standard', clientIds };
}

function budget(id: string) {
	return {
		id,
		limitNanoUsd: 1n,
		warningThresholdPercent: 80,
		hardLimitPercent: 100,
		createdAtMs: 1,
		updatedAtMs: 1,
	};
}
