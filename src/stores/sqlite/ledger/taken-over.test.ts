/** Recovery from the journals of dead processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../../../test/support/close-entry.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { closedEntry, ledgerNoonMs, openEntry } from '../../contracts/ledger.contract.ts';
import type { Ledger } from '../../contracts/ledger.ts';
import type { Durability } from '../open-database.ts';
import { openSpoolingLedger, openSqliteLedger, type SqliteLedgerSettings } from '../sqlite-ledger.ts';
import { lineOf } from './compact-entries.ts';

const hourMs = 3_600_000;
const november = { fromMs: Date.UTC(2026, 10), toMs: Date.UTC(2026, 11), period: 'month' } as const;

describe('a process that is killed the moment an open was acknowledged', () => {
	test.each(['process', 'power'] as const)('with durability %s has the reservation charged by the next start, once', async (durability) => {
		const dataDir = temporaryDirectory();
		expect(await untilKilled(dataDir, 'await open("one"); print("acknowledged"); die()', durability)).toBe('acknowledged');
		// No batch has been written yet, where nothing had to be waited for.
		if (durability === 'process') expect(entriesInFile(dataDir)).toBe(0);
		const ledger = await start(dataDir);
		const { clientId, provider, model, dialect } = openEntry('one');
		expect(await ledger.closeInterrupted()).toEqual([
			{ clientId, provider, model, dialect, id: 'one', team: 'red', startedMs: ledgerNoonMs, budgets: ['red'], costNanoUsd: 5000n },
		]);
		expect(await ledger.closeInterrupted()).toEqual([]);
		await ledger.end();
		const next = await start(dataDir);
		expect(await next.closeInterrupted()).toEqual([]);
		const { rows } = await next.list({ limit: 9 });
		expect(rows.map(({ id, closed }) => [id, closed?.outcome, closed?.costNanoUsd])).toEqual([['one', 'interrupted', 5000n]]);
		expect((await next.summarize(november)).map(({ requests, costNanoUsd }) => [requests, costNanoUsd])).toEqual([[1, 5000n]]);
		expect(await next.check()).toEqual([]);
	});

	test('for another target charges the entry there', async () => {
		const dataDir = temporaryDirectory();
		const move = 'await open("moved", { provider: "provider_b", model: "other", reservedNanoUsd: 77n }); die()';
		await untilKilled(dataDir, `await open("moved"); await open("stays"); ${move}`);
		const ledger = await start(dataDir);
		expect((await ledger.closeInterrupted()).map(({ id, costNanoUsd }) => [id, costNanoUsd])).toEqual([
			['moved', 77n],
			['stays', 5000n],
		]);
		const sums = await ledger.summarize(november);
		expect(sums.map(({ provider, model, requests, costNanoUsd }) => [provider, model, requests, costNanoUsd])).toEqual([
			['provider_a', 'claude', 1, 5000n],
			['provider_b', 'other', 1, 77n],
		]);
		expect(await ledger.check()).toEqual([]);
	});

	test('after it was written, closed and pruned is not charged again; what is younger is', async () => {
		const dataDir = temporaryDirectory();
		const body = `
			await open("old", { startedMs: ${ledgerNoonMs - 2 * hourMs} });
			await new Promise((done) => ledger.close(closed("old"), done));
			await open("young");
			die()`;
		await untilKilled(dataDir, body);
		const ledger = await start(dataDir);
		expect(await ledger.prune(ledgerNoonMs)).toBe(1);
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['young']);
		expect((await ledger.list({ limit: 9 })).rows.map(({ id }) => id)).toEqual(['young']);
		expect((await ledger.summarize(november)).map(({ requests, costNanoUsd }) => [requests, costNanoUsd])).toEqual([[2, 6234n]]);
		expect(await ledger.check()).toEqual([]);
	});

	test('and a close: charges the cost of the request, not its reservation', async () => {
		const dataDir = temporaryDirectory();
		const large = 2n ** 62n;
		const body = `
			for (const id of ["one", "large", "open"]) await open(id);
			ledger.close(closed("one"), () => print("written"));
			ledger.close({ ...closed("large"), costNanoUsd: ${large}n }, () => print("written"));
			die()`;
		expect(await untilKilled(dataDir, body)).toBe('');
		expect(entriesInFile(dataDir)).toBe(0);
		const ledger = await start(dataDir);
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['open']);
		const { rows } = await ledger.list({ limit: 9 });
		const { id: _, ...closed } = closedEntry('one', { costNanoUsd: 1234n });
		expect(rows.map((row) => row.closed)).toEqual([
			expect.objectContaining({ outcome: 'interrupted', costNanoUsd: 5000n }),
			{ ...closed, costNanoUsd: large },
			closed,
		]);
		expect(await ledger.check()).toEqual([]);
	});

	test('has what was closed, and what the database had, left as it was', async () => {
		const dataDir = temporaryDirectory();
		const body = `
			for (const id of ["closed", "written"]) await open(id);
			await new Promise((done) => ledger.close(closed("closed"), done));
			await open("unwritten");
			die()`;
		await untilKilled(dataDir, body);
		expect(entriesInFile(dataDir)).toBe(2);
		const ledger = await start(dataDir);
		expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['written', 'unwritten']);
		expect((await ledger.list({ limit: 9 })).rows.map(({ id, closed }) => [id, closed?.outcome])).toEqual([
			['unwritten', 'interrupted'],
			['written', 'interrupted'],
			['closed', 'complete'],
		]);
		expect(await ledger.check()).toEqual([]);
	});

	test('notes an entry of each for PostgreSQL if it is configured', async () => {
		const dataDir = temporaryDirectory();
		await untilKilled(dataDir, 'for (const id of ["a", "b"]) await open(id); die()');
		const deps = { clock: new ManualClock(), log: createRecordingLog() };
		const ledger = await openSpoolingLedger(settings(dataDir), deps, () => undefined);
		onTestFinished(() => ledger.end());
		expect(await ledger.closeInterrupted()).toHaveLength(2);
		const { count, rows } = await ledger.spool.read(100);
		expect([count, JSON.parse(rows)]).toEqual([
			2,
			[expect.arrayContaining(['a', 'interrupted']), expect.arrayContaining(['b', 'interrupted'])],
		]);
	});
});

test('several that start at the same time charge each entry once', async () => {
	const dataDir = temporaryDirectory();
	const openRequests = 300;
	const body = `
		for (let n = 0; n < ${openRequests}; n++) open("r" + n);
		for (let n = 0; n < ${openRequests}; n += 3) open("r" + n, { model: "other", reservedNanoUsd: 77n });
		die()`;
	await untilKilled(dataDir, body);
	expect(entriesInFile(dataDir)).toBe(0);
	const ledgers = await Promise.all([1, 2, 3, 4].map(() => start(dataDir)));
	const onClosed = (await Promise.all(ledgers.map((ledger) => ledger.closeInterrupted()))).flat();
	const sums = await ledgers[0]?.summarize(november);
	expect(sums?.map(({ model, requests, costNanoUsd }) => [model, requests, costNanoUsd])).toEqual([
		['claude', 200, 200n * 5000n],
		['other', 100, 100n * 77n],
	]);
	expect([onClosed.length, new Set(onClosed.map(({ id }) => id)).size]).toEqual([openRequests, openRequests]);
	expect(onClosed.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(200n * 5000n + 100n * 77n);
	expect(await ledgers[1]?.check()).toEqual([]);
	// Two for each live process.
	expect(journalsIn(dataDir)).toHaveLength(8);
});

test('an open that was acknowledged and could not be written by the end is charged by the next start', async () => {
	const dataDir = temporaryDirectory();
	const ledger = await start(dataDir);
	change(dataDir, 'ALTER TABLE hourly RENAME TO elsewhere');
	await ledger.open(openEntry('kept'));
	await expect(closeEntry(ledger, closedEntry('ghost'))).rejects.toMatchObject({ code: 'records_unavailable' });
	await ledger.end();
	expect(journalsIn(dataDir)).toHaveLength(2);
	change(dataDir, 'ALTER TABLE elsewhere RENAME TO hourly');
	const next = await start(dataDir);
	expect((await next.closeInterrupted()).map(({ id }) => id)).toEqual(['kept']);
	expect(journalsIn(dataDir)).toHaveLength(2);
	expect(await next.check()).toEqual([]);
});

test('the journal of a living process is not changed', async () => {
	const dataDir = temporaryDirectory();
	const [ledger, second] = [await start(dataDir), await start(dataDir)];
	await ledger.open(openEntry('ours'));
	expect(await second.closeInterrupted()).toEqual([]);
	expect(journalsIn(dataDir)).toHaveLength(4);
	expect(await closeEntry(ledger, closedEntry('ours'))).toBe('closed');
});

test('journals without a line to be read stop no start, and go', async () => {
	const dataDir = temporaryDirectory();
	for (const [index, text] of ['', '1\n', '1\n["torn', `1\n["torn~\n${'\0'.repeat(100)}`, 'shopping list'].entries()) {
		writeFileSync(join(dataDir, `ledger-run-a${index}.0.journal`), text);
	}
	writeFileSync(join(dataDir, 'ledger-run-b.1.journal'), `1\n${lineOf(openEntry('whole'))}`);
	const ledger = await start(dataDir);
	expect((await ledger.closeInterrupted()).map(({ id }) => id)).toEqual(['whole']);
	expect(journalsIn(dataDir)).toHaveLength(2);
	expect(journalsIn(dataDir).filter((name) => /-run-[ab]\d?\./.test(name))).toEqual([]);
});

async function start(dataDir: string): Promise<Ledger> {
	const ledger = await openSqliteLedger(settings(dataDir), { clock: new ManualClock(), log: createRecordingLog() });
	onTestFinished(() => ledger.end());
	return ledger;
}

function settings(dataDir: string, durability: Durability = 'process'): SqliteLedgerSettings {
	return { dataDir, durability, retainDays: null };
}

/** Runs a process that ends as soon as data could leave that was written in the turn in which it calls `die()`. @returns its output. */
async function untilKilled(dataDir: string, body: string, durability: Durability = 'process'): Promise<string> {
	const script = `
		import { writeSync } from 'node:fs';
		import { uncorkOnTickFlush } from ${JSON.stringify(join(import.meta.dirname, '../../../core/tick-flush.ts'))};
		import { openSqliteLedger } from ${JSON.stringify(join(import.meta.dirname, '../sqlite-ledger.ts'))};
		const clock = { nowMs: () => 0, monotonicMs: () => performance.now(), after: (ms, work) => (setTimeout(work, ms), { cancel() {} }) };
		const log = { debug() {}, info() {}, warn() {}, error() {} };
		const ledger = await openSqliteLedger(${JSON.stringify(settings(dataDir, durability))}, { clock, log });
		const row = ${JSON.stringify({ ...openEntry(''), reservedNanoUsd: null })};
		const closed = (id) => ({ ...${JSON.stringify({ ...closedEntry(''), costNanoUsd: null })}, id, costNanoUsd: 1234n });
		const open = (id, differences) => ledger.open({ ...row, reservedNanoUsd: 5000n, ...differences, id });
		const print = (text) => writeSync(1, text);
		const die = () => uncorkOnTickFlush({ uncork: () => process.kill(process.pid, 'SIGKILL') });
		${body};`;
	const command = ['--input-type=module', '-e', script];
	const child: ChildProcess = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
	let printed = '';
	let complaint = '';
	child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
	const signal = await new Promise((resolve) => child.on('close', (_, name) => resolve(name)));
	expect([signal, complaint]).toEqual(['SIGKILL', '']);
	return printed;
}

function entriesInFile(dataDir: string): number {
	const database = new DatabaseSync(join(dataDir, 'ledger.db'));
	try {
		return Number(database.prepare('SELECT count(*) AS rows FROM calls').get()?.['rows']);
	} finally {
		database.close();
	}
}

function journalsIn(dataDir: string): string[] {
	return readdirSync(dataDir).filter((name) => name.endsWith('.journal'));
}

/** Changes a file as an operator or an accident would. */
function change(dataDir: string, sql: string): void {
	const database = new DatabaseSync(join(dataDir, 'ledger.db'), { timeout: 1000 });
	database.exec(sql);
	database.close();
}

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-taken-over-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}
