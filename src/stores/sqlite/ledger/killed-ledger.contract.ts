/** Guarantees of a ledger whose process was killed at any moment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { listEntries } from '../../../../test/support/list-entries.ts';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { closedEntry, ledgerNoonMs, openEntry } from '../../contracts/ledger.contract.ts';
import type { LedgerEntry } from '../../contracts/ledger.ts';
import { openSqliteLedger } from '../sqlite-ledger.ts';

/** Opens and closes rows as fast as 40 clients can, and prints what was acknowledged. */
const writerScript = (dataDir: string, round: number): string => `
	import { openSqliteLedger } from ${JSON.stringify(join(import.meta.dirname, '../sqlite-ledger.ts'))};
	const clock = { nowMs: () => 0, monotonicMs: () => performance.now(), after: (ms, work) => (setTimeout(work, ms), { cancel() {} }) };
	const log = { debug() {}, info() {}, warn() {}, error() {} };
	const ledger = await openSqliteLedger({ dataDir: ${JSON.stringify(dataDir)}, durability: 'process', retainDays: null }, { clock, log });
	const row = ${JSON.stringify({ ...openEntry(''), reservedNanoUsd: null })};
	const closed = ${JSON.stringify({ ...closedEntry(''), costNanoUsd: null })};
	const print = (line) => process.stdout.write(line + '\\n');
	const nextTick = () => new Promise((resolve) => setImmediate(resolve));
	let calls = 0;
	const caller = async () => {
		for (;;) {
			const number = calls++;
			const id = 'req_' + ('${round}').padStart(12, '0') + String(number).padStart(20, '0');
			const startedMs = ${ledgerNoonMs} - (number % 5) * 3_600_000;
			await ledger.open({ ...row, id, startedMs, team: 'team' + number % 3, reservedNanoUsd: 1_000_000n + BigInt(number) });
			// It may leave at the end of the turn, not before.
			await nextTick();
			print('o ' + id + ' ' + number);
			if (number % 7 === 0) continue;
			const outcome = await new Promise((done) => ledger.close({ ...closed, id, costNanoUsd: BigInt(number) }, done));
			if (outcome !== 'closed') throw new Error(id + ' ' + outcome);
			print('c ' + id + ' ' + number);
		}
	};
	print('ready');
	for (let index = 0; index < 40; index++) caller();`;

/** @param random of the moment of each kill. */
export async function checkKilledLedger(
	rounds: number,
	random: () => number,
): Promise<{ opened: number; closed: number; interrupted: number }> {
	const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-ledger-kill-'));
	const acknowledged = { opened: new Map<string, number>(), closed: new Map<string, number>() };
	let interrupted = 0;
	try {
		for (let round = 1; round <= rounds; round++) {
			await writeUntilKilled(dataDir, round, random() * 150, acknowledged);
			const ledger = await openSqliteLedger(
				{ dataDir, durability: 'process', retainDays: null },
				{ clock: new ManualClock(), log: createRecordingLog() },
			);
			interrupted += (await ledger.closeInterrupted()).length;
			expect(await ledger.closeInterrupted()).toEqual([]);
			checkEntries(await listEntries(ledger), acknowledged);
			expect(await ledger.check()).toEqual([]);
			await ledger.end();
		}
		return { opened: acknowledged.opened.size, closed: acknowledged.closed.size, interrupted };
	} finally {
		rmSync(dataDir, { recursive: true });
	}
}

type Acknowledged = Readonly<Record<'opened' | 'closed', Map<string, number>>>;

async function writeUntilKilled(dataDir: string, round: number, afterMs: number, acknowledged: Acknowledged): Promise<void> {
	const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', writerScript(dataDir, round)], {
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let complaint = '';
	let killing: NodeJS.Timeout | undefined;
	child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text));
	const died = new Promise<string | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)));
	if (child.stdout === null) throw new Error('The child has no standard output');
	for await (const line of createInterface({ input: child.stdout })) {
		const [kind, id, number] = line.split(' ');
		// Every other time only after the first acknowledgement, however slow the machine is.
		if ((line === 'ready') === (round % 2 === 0)) killing ??= setTimeout(() => child.kill('SIGKILL'), afterMs);
		if (id !== undefined && number !== undefined) acknowledged[kind === 'o' ? 'opened' : 'closed'].set(id, Number(number));
	}
	expect([await died, complaint]).toEqual(['SIGKILL', '']);
}

function checkEntries(rows: readonly LedgerEntry[], { opened, closed }: Acknowledged): void {
	const byId = new Map(rows.map((row) => [row.id, row]));
	// No row is duplicated, no acknowledged open is missing, every acknowledged close is there; the rest is closed or charged its
	// reservation.
	expect(byId.size).toBe(rows.length);
	expect([...opened.keys()].filter((id) => !byId.has(id))).toEqual([]);
	const wrong = rows.filter((row) => {
		const number = Number(row.id.slice(16));
		const isRight = row.closed?.outcome === 'complete' ? row.closed.costNanoUsd === BigInt(number) : false;
		const isCharged = row.closed?.outcome === 'interrupted' && row.closed.costNanoUsd === 1_000_000n + BigInt(number);
		return closed.has(row.id) ? !isRight : !(isRight || isCharged);
	});
	expect(wrong).toEqual([]);
}
