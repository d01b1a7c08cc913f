import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../test/support/close-entry.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { type PostgresServer, postgresPassword, query, startPostgres } from '../../test/support/postgres-server.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import { systemClock } from '../io/system-clock.ts';
import { closedEntry, openEntry } from './contracts/ledger.contract.ts';
import type { Ledger, SummaryQuery } from './contracts/ledger.ts';
import { openPostgresLedger, openPostgresLedgerReader, type PostgresLedger } from './postgres-ledger.ts';

const allTime: SummaryQuery = { fromMs: 0, toMs: Date.UTC(2100, 0), period: 'month' };

let server: PostgresServer;
let url: string;
beforeAll(async () => {
	server = await startPostgres('fsync=off');
});
beforeEach(async () => {
	url = await server.createDatabase();
});
afterAll(() => server.stop());

describe('a server that', () => {
	test('is unavailable at the start gets the missing entries when it comes', async () => {
		await server.kill();
		const { ledger, log } = await open();
		expect(await ledger.closeInterrupted()).toEqual([]);
		await openAndClose(ledger, 'a');
		await become(() => !ledger.health().isShipping);
		await openAndClose(ledger, 'b');
		await expect(ledger.summarize(allTime)).rejects.toMatchObject({ code: 'records_unavailable' });
		await expect(ledger.check()).rejects.toMatchObject({ code: 'records_unavailable' });
		expect(ledger.health()).toMatchObject({ isWritable: true, isShipping: false, spooledEntries: 2, rejectedEntries: 0 });
		expect(ledger.health().oldestSpooledAgeMs).toBeGreaterThan(0);
		expect(linesIn(log)).toEqual(['error: ledger entries cannot be sent to PostgreSQL and stay spooled on this disk']);
		await server.restart();
		await untilShipped(ledger);
		expect(await requestsOf(ledger)).toBe(2);
		expect(await ledger.check()).toEqual([]);
		expect(ledger.health()).toMatchObject({ isShipping: true, spooledEntries: 0, oldestSpooledAgeMs: null });
		expect(linesIn(log).slice(1)).toEqual(['info: ledger entries are sent to PostgreSQL again']);
	});

	test('is killed and started during load loses and doubles nothing', async () => {
		const { ledger, log } = await open();
		const load = startLoad(ledger);
		await become(() => ledger.health().spooledEntries > 0);
		await server.kill();
		await become(() => !ledger.health().isShipping);
		await server.restart();
		await become(() => ledger.health().isShipping);
		await load.stop();
		expect(await requestsOf(ledger)).toBe(load.requests);
		expect(await ledger.check()).toEqual([]);
		expect(await countEntries('outcome IS NULL')).toBe(0);
		expect(linesIn(log)).toHaveLength(2);
	});

	test('stops responding delays only reports, by five seconds', async () => {
		const clock = new ManualClock(Date.now());
		const { ledger } = await open({ clock });
		await openAndClose(ledger, 'before');
		expect(await requestsOf(ledger)).toBe(1);
		server.pause();
		try {
			const reader = await openPostgresLedgerReader({ url }, { clock, log: createRecordingLog() });
			onTestFinished(() => reader.end());
			await openAndClose(ledger, 'meanwhile');
			const reports = [ledger.summarize(allTime), ledger.list({ limit: 1 }), ledger.check(), reader.summarize(allTime), reader.check()];
			clock.advance(4_999);
			await openAndClose(ledger, 'meanwhile too');
			clock.advance(1);
			for (const report of reports) await expect(report).rejects.toMatchObject({ code: 'records_unavailable' });
		} finally {
			server.resume();
		}
		expect(await requestsOf(ledger)).toBe(3);
		expect(await ledger.check()).toEqual([]);
	});

	test('rejects the password, which is logged once and never shown', async () => {
		const { ledger, log } = await open({ url: url.replace(/:[^:@/]*@/, ':wrong-password@') });
		await openAndClose(ledger, 'a');
		await become(() => !ledger.health().isShipping);
		await expect(ledger.list({ limit: 1 })).rejects.toMatchObject({ code: 'records_unavailable' });
		await expect(ledger.list({ limit: 1 })).rejects.toMatchObject({ code: 'records_unavailable' });
		expect(linesIn(log)).toHaveLength(1);
		const onClosed = log.lines.map(({ event, fields }) => `${event} ${Object.values(fields).map(String).join(' ')}`).join('\n');
		expect(onClosed).toContain('password authentication failed');
		expect(onClosed).not.toMatch(/wrong-password/);
		expect(onClosed).not.toContain(postgresPassword);
	});

	test('takes no changes, as a standby or one whose disk is nearly full, is caught up with when it takes them', async () => {
		const { ledger, log } = await open();
		await openAndClose(ledger, 'a');
		expect(await requestsOf(ledger)).toBe(1);
		await setReadOnly(true);
		onTestFinished(() => setReadOnly(false));
		// The server applies a change to open connections some time after it applies it to new ones.
		let written = 1;
		const write = (): Promise<void> => openAndClose(ledger, `b${written++}`);
		await expect
			.poll(async () => {
				await write();
				return ledger.list({ limit: 1 }).then(
					() => 'listed',
					(cause: unknown) => cause instanceof UpstreamError && cause.code,
				);
			})
			.toBe('records_unavailable');
		await write();
		expect(ledger.health()).toMatchObject({ isShipping: false, isWritable: true });
		await setReadOnly(false);
		await untilShipped(ledger);
		expect(await requestsOf(ledger)).toBe(written);
		expect(linesIn(log)).toHaveLength(2);
	});

	test('takes rights away is caught up with when it gives them back', async () => {
		const role = `role_${Math.random().toString(36).slice(2)}`;
		await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
		await query(url, `GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${role}`);
		const { ledger, log } = await open({ url: url.replace(/\/\/[^@]*@/, `//${role}:secret@`) });
		await openAndClose(ledger, 'a');
		expect(await requestsOf(ledger)).toBe(1);
		await query(url, `ALTER TABLE tollgate.ledger_hourly OWNER TO postgres; REVOKE ALL ON tollgate.ledger_hourly FROM ${role}`);
		await openAndClose(ledger, 'b');
		await expect(ledger.list({ limit: 1 })).rejects.toMatchObject({ code: 'records_unavailable' });
		await openAndClose(ledger, 'c');
		expect(ledger.health()).toMatchObject({ isShipping: false, isWritable: true });
		await query(url, `GRANT ALL ON tollgate.ledger_hourly TO ${role}`);
		await untilShipped(ledger);
		expect(await requestsOf(ledger)).toBe(3);
		expect(linesIn(log)).toHaveLength(2);
	});
});

test('who serves need not own the tables: data rights and two functions are enough, also for tomorrow and for retention', async () => {
	const { ledger: owning } = await open();
	await openAndClose(owning, 'old', Date.now() - 3 * 86_400_000);
	await openAndClose(owning, 'first');
	expect(await requestsOf(owning)).toBe(2);
	const role = `serving_${Math.random().toString(36).slice(2)}`;
	await query(
		url,
		`CREATE ROLE ${role} LOGIN PASSWORD 'secret';
		GRANT USAGE ON SCHEMA tollgate TO ${role};
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA tollgate TO ${role};
		GRANT USAGE ON ALL SEQUENCES IN SCHEMA tollgate TO ${role};
		GRANT EXECUTE ON FUNCTION tollgate.ledger_make_day, tollgate.ledger_drop_day TO ${role}`,
	);
	// Simulates a partition that is created while rights are granted: neither transaction sees the other.
	const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
	await query(url, `REVOKE ALL ON tollgate.ledger_calls_${today} FROM ${role}`);
	const clock = new ManualClock(Date.now() + 86_400_000);
	const { ledger, log } = await open({ url: url.replace(/\/\/[^@]*@/, `//${role}:secret@`), clock, retainDays: 2 });
	await openAndClose(ledger, 'today');
	await openAndClose(ledger, 'tomorrow', clock.nowMs());
	await openAndClose(ledger, 'later', clock.nowMs() + 2 * 86_400_000);
	expect(await requestsOf(ledger)).toBe(5);
	await expect
		.poll(async () => (await ledger.list({ limit: 9 })).rows.map(({ id }) => id))
		.toEqual(['later', 'tomorrow', 'today', 'first']);
	const days = await query(url, `SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = 'tollgate.ledger_calls'::regclass`);
	// Today, tomorrow, the day after for its upkeep, and that of the last row.
	expect(days).toEqual([{ count: 4 }]);
	expect(await ledger.check()).toEqual([]);
	expect(log.lines).toEqual([]);
});

describe('a process that', () => {
	test('dies between the commit and the end of its outbox entries is counted once', async () => {
		const dataDir = temporaryDirectory();
		await dieBeforeForgetting(dataDir);
		expect(await countEntries('true')).toBe(20);
		const { ledger } = await open({ dataDir });
		expect(await ledger.closeInterrupted()).toHaveLength(10);
		expect(await requestsOf(ledger)).toBe(20);
		expect(await ledger.check()).toEqual([]);
		expect(await countEntries("outcome = 'complete' AND cost_nano_usd = 1234")).toBe(10);
		expect(await countEntries("outcome = 'interrupted' AND cost_nano_usd = hold_nano_usd")).toBe(10);
		expect(await costOf(ledger)).toBe(10n * 1234n + 10n * 5000n);
	});

	test('ends leaves nothing behind', async () => {
		const { ledger } = await open();
		for (let index = 0; index < 50; index++) await openAndClose(ledger, `r${index}`);
		await ledger.end();
		expect(await countEntries("outcome = 'complete'")).toBe(50);
	});
});

test('the end does not wait long for a server that is silent, and the next start sends what waits', async () => {
	const dataDir = temporaryDirectory();
	const clock = new ManualClock(Date.now());
	const { ledger, log } = await open({ dataDir, clock });
	expect(await requestsOf(ledger)).toBe(0);
	server.pause();
	try {
		await openAndClose(ledger, 'a');
		const ended = ledger.end();
		await expect.poll(() => ledger.health().spooledEntries, { interval: 5 }).toBe(1);
		clock.advance(5000);
		await ended;
	} finally {
		server.resume();
	}
	expect(linesIn(log)).toEqual(['warn: ledger entries stay spooled on this disk until the next start']);
	const { ledger: next } = await open({ dataDir });
	expect(await requestsOf(next)).toBe(1);
	expect(await next.check()).toEqual([]);
});

test('several that send at once, two of them from one directory, neither hinder nor repeat each other', async () => {
	const shared = temporaryDirectory();
	const ledgers = await Promise.all([{ dataDir: shared }, { dataDir: shared }, {}, {}].map(open));
	const loads = ledgers.map(({ ledger }, index) => startLoad(ledger, `process${index}-`));
	await new Promise((resolve) => setTimeout(resolve, 800));
	await Promise.all(loads.map((load) => load.stop()));
	for (const { ledger } of ledgers) await requestsOf(ledger);
	const [first] = ledgers;
	expect(first === undefined ? 0 : await requestsOf(first.ledger)).toBe(loads.reduce((sum, { requests }) => sum + requests, 0));
	expect(await first?.ledger.check()).toEqual([]);
	expect(ledgers.flatMap(({ log }) => linesIn(log))).toEqual([]);
	const deadlocks = await query(url, 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()');
	expect(deadlocks).toEqual([{ deadlocks: 0 }]);
});

interface Opened {
	readonly ledger: PostgresLedger;
	readonly log: RecordingLog;
}

async function open(differences: { url?: string; dataDir?: string; clock?: ManualClock; retainDays?: number } = {}): Promise<Opened> {
	const { clock = systemClock, ...settings } = differences;
	const log = createRecordingLog();
	const defaults = { url, dataDir: differences.dataDir ?? temporaryDirectory(), durability: 'process', retainDays: null } as const;
	const ledger = await openPostgresLedger({ ...defaults, ...settings }, { clock, log });
	onTestFinished(async () => {
		const ended = ledger.end();
		if (clock instanceof ManualClock) clock.advance(5000);
		await ended;
	});
	return { ledger, log };
}

async function openAndClose(ledger: Ledger, id: string, startedMs = Date.now()): Promise<void> {
	await ledger.open(openEntry(id, { startedMs }));
	expect(await closeEntry(ledger, closedEntry(id))).toBe('closed');
}

interface Load {
	requests: number;
	stop(): Promise<void>;
}

/** A few clients with their own keys in both orders, and one that all processes share. */
function startLoad(ledger: Ledger, prefix = ''): Load {
	let isStopping = false;
	const load: Load = {
		requests: 0,
		async stop() {
			isStopping = true;
			await done;
		},
	};
	const caller = async (): Promise<void> => {
		while (!isStopping) {
			const number = load.requests++;
			const id = `${prefix}${number}`;
			const startedMs = Date.now() - (number % 3) * 8 * 3_600_000;
			await ledger.open(openEntry(id, { startedMs, team: `team${number % 7}`, model: `model${number % 5}` }));
			if (number % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
			expect(await closeEntry(ledger, closedEntry(id))).toBe('closed');
		}
	};
	const done = Promise.all(Array.from({ length: 10 }, caller));
	return load;
}

/** Applies to open sessions too. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
	const setting = isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
	await query(server.url, `ALTER SYSTEM ${setting}`);
	await query(server.url, 'SELECT pg_reload_conf()');
	const wanted = isReadOnly ? 'on' : 'off';
	await expect
		.poll(() => query(server.url, 'SHOW default_transaction_read_only'), { interval: 10 })
		.toEqual([{ default_transaction_read_only: wanted }]);
}

async function requestsOf(ledger: Ledger): Promise<number> {
	return (await ledger.summarize(allTime)).reduce((sum, { requests }) => sum + requests, 0);
}

async function costOf(ledger: Ledger): Promise<bigint> {
	return (await ledger.summarize(allTime)).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n);
}

async function become(isTrue: () => boolean): Promise<void> {
	await expect.poll(isTrue, { interval: 10, timeout: 15_000 }).toBe(true);
}

async function untilShipped(ledger: PostgresLedger): Promise<void> {
	await become(() => ledger.health().isShipping && ledger.health().spooledEntries === 0);
}

async function countEntries(condition: string): Promise<number> {
	const [row] = await query(url, `SELECT count(*)::int AS count FROM tollgate.ledger_calls WHERE ${condition}`);
	return Number(row?.['count']);
}

function linesIn(log: RecordingLog): string[] {
	return log.lines.map(({ level, event }) => `${level}: ${event}`);
}

/** A process with ten closed and ten open entries, killed once PostgreSQL has them all and before its own file records that. */
async function dieBeforeForgetting(dataDir: string): Promise<void> {
	const script = `
		import { LedgerShipper } from ${JSON.stringify(join(import.meta.dirname, 'postgres/ledger/ledger-shipper.ts'))};
		import { createPostgresThread } from ${JSON.stringify(join(import.meta.dirname, 'postgres-ledger.ts'))};
		import { openSpoolingLedger } from ${JSON.stringify(join(import.meta.dirname, 'sqlite/sqlite-ledger.ts'))};
		const clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => ({ cancel() {} }) };
		const log = { debug() {}, info() {}, warn() {}, error(...words) { console.error(...words); } };
		const settings = { dataDir: ${JSON.stringify(dataDir)}, durability: 'process', retainDays: null };
		const local = await openSpoolingLedger(settings, { clock, log }, () => {});
		const row = ${JSON.stringify({ ...openEntry('', { startedMs: Date.now() }), reservedNanoUsd: null })};
		const closed = ${JSON.stringify({ ...closedEntry(''), costNanoUsd: null })};
		for (let index = 0; index < 20; index++) {
			await local.open({ ...row, id: 'r' + index, reservedNanoUsd: 5000n });
			if (index % 2 === 0) await new Promise((done) => local.close({ ...closed, id: 'r' + index, costNanoUsd: 1234n }, done));
		}
		const postgres = createPostgresThread(${JSON.stringify(url)});
		const spool = { read: local.spool.read, forget: () => process.kill(process.pid, 'SIGKILL') };
		await new LedgerShipper({ spool, send: (rows) => postgres.request('send', rows), clock, log, address: '' }).flush();`;
	const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
	let complaint = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
	const signal = await new Promise((resolve) => child.on('close', (_, name) => resolve(name)));
	expect([signal, complaint]).toEqual(['SIGKILL', '']);
}

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}
