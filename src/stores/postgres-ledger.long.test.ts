/** Crashes at random moments, on both sides of the connection, and a long outage under load. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../test/support/close-entry.ts';
import { listEntries } from '../../test/support/list-entries.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres-server.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { systemClock } from '../io/system-clock.ts';
import { closedEntry, openEntry } from './contracts/ledger.contract.ts';
import { openPostgresLedger, type PostgresLedger } from './postgres-ledger.ts';

const rounds = 40;

let server: PostgresServer;
beforeAll(async () => {
	server = await startPostgres();
});
afterAll(() => server.stop());

test('every acknowledged entry reaches PostgreSQL once, whichever process dies at any time', async () => {
	const url = await server.createDatabase();
	const dataDir = temporaryDirectory();
	const acknowledged: Acknowledged = { opened: new Map(), closed: new Map() };
	for (let round = 1; round <= rounds; round++) {
		const disturbing = disturb(round, Math.random() * 1500);
		await writeUntilKilled(url, dataDir, round, 200 + Math.random() * 2500, acknowledged);
		await disturbing;
	}
	const { ledger, log } = await open(url, dataDir);
	await ledger.closeInterrupted();
	await untilShipped(ledger);
	const rows = await listEntries(ledger);
	const byId = new Map(rows.map((row) => [row.id, row]));
	expect(byId.size).toBe(rows.length);
	expect([...acknowledged.opened.keys()].filter((id) => !byId.has(id))).toEqual([]);
	const wrong = rows.filter(({ id, closed }) => {
		const number = Number(id.split('-')[1]);
		const isRight = closed?.outcome === 'complete' && closed.costNanoUsd === BigInt(number);
		const isCharged = closed?.outcome === 'interrupted' && closed.costNanoUsd === 1_000_000n + BigInt(number);
		return acknowledged.closed.has(id) ? !isRight : !(isRight || isCharged);
	});
	expect(wrong).toEqual([]);
	expect(await ledger.check()).toEqual([]);
	expect(acknowledged.closed.size).toBeGreaterThan(rounds * 100);
	expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a server that is killed, and one that is silent for thirty seconds, are caught up with within thirty more', async () => {
	const { ledger, log } = await open(await server.createDatabase(), temporaryDirectory());
	let openRequests = 0;
	let isStopping = false;
	const slowest = { openMs: 0 };
	const caller = async (): Promise<void> => {
		while (!isStopping) {
			const id = `call-${openRequests++}`;
			const beforeMs = performance.now();
			await ledger.open(openEntry(id, { team: `team${openRequests % 5}`, startedMs: Date.now() }));
			slowest.openMs = Math.max(slowest.openMs, performance.now() - beforeMs);
			await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
			expect(await closeEntry(ledger, closedEntry(id))).toBe('closed');
		}
	};
	const load = Promise.all(Array.from({ length: 100 }, caller));
	await pass(2000);
	await server.kill();
	await pass(5000);
	await server.restart();
	await pass(5000);
	server.pause();
	await pass(30_000);
	expect(ledger.health()).toMatchObject({ isShipping: false, isWritable: true });
	server.resume();
	const resumedMs = performance.now();
	await untilCaughtUp(ledger);
	expect(performance.now() - resumedMs).toBeLessThan(30_000);
	isStopping = true;
	await load;
	const sums = await ledger.summarize({ fromMs: 0, toMs: Date.UTC(2100, 0), period: 'month' });
	expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(openRequests);
	expect(sums.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(BigInt(openRequests) * 1234n);
	expect(await ledger.check()).toEqual([]);
	expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info', 'error', 'info']);
	expect(slowest.openMs).toBeLessThan(1000);
});

type Acknowledged = Readonly<Record<'opened' | 'closed', Map<string, number>>>;

/** Disturbs the server in two of three rounds while the process writes. */
async function disturb(round: number, afterMs: number): Promise<void> {
	if (round % 3 === 0) return;
	await pass(afterMs);
	if (round % 3 === 1) {
		await server.restart();
		return;
	}
	server.pause();
	await pass(500);
	server.resume();
}

async function writeUntilKilled(url: string, dataDir: string, round: number, afterMs: number, acknowledged: Acknowledged): Promise<void> {
	const script = `
		import { openPostgresLedger } from ${JSON.stringify(join(import.meta.dirname, 'postgres-ledger.ts'))};
		import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '../io/system-clock.ts'))};
		const log = { debug() {}, info() {}, warn() {}, error() {} };
		const settings = { url: ${JSON.stringify(url)}, dataDir: ${JSON.stringify(dataDir)}, durability: 'process', retainDays: null };
		const ledger = await openPostgresLedger(settings, { clock: systemClock, log });
		await ledger.closeInterrupted();
		const row = ${JSON.stringify({ ...openEntry(''), reservedNanoUsd: null })};
		const closed = ${JSON.stringify({ ...closedEntry(''), costNanoUsd: null })};
		const print = (line) => process.stdout.write(line + '\\n');
		let calls = 0;
		const caller = async () => {
			for (;;) {
				const number = calls++;
				const id = '${round}-' + number;
				const startedMs = Date.now() - (number % 5) * 4 * 3_600_000;
				await ledger.open({ ...row, id, startedMs, team: 'team' + number % 3, reservedNanoUsd: 1_000_000n + BigInt(number) });
				print('o ' + id + ' ' + number);
				if (number % 3 === 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 1500));
				const outcome = await new Promise((done) => ledger.close({ ...closed, id, costNanoUsd: BigInt(number) }, done));
				if (outcome !== 'closed') throw new Error(id + ' ' + outcome);
				print('c ' + id + ' ' + number);
			}
		};
		print('ready');
		for (let index = 0; index < 40; index++) caller();`;
	const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
	let complaint = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
	const died = new Promise<string | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)));
	for await (const line of createInterface({ input: child.stdout })) {
		const [kind, id, number] = line.split(' ');
		if (line === 'ready') setTimeout(() => child.kill('SIGKILL'), afterMs);
		else if (id !== undefined && number !== undefined) acknowledged[kind === 'o' ? 'opened' : 'closed'].set(id, Number(number));
	}
	expect([await died, complaint]).toEqual(['SIGKILL', '']);
}

async function open(url: string, dataDir: string): Promise<{ ledger: PostgresLedger; log: ReturnType<typeof createRecordingLog> }> {
	const log = createRecordingLog();
	const ledger = await openPostgresLedger({ url, dataDir, durability: 'process', retainDays: null }, { clock: systemClock, log });
	onTestFinished(() => ledger.end());
	return { ledger, log };
}

async function untilShipped(ledger: PostgresLedger): Promise<void> {
	await expect
		.poll(
			() =>
				ledger.list({ limit: 1 }).then(
					() => true,
					() => false,
				),
			{ interval: 100, timeout: 30_000 },
		)
		.toBe(true);
}

/** Under load the rows of a second are always queued. */
async function untilCaughtUp(ledger: PostgresLedger): Promise<void> {
	const isCaughtUp = (): boolean => ledger.health().isShipping && ledger.health().spooledEntries < 5000;
	await expect.poll(isCaughtUp, { interval: 20, timeout: 60_000 }).toBe(true);
}

function pass(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}
