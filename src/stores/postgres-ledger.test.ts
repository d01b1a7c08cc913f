import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../test/support/close-entry.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { query } from '../../test/support/postgres-server.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { type PostgresDatabase, sharePostgres } from '../../test/support/shared-stores.ts';
import { attributesText } from '../core/attributes.ts';
import { boundedAttributesContract } from './contracts/attributes.contract.ts';
import { closedEntry, ledgerContract, ledgerNoonMs, openEntry } from './contracts/ledger.contract.ts';
import type { Ledger, LedgerReader, OpenEntry, SummaryQuery } from './contracts/ledger.ts';
import { StoreUnusable } from './contracts/store-unusable.ts';
import { postgresLedgerSchema } from './postgres/ledger/postgres-ledger-schema.ts';
import { migratePostgres } from './postgres/migrate.ts';
import { openPostgresLedger, openPostgresLedgerReader, type PostgresLedger, type PostgresLedgerSettings } from './postgres-ledger.ts';
import { openSqliteLedger, openSqliteLedgerReader } from './sqlite/sqlite-ledger.ts';

const hourMs = 3_600_000;
const november: SummaryQuery = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 11, 1), period: 'month' };

let server: PostgresDatabase;
beforeAll(async () => {
	server = await sharePostgres();
});
afterAll(() => server.stop());

// Threads take long to start, so that one ledger serves all tests.
let contracted: { readonly ledger: Ledger; readonly dataDir: string; readonly url: string } | undefined;
ledgerContract('postgres', async () => {
	contracted ??= await (async () => {
		const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
		const url = await server.createDatabase();
		return { ledger: await openPostgresLedger({ url, dataDir, durability: 'process', retainDays: null }, deps()), dataDir, url };
	})();
	const { ledger, dataDir, url } = contracted;
	return {
		ledger,
		async dispose() {
			await ledger.list({ limit: 1 });
			change(dataDir, 'DELETE FROM calls; DELETE FROM hourly; DELETE FROM daily; UPDATE progress SET pruned_before_ms = 0');
			await query(url, 'TRUNCATE tollgate.ledger_calls, tollgate.ledger_hourly, tollgate.ledger_daily, tollgate.ledger_attribute_sets');
			await query(url, 'UPDATE tollgate.ledger_progress SET pruned_before_ms = 0');
		},
	};
});
afterAll(async () => {
	if (contracted === undefined) return;
	await contracted.ledger.end();
	rmSync(contracted.dataDir, { recursive: true });
});

boundedAttributesContract(async () => (await open()).ledger);

describe('the local file', () => {
	test('of an installation that had no PostgreSQL keeps its entries, and sends none of them', async () => {
		const dataDir = temporaryDirectory();
		const embedded = await openSqliteLedger({ dataDir, durability: 'process', retainDays: null }, deps());
		await openAndClose(embedded, 'old');
		await embedded.open(openEntry('old and running'));
		await embedded.end();
		const { ledger } = await open({ dataDir });
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['old and running']);
		await openAndClose(ledger, 'new');
		expect(await idsIn(ledger)).toEqual(['new']);
		await ledger.open(openEntry('running'));
		await ledger.end();

		// Used again: PostgreSQL receives the ends of entries that it already has.
		const { ledger: again } = await (async () => {
			const back = await openSqliteLedger({ dataDir, durability: 'process', retainDays: null }, deps());
			expect(await back.closeInterrupted()).toHaveLength(1);
			await openAndClose(back, 'between');
			expect(await idsIn(back)).toEqual(['between', 'running', 'new', 'old and running', 'old']);
			await back.end();
			return open({ dataDir, url });
		})();
		expect(await idsIn(again)).toEqual(['running', 'new']);
		expect((await again.list({ limit: 1 })).rows[0]?.closed?.outcome).toBe('interrupted');
		expect(await again.check()).toEqual([]);
	});

	test('loses entries a day after they were sent, and none that were not', async () => {
		const sent = temporaryDirectory();
		const unsent = temporaryDirectory();
		const started = { startedMs: ledgerNoonMs - 26 * hourMs };
		const { ledger, clock } = await open({ dataDir: sent });
		const discarded = await open({ dataDir: unsent, url: 'postgres://nobody@127.0.0.1:1/nothing' });
		for (const { ledger: each } of [{ ledger }, discarded]) {
			await openAndClose(each, 'old', started);
			await openAndClose(each, 'new');
			await each.open(openEntry('old and running', started));
		}
		expect(await idsIn(ledger)).toHaveLength(3);
		clock.advance(hourMs);
		discarded.clock.advance(hourMs);
		await expect.poll(() => idsInFile(sent), { interval: 10 }).toEqual(['old and running', 'new']);
		expect(await idsInFile(unsent)).toEqual(['old and running', 'new', 'old']);
		expect(await idsIn(ledger)).toHaveLength(3);
		await closeEntry(ledger, closedEntry('old and running'));
		expect(await ledger.check()).toEqual([]);
	});
});

test('an earlier release’s database is migrated: estimated costs are read from its entries, assessments have their new names', async () => {
	const url = await server.createDatabase();
	await migratePostgres({ url }, [{ ...postgresLedgerSchema, steps: postgresLedgerSchema.steps.slice(0, 3) }], deps());
	const day = Math.floor(ledgerNoonMs / (24 * hourMs));
	await query(url, `SELECT tollgate.ledger_make_day(${day})`);
	await query(
		url,
		`INSERT INTO tollgate.ledger_calls SELECT n, 'call' || n, ${ledgerNoonMs}, 'red', 'c', 'p', 'claude', 'chat', false, '', '[]', 0, 'complete',
			${ledgerNoonMs}, 200, n % 2 = 1, 1, 0, 0, 0, 1, 0, 100 FROM generate_series(1, 3) AS n`,
	);
	const sums = `'red', 'c', 'p', 'claude', 3, 3, 0, 0, 0, 3, 0, 300`;
	await query(url, `INSERT INTO tollgate.ledger_hourly VALUES (${Math.floor(ledgerNoonMs / hourMs)}, ${sums})`);
	await query(url, `INSERT INTO tollgate.ledger_daily VALUES (${day}, ${sums})`);
	await query(
		url,
		`INSERT INTO tollgate.assessments (request_id, at_ms, team, stage, policy, category, action, outcome, count)
			SELECT 'call1', ${ledgerNoonMs}, 'red', 'input', policy, 'mod.hate', 'NONE', outcome, 1
			FROM (VALUES ('engine', 'tripped'), ('engine2', 'failed'), ('words', 'tripped')) AS found (policy, outcome)`,
	);
	const { ledger } = await open({ url });
	expect(await ledger.summarize(november)).toMatchObject([{ model: 'claude', costNanoUsd: 300n, estimatedCostNanoUsd: 200n }]);
	expect((await ledger.listAssessments({ limit: 9 })).assessments.map(({ policy, outcome }) => `${policy} ${outcome}`).toSorted()).toEqual([
		'engine2 failed',
		'moderation matched',
		'words matched',
	]);
	expect(await ledger.check()).toEqual([]);
	// Sums of the migrated tables and new ones stand next to each other.
	const attributes = '{"project":"search"}';
	await openAndClose(ledger, 'new', { clientId: 'c', provider: 'p', attributes });
	const split = await ledger.summarize({ ...november, by: ['model', 'endpoint', 'attributes'] });
	expect(split.map((sum) => [sum.model, sum.endpoint, sum.attributes, sum.requests, sum.costNanoUsd])).toEqual([
		['claude', '', '', 3, 300n],
		['claude', '/v1/chat/completions', attributes, 1, 1234n],
	]);
	const listed = (await ledger.list({ limit: 9 })).rows.map((row) => `${row.id} ${row.endpoint} ${row.attributes}`);
	expect(listed.toSorted()).toEqual(['call1  ', 'call2  ', 'call3  ', `new /v1/chat/completions ${attributes}`]);
	expect(await ledger.check()).toEqual([]);
});

describe('upkeep', () => {
	test('charges requests their reservation whose directory was lost with its process, once', async () => {
		const { ledger: lost } = await open();
		for (const id of ['a', 'b']) await lost.open(openEntry(id, { reservedNanoUsd: 777n }));
		await openAndClose(lost, 'c');
		await lost.end();
		const soon = await open({ url, clock: new ManualClock(ledgerNoonMs + 24 * hourMs) });
		await soon.ledger.open(openEntry('running', { startedMs: ledgerNoonMs + 24 * hourMs }));
		const others = await Promise.all([1, 2, 3].map(() => open({ url, clock: new ManualClock(ledgerNoonMs + 26 * hourMs) })));
		await expect.poll(async () => (await soon.ledger.summarize(november))[0]?.costNanoUsd, { interval: 10 }).toBe(2n * 777n + 1234n);
		const { rows } = await soon.ledger.list({ limit: 9 });
		expect(rows.map(({ id, closed }) => [id, closed?.outcome, closed?.costNanoUsd])).toEqual([
			['running', undefined, undefined],
			['c', 'complete', 1234n],
			['b', 'interrupted', 777n],
			['a', 'interrupted', 777n],
		]);
		await expect.poll(() => others.flatMap(({ log }) => log.lines.map(({ fields }) => fields['entries'])), { interval: 10 }).toEqual([2]);
		expect(await soon.ledger.check()).toEqual([]);
	});

	test('drops the partitions of days that are too old, and no sum; later entries of these days are rejected', async () => {
		const { ledger: keeping } = await open();
		const partitions = async (): Promise<unknown> =>
			(
				await query(
					url,
					"SELECT string_agg(right(relname, 4), ' ' ORDER BY relname) AS days FROM pg_class WHERE relname ~ '^ledger_calls_\\d+$'",
				)
			)[0];
		await expect.poll(partitions, { interval: 10 }).toEqual({ days: '1121 1122' });
		const daysAgo = (days: number): { startedMs: number } => ({ startedMs: ledgerNoonMs - days * 24 * hourMs });
		for (const days of [40, 36, 35, 1]) await openAndClose(keeping, `${days}`, daysAgo(days));
		expect(await idsIn(keeping)).toEqual(['1', '35', '36', '40']);
		expect(await partitions()).toEqual({ days: '1012 1016 1017 1120 1121 1122' });
		const { ledger } = await open({ url, retainDays: 35 });
		await expect.poll(() => idsIn(ledger), { interval: 10 }).toEqual(['1', '35']);
		// Sent a second time, or for the first: the database cannot distinguish the two.
		await openAndClose(ledger, 'late', daysAgo(36));
		await openAndClose(ledger, 'in time', daysAgo(35));
		const year = { fromMs: Date.UTC(2026, 0), toMs: Date.UTC(2027, 0), period: 'month' } as const;
		expect((await ledger.summarize(year)).map(({ period, requests }) => [period, requests])).toEqual([
			['2026-10', 4],
			['2026-11', 1],
		]);
		expect(ledger.health()).toMatchObject({ unstorableEntries: 1, spooledEntries: 0 });
		expect(await partitions()).toEqual({ days: '1017 1120 1121 1122' });
		expect(await ledger.check()).toEqual([]);
	});
});

test('an entry that PostgreSQL can never store takes no other with it', async () => {
	const dataDir = temporaryDirectory();
	const { ledger, log, clock } = await open({ dataDir });
	const id = randomBytes(4000).toString('hex');
	for (const each of ['a', id, 'b']) await openAndClose(ledger, each);
	expect(await idsIn(ledger)).toEqual(['b', 'a']);
	expect(ledger.health()).toMatchObject({ unstorableEntries: 1, spooledEntries: 0, isShipping: true });
	expect(log.lines.map(({ level, event }) => `${level}: ${event}`)).toEqual(['error: PostgreSQL cannot store a ledger entry']);
	expect(await ledger.check()).toEqual([]);
	// The row stays in this file, although sent rows are deleted after a day.
	clock.advance(25 * hourMs);
	await expect.poll(() => idsInFile(dataDir), { interval: 10 }).toEqual([id]);
});

test('a rejection of all entries has another cause, so they wait', async () => {
	const { ledger, log } = await open();
	await openAndClose(ledger, 'a');
	expect(await idsIn(ledger)).toEqual(['a']);
	await query(url, 'ALTER TABLE tollgate.ledger_calls ADD CONSTRAINT ours CHECK (status < 0) NOT VALID');
	for (const id of ['b', 'c', 'd']) await openAndClose(ledger, id);
	await expect(ledger.list({ limit: 1 })).rejects.toMatchObject({ code: 'records_unavailable' });
	expect(ledger.health()).toMatchObject({ isShipping: false, unstorableEntries: 0, spooledEntries: 3 });
	await query(url, 'ALTER TABLE tollgate.ledger_calls DROP CONSTRAINT ours');
	expect(await idsIn(ledger)).toEqual(['d', 'c', 'b', 'a']);
	expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
	expect(await ledger.check()).toEqual([]);
});

test('the longest names fit', async () => {
	const { ledger } = await open();
	const name = (): string => Array.from({ length: 300 }, () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000))).join('');
	const attributes = attributesText(
		Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`a${index}`.padEnd(32, 'b'), randomBytes(96).toString('base64')])),
	);
	const row = openEntry('one', {
		team: name(),
		clientId: name(),
		provider: name(),
		model: name(),
		endpoint: `/${'e'.repeat(80)}`,
		attributes,
	});
	await ledger.open(row);
	const [listed] = (await ledger.list({ limit: 1 })).rows;
	expect(listed).toMatchObject({ team: row.team.slice(0, 213), endpoint: row.endpoint.slice(0, 64), attributes });
	expect(ledger.health().unstorableEntries).toBe(0);
});

test('sums that were tampered with are found', async () => {
	const { ledger } = await open();
	await openAndClose(ledger, 'one');
	expect(await ledger.check()).toEqual([]);
	await query(url, 'UPDATE tollgate.ledger_hourly SET cost_nano_usd = 7; UPDATE tollgate.ledger_daily SET requests = 5');
	expect(await ledger.check()).toEqual([
		{ what: '2026-11-21T10 team red endpoint /v1/chat/completions: cost_nano_usd', expected: '1234', found: '7' },
		{ what: '2026-11-21 team red endpoint /v1/chat/completions: requests', expected: '1', found: '5' },
		{ what: '2026-11-21 team red endpoint /v1/chat/completions: cost_nano_usd', expected: '7', found: '1234' },
	]);
	await query(url, 'DELETE FROM tollgate.ledger_calls');
	expect((await ledger.check()).map(({ what }) => what)).toContain('2026-11-21T10 team red endpoint /v1/chat/completions: requests');
});

test('a reader of its own sees what was sent', async () => {
	const { ledger } = await open();
	await openAndClose(ledger, 'one');
	expect(await idsIn(ledger)).toEqual(['one']);
	const reader = await openPostgresLedgerReader({ url }, deps());
	onTestFinished(() => reader.end());
	expect((await reader.list({ limit: 9 })).rows).toEqual((await ledger.list({ limit: 9 })).rows);
	expect(await reader.summarize(november)).toEqual(await ledger.summarize(november));
	expect(await reader.check()).toEqual([]);
});

test('a URL that is none stops the start', async () => {
	const settings = { url: 'mysql://user:hidden@host/', dataDir: temporaryDirectory(), durability: 'process', retainDays: null } as const;
	await expect(openPostgresLedger(settings, deps())).rejects.toThrow(StoreUnusable);
	await expect(openPostgresLedgerReader(settings, deps())).rejects.toThrow(StoreUnusable);
});

interface Opened {
	readonly ledger: PostgresLedger;
	readonly clock: ManualClock;
	readonly log: RecordingLog;
}

/** URL of the last ledger that was opened on a database of its own. */
let url: string;

async function open({
	clock = new ManualClock(ledgerNoonMs),
	...differences
}: Partial<PostgresLedgerSettings> & { clock?: ManualClock } = {}): Promise<Opened> {
	if (differences.url === undefined) url = await server.createDatabase();
	const log = createRecordingLog();
	const dataDir = differences.dataDir ?? temporaryDirectory();
	const ledger = await openPostgresLedger({ url, durability: 'process', retainDays: null, ...differences, dataDir }, { clock, log });
	onTestFinished(() => ledger.end());
	return { ledger, clock, log };
}

function deps(): { clock: ManualClock; log: RecordingLog } {
	return { clock: new ManualClock(ledgerNoonMs), log: createRecordingLog() };
}

async function openAndClose(ledger: Ledger, id: string, row: Partial<OpenEntry> = {}): Promise<void> {
	await ledger.open(openEntry(id, row));
	expect(await closeEntry(ledger, closedEntry(id))).toBe('closed');
}

async function idsIn(ledger: LedgerReader): Promise<string[]> {
	return (await ledger.list({ limit: 100 })).rows.map(({ id }) => id);
}

async function idsInFile(dataDir: string): Promise<string[]> {
	const reader = await openSqliteLedgerReader({ dataDir });
	const ids = await idsIn(reader);
	await reader.end();
	return ids;
}

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}

/** Changes a file as an operator or an accident would. */
function change(dataDir: string, statements: string): void {
	const database = new DatabaseSync(join(dataDir, 'ledger.db'), { timeout: 1000 });
	database.exec(statements);
	database.close();
}
