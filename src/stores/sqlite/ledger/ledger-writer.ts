/** Writes the ledger's rows and sums, in the thread that owns the connection. What a call returns is committed. */
import type { DatabaseSync } from 'node:sqlite';
import type { InterruptedRow } from '../../contracts/ledger.ts';
import { createTransaction, type Row, textOf } from '../database.ts';
import { sqliteCode } from '../open-database.ts';
import { createCallRows } from './call-rows.ts';
import { interruptedOutcome, readBudgets } from './compact-rows.ts';
import type { CompactClose, RowException, WriteBatch } from './ledger-calls.ts';
import { createLedgerNames } from './ledger-names.ts';
import { createSums, msPerHour } from './ledger-sums.ts';
import { readCallId } from './packed-call-id.ts';

export interface LedgerWriter {
	write(batch: WriteBatch): readonly RowException[];
	closeInterrupted(nowMs: number, isAlive: (run: string) => boolean): readonly InterruptedRow[];
	/** @returns how many were deleted; 0 when there are no more. */
	pruneSome(beforeMs: number): number;
}

/** Some milliseconds of work. */
const rowsPerPruning = 500;

export function createLedgerWriter(database: DatabaseSync, run: string): LedgerWriter {
	const transaction = createTransaction(database);
	const names = createLedgerNames(database);
	const gatherSums = createSums(database);
	const rows = createCallRows(database, names, run);
	const probe = database.prepare('UPDATE progress SET probes = probes + 1');
	const selectRunning = database.prepare(`
		SELECT id, started_ms, hold_nano_usd, (SELECT name FROM names WHERE id = run) AS run_name,
			(SELECT name FROM names WHERE id = team) AS team_name, (SELECT name FROM names WHERE id = budgets) AS budgets_text
		FROM calls WHERE outcome IS NULL AND run IS NOT NULL ORDER BY sequence`);
	selectRunning.setReadBigInts(true);
	const setPruned = database.prepare('UPDATE progress SET pruned_before_ms = max(pruned_before_ms, ?)');
	const deleteOldest = database.prepare(`
		DELETE FROM calls WHERE sequence IN (SELECT sequence FROM calls ORDER BY sequence LIMIT ${rowsPerPruning})
		AND started_ms < ? AND outcome IS NOT NULL`);

	const apply = (batch: WriteBatch): RowException[] =>
		transaction(() => {
			const sums = gatherSums();
			const exceptions: RowException[] = [];
			for (const row of batch.opens) rows.open(row, sums);
			for (const [index, row] of batch.closes.entries()) {
				const what = rows.close(row, sums);
				if (what !== 'closed') exceptions.push({ of: 'closes', index, what });
			}
			sums.write();
			if (batch.opens.length + batch.closes.length === 0) probe.run();
			return exceptions;
		});
	/** So that a row that cannot be stored takes no other with it. */
	const applyOneByOne = (batch: WriteBatch): RowException[] => {
		const exceptions: RowException[] = [];
		const tryAlone = (of: RowException['of'], index: number, alone: WriteBatch): void => {
			try {
				exceptions.push(...apply(alone).map((exception) => ({ ...exception, index })));
			} catch (cause) {
				names.forget();
				if (!isDueToRow(cause)) throw cause;
				exceptions.push({ of, index, what: 'failed' });
			}
		};
		for (const [index, row] of batch.opens.entries()) tryAlone('opens', index, { opens: [row], closes: [] });
		for (const [index, row] of batch.closes.entries()) tryAlone('closes', index, { opens: [], closes: [row] });
		return exceptions;
	};

	return {
		write(batch) {
			try {
				return apply(batch);
			} catch (cause) {
				names.forget();
				if (!isDueToRow(cause)) throw cause;
				return applyOneByOne(batch);
			}
		},
		closeInterrupted(nowMs, isAlive) {
			return transaction(() => {
				const sums = gatherSums();
				const interrupted: InterruptedRow[] = [];
				for (const row of selectRunning.all()) {
					if (isAlive(textOf(row, 'run_name'))) continue;
					const { compact, told } = interruptedRow(row, nowMs);
					rows.close(compact, sums);
					interrupted.push(told);
				}
				sums.write();
				return interrupted;
			});
		},
		pruneSome(beforeMs) {
			const wholeHourMs = Math.floor(beforeMs / msPerHour) * msPerHour;
			return transaction(() => {
				setPruned.run(wholeHourMs);
				return Number(deleteOldest.run(wholeHourMs).changes);
			});
		},
	};
}

function interruptedRow(row: Row, nowMs: number): { compact: CompactClose; told: InterruptedRow } {
	const id = readCallId(row['id']);
	const costNanoUsd = BigInt(String(row['hold_nano_usd']));
	return {
		compact: [id, nowMs, interruptedOutcome, 0, 1, 0, 0, 0, 0, 0, 0, costNanoUsd],
		told: {
			id,
			team: textOf(row, 'team_name'),
			startedMs: Number(row['started_ms']),
			budgets: readBudgets(row['budgets_text']),
			costNanoUsd,
		},
	};
}

const sqliteTooBig = 18;
const sqliteConstraint = 19;
const sqliteMismatch = 20;

/** Otherwise the world is at fault, and the same row may succeed later. */
function isDueToRow(cause: unknown): boolean {
	const code = sqliteCode(cause);
	return code === undefined || code === sqliteTooBig || code === sqliteConstraint || code === sqliteMismatch;
}
