/** Puts single rows into the file and into the sums, inside the caller's transaction. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Closing } from '../../contracts/ledger.ts';
import { integerOf, type Row } from '../../row.ts';
import { createCallInserts, type NewCall } from './call-inserts.ts';
import type { CompactInteger } from './ledger-calls.ts';
import type { LedgerNames } from './ledger-names.ts';
import type { GatheredSums, SumKey } from './ledger-sums.ts';
import type { CallEnd, CallOpening } from './packed-batch.ts';
import { bindCallId, markOfCallId, ownIdBytes } from './packed-call-id.ts';

export interface CallRows {
	/**
	 * A row that is open already moves to the target given; one that is closed stays as it is.
	 * @param ends of those that have ended already, by their places. @param behindPiece called after each statement, or some.
	 * @returns the places of rows that were there: these are not closed.
	 */
	open(
		rows: readonly CallOpening[],
		ends: readonly (CallEnd | undefined)[],
		sums: GatheredSums,
		behindPiece: () => void,
	): readonly number[];
	close(end: CallEnd, sums: GatheredSums): Closing;
}

/** Where a row is that was opened here, and where it counts: it is closed without being looked for. */
interface OpenedRow {
	readonly sequence: number | bigint;
	readonly key: SumKey;
	readonly startedMs: number;
}

/** More calls than one process has open. */
const mostRemembered = 50_000;

/** @param spools whether rows are for the outbox. */
export function createCallRows(database: DatabaseSync, names: LedgerNames, run: string, spools: boolean): CallRows {
	const inserts = createCallInserts(database, spools);
	const close = `
		UPDATE calls SET duration_ms = ? - started_ms, outcome = ?, status = ?, is_estimated = ?, input_tokens = ?, cache_read_tokens = ?,
			cache_write_tokens = ?, cache_write_hour_tokens = ?, output_tokens = ?, reasoning_tokens = ?, cost_nano_usd = ?
		WHERE id = ? AND outcome IS NULL`;
	// What a failed transaction left behind of what is remembered is some other call's row by now, or nobody's.
	const updateOpened = database.prepare(`${close} AND sequence = ?`);
	const update = database.prepare(`${close}
		RETURNING sequence, is_spooled, started_ms, team, client, provider, model`);
	const findElsewhere = database.prepare(`
		SELECT sequence, is_spooled, started_ms, team, client, provider, model FROM calls
		WHERE id = ? AND outcome IS NULL AND (provider, model, price_version, budgets, hold_nano_usd) IS NOT (?, ?, ?, ?, ?)`);
	const move = database.prepare(`
		UPDATE calls SET provider = ?, model = ?, price_version = ?, budgets = ?, hold_nano_usd = ? WHERE sequence = ?`);
	const note = database.prepare('INSERT INTO outbox (call, noted_ms) VALUES (?, ?)');
	const find = database.prepare('SELECT 1 FROM calls WHERE id = ?');
	const idBytes = Buffer.alloc(ownIdBytes);
	// By a mark, for a map hashes each text that it is asked for anew. Of two rows with one mark, and of ids of others', some are looked for.
	const opened = new Map<number, OpenedRow>();
	const closeKnown = (end: CallEnd, packed: SQLInputValue, sequence: number | bigint): boolean => {
		const { changes } = updateOpened.run(
			end.endedMs,
			end.outcome,
			end.status,
			end.isEstimated,
			end.inputTokens,
			end.cacheReadTokens,
			end.cacheWriteTokens,
			end.cacheWriteHourTokens,
			end.outputTokens,
			end.reasoningTokens,
			end.costNanoUsd,
			packed,
			sequence,
		);
		return changes === 1;
	};
	const noteIfSpooled = (row: Row, atMs: number): void => {
		if (row['is_spooled'] === 1) note.run(integerOf(row, 'sequence'), atMs);
	};
	const inserted = ({ opening, terms, end }: NewCall, sequence: number, sums: GatheredSums): void => {
		const { id, startedMs } = opening;
		sums.addOpened(terms, startedMs);
		if (end === undefined) {
			if (opened.size >= mostRemembered) opened.clear();
			opened.set(markOfCallId(id), { sequence, key: terms, startedMs });
		} else {
			sums.addClosed(terms, startedMs, end);
		}
		if (spools) note.run(sequence, end?.endedMs ?? startedMs);
	};
	const moveOpen = ({ opening: { id, startedMs, hold }, terms }: NewCall, sums: GatheredSums): void => {
		const { provider, model, priceVersion, budgets } = terms;
		opened.delete(markOfCallId(id));
		const target = [provider, model, priceVersion, budgets, hold] as const;
		const elsewhere = findElsewhere.get(bindCallId(id, idBytes), ...target);
		if (elsewhere === undefined) return;
		const from = keyOf(elsewhere);
		move.run(...target, integerOf(elsewhere, 'sequence'));
		sums.addMoved(from, { ...from, provider, model }, integerOf(elsewhere, 'started_ms'));
		noteIfSpooled(elsewhere, startedMs);
	};
	return {
		open(openings, ends, sums, behindPiece) {
			const taken: number[] = [];
			if (openings.length === 0) return taken;
			const runId = names.idOf(run);
			const calls = openings.map((opening, place) => ({ opening, terms: names.termsOf(opening.terms), end: ends[place] }));
			for (let place = 0; place < calls.length; ) {
				const { count, firstSequence, isNextTaken } = inserts.insertFrom(calls, place, runId);
				for (const [index, call] of calls.slice(place, place + count).entries()) inserted(call, firstSequence + index, sums);
				place += count;
				behindPiece();
				if (!isNextTaken) continue;
				const taker = calls[place];
				if (taker !== undefined) moveOpen(taker, sums);
				taken.push(place++);
			}
			return taken;
		},
		close(end, sums) {
			const packed = bindCallId(end.id, idBytes);
			const mark = markOfCallId(end.id);
			const known = opened.get(mark);
			opened.delete(mark);
			if (known !== undefined && closeKnown(end, packed, known.sequence)) {
				sums.addClosed(known.key, known.startedMs, end);
				if (spools) note.run(known.sequence, end.endedMs);
				return 'closed';
			}
			const closed = update.get(...amountsOf(end), packed);
			if (closed === undefined) return find.get(packed) === undefined ? 'unknown' : 'closed_before';
			sums.addClosed(keyOf(closed), integerOf(closed, 'started_ms'), end);
			noteIfSpooled(closed, end.endedMs);
			return 'closed';
		},
	};
}

function keyOf(row: Row): SumKey {
	return {
		team: integerOf(row, 'team'),
		client: integerOf(row, 'client'),
		provider: integerOf(row, 'provider'),
		model: integerOf(row, 'model'),
	};
}

function amountsOf(end: CallEnd): readonly CompactInteger[] {
	const { endedMs, outcome, status, isEstimated, inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens } = end;
	const rest = [end.outputTokens, end.reasoningTokens, end.costNanoUsd];
	return [endedMs, outcome, status, isEstimated, inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, ...rest];
}
