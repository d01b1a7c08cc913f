/** Writes entries and sums of the ledger, in the thread that owns the connection. Every method commits before it returns. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { noUsage } from '../../../core/usage.ts';
import type { InterruptedEntry } from '../../contracts/ledger.ts';
import type { SpoolProgress } from '../../contracts/ledger-spool.ts';
import { type Row, textOf } from '../../row.ts';
import { msPerHour } from '../../sum-tables.ts';
import { createTransaction } from '../database.ts';
import { sqliteCode } from '../open-database.ts';
import { interruptedOutcome, readBudgets } from './compact-entries.ts';
import { createEntryNames } from './entry-names.ts';
import { createEntryUpdates, type EntryUpdates } from './entry-updates.ts';
import type { EntryException, PackedBatch } from './ledger-operations.ts';
import { createSums, type GatheredSums } from './ledger-sums.ts';
import type { StaleJournal } from './open-journal.ts';
import { createOutboxWriting } from './outbox.ts';
import { type EntryOpening, endOf, openingOf, type RequestEnd, readEnds, readOpenings } from './packed-batch.ts';
import { isSameRequestId, readRequestId, requestIdHash, requestIdOf } from './packed-request-id.ts';

export interface LedgerWriter {
	write(batch: PackedBatch): readonly EntryException[];
	/** Opens missing rows of another run, except those that may have been pruned, and closes those that it closed. */
	takeOver(run: string, remaining: Pick<StaleJournal, 'opens' | 'closes'>): void;
	closeInterrupted(nowMs: number, isAlive: (run: string) => boolean): readonly InterruptedEntry[];
	/** @returns the number of deleted rows; 0 when there are no more. */
	pruneSome(beforeMs: number): number;
	/** Like `pruneSome`, for rows that were sent from the outbox. */
	pruneSentSome(beforeMs: number): number;
	/** Deletes entries of the outbox. */
	forget(done: SpoolProgress): void;
}

/** A few milliseconds of work. */
const entriesPerPruning = 500;

/**
 * Batch sizes that are written in pieces with a rest after each, so that other threads wait for the core only for one piece. Smaller
 * batches are one piece. Larger ones occur when the thread gets little time, and it must not fall behind.
 */
const idleEntries = { atLeast: 32, atMost: 512 };
const closesOfPiece = 16;

const runningEntries = `
	SELECT id, started_ms, hold_nano_usd, (SELECT name FROM names WHERE id = run) AS run_name,
		(SELECT name FROM names WHERE id = team) AS team_name, (SELECT name FROM names WHERE id = budgets) AS budgets_text,
		(SELECT name FROM names WHERE id = client) AS client_name, (SELECT name FROM names WHERE id = provider) AS provider_name,
		(SELECT name FROM names WHERE id = model) AS model_name, (SELECT name FROM names WHERE id = dialect) AS dialect_name
	FROM calls WHERE outcome IS NULL AND run IS NOT NULL ORDER BY sequence`;

/**
 * @param spools true if rows opened from now on are added to the outbox.
 * @param rest yields the core for a moment.
 */
export function createLedgerWriter(database: DatabaseSync, run: string, spools: boolean, rest: () => void): LedgerWriter {
	const transaction = createTransaction(database);
	const names = createEntryNames(database);
	const gatherSums = createSums(database);
	const rows = createEntryUpdates(database, names, run, spools);
	const outbox = createOutboxWriting(database);
	const probe = database.prepare('UPDATE progress SET probes = probes + 1');
	const selectRunning = database.prepare(runningEntries);
	selectRunning.setReadBigInts(true);
	const selectPruned = database.prepare('SELECT pruned_before_ms FROM progress');
	const setPruned = database.prepare('UPDATE progress SET pruned_before_ms = max(pruned_before_ms, ?)');
	// Without an outbox, retention also deletes rows that an earlier outbox still contains.
	const pruning = preparePruning(database, spools ? unsentStay : '');
	const pruningSent = preparePruning(database, unsentStay, 'WHERE is_spooled = 1');
	const pruneBefore = (beforeMs: number, statement: StatementSync): number => {
		const wholeHourMs = Math.floor(beforeMs / msPerHour) * msPerHour;
		return transaction(() => {
			setPruned.run(wholeHourMs);
			return Number(statement.run(wholeHourMs).changes);
		});
	};

	const apply = ({ opens, closes }: LedgerEntries): EntryException[] => {
		const rowCount = opens.length + closes.length;
		const behindPiece = rowCount >= idleEntries.atLeast && rowCount <= idleEntries.atMost ? rest : goOn;
		behindPiece();
		return transaction(() => {
			const sums = gatherSums();
			const exceptions: EntryException[] = [];
			const ends = endsOf(opens, closes);
			const closesOfOpens = ends.map((end) => (end === undefined ? undefined : closes[end]));
			for (const place of rows.open(opens, closesOfOpens, sums, behindPiece)) ends[place] = undefined;
			const isDone = new Uint8Array(closes.length);
			for (const end of ends) if (end !== undefined) isDone[end] = 1;
			for (const [index, row] of closes.entries()) {
				const what = isDone[index] === 1 ? 'closed' : rows.close(row, sums);
				if (what !== 'closed') exceptions.push({ of: 'closes', index, what });
				if (index % closesOfPiece === closesOfPiece - 1 && isDone[index] !== 1) behindPiece();
			}
			sums.write();
			if (rowCount === 0) probe.run();
			behindPiece();
			return exceptions;
		});
	};
	/** Writes each row in its own transaction, so that a row that cannot be stored affects no other. */
	const applyOneByOne = ({ opens, closes }: LedgerEntries): EntryException[] => {
		const exceptions: EntryException[] = [];
		const tryAlone = (of: EntryException['of'], index: number, alone: LedgerEntries): void => {
			try {
				exceptions.push(...apply(alone).map((exception) => ({ ...exception, index })));
			} catch (cause) {
				names.forget();
				if (!isDueToEntry(cause)) throw cause;
				exceptions.push({ of, index, what: 'failed' });
			}
		};
		for (const [index, row] of opens.entries()) tryAlone('opens', index, { opens: [row], closes: [] });
		for (const [index, row] of closes.entries()) tryAlone('closes', index, { opens: [], closes: [row] });
		return exceptions;
	};

	return {
		write(batch) {
			const read = { opens: readOpenings(batch), closes: readEnds(batch) };
			try {
				return apply(read);
			} catch (cause) {
				names.forget();
				if (!isDueToEntry(cause)) throw cause;
				return applyOneByOne(read);
			}
		},
		takeOver(staleInstance, remaining) {
			transaction(() => {
				const sums = gatherSums();
				const prunedBeforeMs = Number(selectPruned.get()?.['pruned_before_ms']);
				writeRemaining(createEntryUpdates(database, names, staleInstance, spools), remaining, prunedBeforeMs, sums);
				sums.write();
			});
		},
		closeInterrupted(nowMs, isAlive) {
			return transaction(() => {
				const sums = gatherSums();
				const interrupted: InterruptedEntry[] = [];
				for (const row of selectRunning.all()) {
					if (isAlive(textOf(row, 'run_name'))) continue;
					const { end, onClosed } = interruptedEntry(row, nowMs);
					rows.close(end, sums);
					interrupted.push(onClosed);
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

function goOn(): void {}

function writeRemaining(
	rows: EntryUpdates,
	{ opens, closes }: Pick<StaleJournal, 'opens' | 'closes'>,
	sinceMs: number,
	sums: GatheredSums,
): void {
	for (const row of opens) if (row[1] >= sinceMs) ifSound(() => rows.open([openingOf(row)], [], sums, goOn));
	for (const row of closes) ifSound(() => rows.close(endOf(row), sums));
}

/** Skips a row of a journal that cannot be stored, because it would block the others at every start. */
function ifSound(write: () => unknown): void {
	try {
		write();
	} catch (cause) {
		if (!isDueToEntry(cause)) throw cause;
	}
}

interface LedgerEntries {
	readonly opens: readonly EntryOpening[];
	readonly closes: readonly RequestEnd[];
}

/**
 * Index of the first close of each row in the same batch. If rows share a hash, only the last one may have a close here; the others are
 * closed separately. So is a row that is opened again in the batch, because its last open finds it existing.
 */
function endsOf(opens: readonly EntryOpening[], closes: readonly RequestEnd[]): (number | undefined)[] {
	if (closes.length === 0) return [];
	const ends = opens.map((): number | undefined => undefined);
	const places = new Map<number, number>();
	for (const [index, { id }] of opens.entries()) places.set(requestIdHash(id), index);
	for (const [index, { id }] of closes.entries()) {
		const place = places.get(requestIdHash(id));
		const open = place === undefined ? undefined : opens[place];
		if (place !== undefined && open !== undefined && isSameRequestId(open.id, id)) ends[place] ??= index;
	}
	return ends;
}

/** @param condition limits the deleted rows. @param among limits the scanned rows. */
function preparePruning(database: DatabaseSync, condition: string, among = ''): StatementSync {
	return database.prepare(`
		DELETE FROM calls WHERE sequence IN (SELECT sequence FROM calls ${among} ORDER BY sequence LIMIT ${entriesPerPruning})
		AND started_ms < ? AND outcome IS NOT NULL ${condition}`);
}

function interruptedEntry(row: Row, nowMs: number): { end: RequestEnd; onClosed: InterruptedEntry } {
	const id = readRequestId(row['id']);
	const costNanoUsd = BigInt(String(row['hold_nano_usd']));
	return {
		end: { id: requestIdOf(id), endedMs: nowMs, outcome: interruptedOutcome, status: 0, isEstimated: 1, ...noUsage, costNanoUsd },
		onClosed: {
			id,
			team: textOf(row, 'team_name'),
			clientId: textOf(row, 'client_name'),
			provider: textOf(row, 'provider_name'),
			model: textOf(row, 'model_name'),
			dialect: textOf(row, 'dialect_name'),
			startedMs: Number(row['started_ms']),
			budgets: readBudgets(row['budgets_text']),
			costNanoUsd,
		},
	};
}

const sqliteTooBig = 18;
const sqliteConstraint = 19;
const sqliteMismatch = 20;

/** True if the row is the cause. Otherwise the same row may succeed later. */
function isDueToEntry(cause: unknown): boolean {
	const code = sqliteCode(cause);
	return code === undefined || code === sqliteTooBig || code === sqliteConstraint || code === sqliteMismatch;
}
