import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type PostgresServer, query, startPostgres } from '../../../test/support/postgres-server.ts';
import { eventually } from '../../../test/support/product.ts';
import { createRecordingLog, type RecordingLog } from '../../../test/support/recording-log.ts';
import type { Team } from '../../core/team.ts';
import { systemClock as clock } from '../../io/system-clock.ts';
import type { RecordStore } from '../contracts/records.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { openRecordsSnapshot } from '../records-snapshot.ts';
import { openPostgresRecords } from './postgres-records.ts';

/** Short deadline of the stores under test, instead of five seconds. */
const deadlineMs = 1000;

let server: PostgresServer;
let url: string;
let log: RecordingLog;

beforeAll(async () => {
	server = await startPostgres('fsync=off');
});
afterAll(() => server.stop());
beforeEach(async () => {
	url = await server.createDatabase();
	log = createRecordingLog();
});

test('while the server is silent every method fails within the deadline, and works again afterwards', async () => {
	const records = await open();
	await records.teams.create(team('red'));
	server.pause();
	onTestFinished(() => server.resume());
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
	// A timer of this thread, as the deadline is: a busy machine delays both.
	const tooLate = new Promise<never>((_, reject) => setTimeout(reject, deadlineMs + 300, new Error('too late')));
	const failing = Promise.all(
		[
			records.clients.get('one'),
			records.clients.list(),
			records.clients.create(record),
			records.clients.replace(record),
			records.clients.delete('one'),
			records.teams.get('red'),
			records.teams.list(),
			records.teams.create(team('blue')),
			records.teams.replace(team('red')),
			records.teams.delete('red'),
			records.budgets.list(),
			records.priceOverrides.list(),
			records.audit.list({ limit: 1 }),
			records.signingKeys.list(),
			records.signingKeys.prune(1),
		].map((attempt: Promise<unknown>) => attempt.catch((cause: unknown) => cause)),
	);
	const failures = await Promise.race([failing, tooLate]);
	for (const failure of failures) expect(failure).toMatchObject({ name: 'UpstreamError', code: 'records_unavailable' });
	server.resume();
	expect((await records.teams.list()).map(({ id }) => id)).toContain('red');
	expect(await records.teams.create(team('green'))).toBe('created');
});

test('a server that was killed fails at once, and is used again when it is back, with all that it said was done', async () => {
	const records = await open();
	for (const id of ['a', 'b', 'c']) await records.teams.create(team(id));
	const busy = Array.from({ length: 8 }, (_, index) => records.teams.create(team(`d${index}`)).catch((cause: unknown) => cause));
	await server.kill();
	const outcomes = await Promise.all(busy);
	const startedAtMs = performance.now();
	await expect(records.teams.list()).rejects.toMatchObject({ code: 'records_unavailable' });
	await expect(records.teams.create(team('e'))).rejects.toMatchObject({ code: 'records_unavailable' });
	expect(performance.now() - startedAtMs).toBeLessThan(deadlineMs);
	await expect(openPostgresRecords({ url, deadlineMs }, { clock, log })).rejects.toThrow(StoreUnusable);
	await server.restart();
	const found = (await records.teams.list()).map(({ id }) => id);
	expect(found).toEqual(
		expect.arrayContaining([
			'a',
			'b',
			'c',
			...[0, 1, 2, 3, 4, 5, 6, 7].filter((index) => outcomes[index] === 'created').map((index) => `d${index}`),
		]),
	);
	expect(await records.teams.create(team('e'))).toBe('created');
});

test('a snapshot follows the records over an outage', async () => {
	const [records, others] = [await open(), await open()];
	const snapshot = await openRecordsSnapshot(records, [], { clock, log });
	onTestFinished(() => snapshot.close());
	await others.teams.create(team('red'));
	await withinSecond('red is known', () => snapshot.team('red'));
	await server.kill();
	await expect(others.teams.list()).rejects.toMatchObject({ code: 'records_unavailable' });
	await eventually('the loss is noticed', () => log.lines.find(({ event }) => event === 'record changes cannot be watched'));
	expect(snapshot.team('red')?.id).toBe('red');
	await server.restart();
	await others.teams.create(team('blue'));
	await withinSecond('blue is known', () => snapshot.team('blue'));
	expect(log.lines.map(({ event }) => event)).toContain('records are watched for changes again');
});

test('a store that may come late opens while the server is unavailable, fails each operation, and works once the server does', async () => {
	await server.kill();
	const late = await openPostgresRecords({ url, deadlineMs, canComeLate: true }, { clock, log });
	onTestFinished(() => late.close());
	const snapshot = await openRecordsSnapshot(late, [], { clock, log });
	onTestFinished(() => snapshot.close());
	expect(snapshot.isLoaded).toBe(false);
	await expect(late.teams.list()).rejects.toMatchObject({ name: 'UpstreamError', code: 'records_unavailable' });
	await server.restart();
	// Its tables do not exist yet.
	await eventually('it is read', () => (snapshot.isLoaded ? true : undefined));
	expect(await late.teams.create(team('red'))).toBe('created');
	await withinSecond('red is known', () => snapshot.team('red'));
	expect(log.lines.map(({ event }) => event).filter((event) => event.includes('in PostgreSQL'))).toEqual([
		'records in PostgreSQL is not usable yet',
		'records in PostgreSQL is usable again',
	]);
});

test('a store that may come late does not wait for a silent server, and fails on a problem that somebody must correct', async () => {
	server.pause();
	onTestFinished(() => server.resume());
	const late = await openPostgresRecords({ url, canComeLate: true }, { clock, log });
	onTestFinished(() => late.close());
	server.resume();
	expect(await late.teams.create(team('red'))).toBe('created');
	const stranger = url.replace(/\/\/.*@/, '//stranger:wrong@');
	await expect(openPostgresRecords({ url: stranger, canComeLate: true }, { clock, log })).rejects.toThrow(StoreUnusable);
	await query(url, 'UPDATE tollgate.schema_versions SET version = 1000');
	await expect(openPostgresRecords({ url, canComeLate: true }, { clock, log })).rejects.toThrow('newer release');
});

test('a change that could not be read is announced again', async () => {
	const [records, others] = [await open(), await open()];
	const snapshot = await openRecordsSnapshot(records, [], { clock, log });
	onTestFinished(() => snapshot.close());
	await listening(1);
	await query(url, 'ALTER TABLE tollgate.price_overrides RENAME TO away');
	await others.teams.create(team('red'));
	await eventually('a read fails', () => log.lines.find(({ level }) => level === 'error'));
	await query(url, 'ALTER TABLE tollgate.away RENAME TO price_overrides');
	expect(await withinSecond('red is known', () => snapshot.team('red'))).toHaveProperty('id', 'red');
});

test('a store is closed within two seconds also when the server is silent', async () => {
	const socketsBefore = countSockets();
	const records = await open();
	countChanges(records);
	await listening(1);
	server.pause();
	onTestFinished(() => server.resume());
	const reading = records.teams.list().catch((cause: unknown) => cause);
	const tooLate = new Promise((resolve) => setTimeout(resolve, 2000, 'too late'));
	expect(await Promise.race([Promise.all([records.close(), reading]), tooLate])).not.toBe('too late');
	// No socket that would keep the process alive.
	await eventually('its sockets are gone', () => (countSockets() <= socketsBefore ? true : undefined));
});

test('a change without a notification is found', async () => {
	const [records, others] = [await open(), await open()];
	const changes = countChanges(records);
	await listening(1);
	// Both at once: the notification of the change finds no listener.
	await query(
		url,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query SIMILAR TO '(LISTEN|SELECT last)%'`,
	);
	await others.teams.create(team('red'));
	await withinSecond('the change is reported', () => (changes.count > 0 ? true : undefined));
	await listening(1);
	await others.teams.create(team('blue'));
	await withinSecond('the next one too', () => (changes.count > 1 ? true : undefined));
	expect(changes.count).toBe(2);
	await query(url, `SELECT pg_notify('tollgate_records', payload) FROM unnest('{x,"",1e99}'::text[]) AS payload`);
	await others.teams.create(team('green'));
	await eventually('nonsense that others tell harms nothing', () => (changes.count > 3 ? true : undefined));
});

test('where the server grants no connection for notifications, changes are found by asking', async () => {
	await (await open()).close();
	await query(
		url,
		`CREATE ROLE lone LOGIN PASSWORD 'lone' CONNECTION LIMIT 1; GRANT ALL ON SCHEMA tollgate TO lone; GRANT ALL ON ALL TABLES IN SCHEMA tollgate TO lone`,
	);
	const records = await openPostgresRecords({ url: url.replace(/\/\/.*@/, '//lone:lone@'), poolSize: 1, deadlineMs }, { clock, log });
	onTestFinished(() => records.close());
	const changes = countChanges(records);
	await (await open()).teams.create(team('red'));
	await withinSecond('the change is reported', () => (changes.count > 0 ? true : undefined));
	expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

test('a return to an earlier state, as after a restore, is announced', async () => {
	const records = await open();
	await records.teams.create(team('red'));
	const changes = countChanges(records);
	await query(url, 'DELETE FROM tollgate.teams; UPDATE tollgate.record_versions SET last = 0');
	await withinSecond('the change is reported', () => (changes.count > 0 ? true : undefined));
	await (await open()).teams.create(team('blue'));
	await withinSecond('the next one too', () => (changes.count > 1 ? true : undefined));
	expect(changes.count).toBe(2);
});

test('a read-only server serves reads, rejects changes soon, and allows a start', async () => {
	const records = await open();
	await records.teams.create(team('red'));
	await setReadOnly(true);
	await comesTrue('reads work again', () => records.teams.list());
	await expect(records.teams.create(team('blue'))).rejects.toMatchObject({ code: 'records_unavailable' });
	expect((await (await open()).teams.list()).map(({ id }) => id)).toEqual(['red']);
	await setReadOnly(false);
	await comesTrue('changes work again', () => records.teams.create(team('green')));
});

async function setReadOnly(isReadOnly: boolean): Promise<void> {
	const database = new URL(url).pathname.slice(1);
	await query(server.url, `ALTER DATABASE ${database} ${isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET ALL'}`);
	await query(server.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`);
}

async function comesTrue(what: string, attempt: () => Promise<unknown>): Promise<void> {
	await eventually(what, () =>
		attempt().then(
			() => true as const,
			() => undefined,
		),
	);
}

test('somebody who holds the records for a change makes others fail, not wait for ever, and loses them', async () => {
	const [records, others] = [await open(), await open()];
	const holder = query(
		url,
		`BEGIN; SELECT * FROM tollgate.record_versions FOR UPDATE; SELECT pg_sleep(${(1.5 * deadlineMs) / 1000}); COMMIT`,
	);
	await eventually('the lock is held', async () => (await lockWaits()) || undefined);
	await expect(records.teams.create(team('red'))).rejects.toMatchObject({ code: 'records_unavailable' });
	expect(await others.teams.list()).toEqual([]);
	await holder;
	expect(await others.teams.create(team('red'))).toBe('created');
});

async function open(): Promise<RecordStore> {
	const store = await openPostgresRecords({ url, deadlineMs }, { clock, log });
	onTestFinished(() => store.close());
	return store;
}

function countSockets(): number {
	return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

function countChanges(records: RecordStore): { count: number } {
	const changes = { count: 0 };
	records.onChange(() => changes.count++);
	return changes;
}

function withinSecond<T>(what: string, probe: () => T | undefined): Promise<T> {
	return eventually(what, probe, 1000);
}

/** Waits for this number of connections that listen for changes. */
async function listening(count: number): Promise<void> {
	const statement = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT last FROM tollgate.record_versions'`;
	await eventually('a connection listens', async () => ((await query(url, statement)).length === count ? true : undefined));
}

async function lockWaits(): Promise<boolean> {
	return (await query(url, `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`)).length > 0;
}

function team(id: string): Team {
	return { id, name: `Team ${id}`, tier: 'standard', clientIds: [] };
}
