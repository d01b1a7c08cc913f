/** Writes the ledger's rows and sums, in the thread that owns the connection. What a call returns is committed. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { InterruptedRow } from '../../contracts/ledger.ts';
import type { SpoolProgress } from '../../contracts/ledger-spool.ts';
import { createTransaction, type Row, textOf } from '../database.ts';
import { sqliteCode } from '../open-database.ts';
import { createCallRows } from './call-rows.ts';
import { interruptedOutcome, readBudgets } from './compact-rows.ts';
import type { CompactClose, RowException, WriteBatch } from './ledger-calls.ts';
import { createLedgerNames } from './ledger-names.ts';
import { createSums, msPerHour } from './ledger-sums.ts';
import { createOutboxWriting } from './outbox-writing.ts';
import { readCallId } from './packed-call-id.ts';

export interface LedgerWriter {
	write(batch: WriteBatch): readonly RowException[];
	closeInterrupted(nowMs: number, isAlive: (run: string) => boolean): readonly InterruptedRow[];
	/** @returns how many were deleted; 0 when there are no more. */
	pruneSome(beforeMs: number): number;
	/** As `pruneSome`, of rows that were sent from the outbox. */
	pruneSentSome(beforeMs: number): number;
	/** Deletes entries of the outbox. */
	forget(done: SpoolProgress): void;
}

/** Some milliseconds of work. */
const rowsPerPruning = 500;

/** @param spools whether rows opened from now on are noted in the outbox. */
export function createLedgerWriter(database: DatabaseSync, run: string, spools: boolean): LedgerWriter {
	const transaction = createTransaction(database);
	const names = createLedgerNames(database);
	const gatherSums = createSums(database);
	const rows = createCallRows(database, names, run, spools);
	const outbox = createOutboxWriting(database);
	const probe = database.prepare('UPDATE progress SET probes = probes + 1');
	const selectRunning = database.prepare(`
		SELECT id, started_ms, hold_nano_usd, (SELECT name FROM names WHERE id = run) AS run_name,
			(SELECT name FROM names WHERE id = team) AS team_name, (SELECT name FROM names WHERE id = budgets) AS budgets_text
		FROM calls WHERE outcome IS NULL AND run IS NOT NULL ORDER BY sequence`);
	selectRunning.setReadBigInts(true);
	const setPruned = database.prepare('UPDATE progress SET pruned_before_ms = max(pruned_before_ms, ?)');
	// Without an outbox the retention holds for rows, too, that wait in one from earlier days.
	const pruning = preparePruning(database, spools ? unsentStay : '');
	const pruningSent = preparePruning(database, unsentStay, 'WHERE is_spooled = 1');
	const pruneBefore = (beforeMs: number, statement: StatementSync): number => {
		const wholeHourMs = Math.floor(beforeMs / msPerHour) * msPerHour;
		return transaction(() => {
			setPruned.run(wholeHourMs);
			return Number(statement.run(wholeHourMs).changes);
		});
	};

	const apply = (batch: WriteBatch): RowException[] =>
		transaction(() => {
			const sums = gatherSums();
			const exceptions: RowException[] = [];
			const idAt = names.idsOf(batch.names);
			for (const row of batch.opens) rows.open(row, idAt, sums);
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
		for (const [index, row] of batch.opens.entries()) tryAlone('opens', index, { names: batch.names, opens: [row], closes: [] });
		for (const [index, row] of batch.closes.entries()) tryAlone('closes', index, { names: [], opens: [], closes: [row] });
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
		pruneSome: (beforeMs) => (spools && !outbox.isShort() ? 0 : pruneBefore(beforeMs, pruning)),
		pruneSentSome: (beforeMs) => (outbox.isShort() ? pruneBefore(beforeMs, pruningSent) : 0),
		forget: (done) => transaction(() => outbox.forget(done)),
	};
}

const unsentStay = 'AND sequence NOT IN (SELECT call FROM outbox)';

/** @param condition of the rows that may go. @param among which rows those are that it looks at. */
function preparePruning(database: DatabaseSync, condition: string, among = ''): StatementSync {
	return database.prepare(`
		DELETE FROM calls WHERE sequence IN (SELECT sequence FROM calls ${among} ORDER BY sequence LIMIT ${rowsPerPruning})
		AND started_ms < ? AND outcome IS NOT NULL ${condition}`);
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
