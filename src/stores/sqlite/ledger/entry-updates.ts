/** Writes single rows to the table and to the sums, inside the caller's transaction. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Closing } from '../../contracts/ledger.ts';
import { integerOf, type Row } from '../../row.ts';
import { sumKeys } from '../../sum-tables.ts';
import { createEntryInserts, type NewEntry } from './entry-inserts.ts';
import type { EntryNames } from './entry-names.ts';
import type { CompactInteger } from './ledger-operations.ts';
import type { GatheredSums, SumKey } from './ledger-sums.ts';
import type { EntryOpening, RequestEnd } from './packed-batch.ts';
import { bindRequestId, ownIdBytes, requestIdHash } from './packed-request-id.ts';

export interface EntryUpdates {
	/**
	 * Opens rows. An open row moves to the target given; a closed one stays unchanged.
	 * @param ends ends of requests that have already ended, by index. @param behindPiece called after each statement, or after some.
	 * @returns indexes of rows that existed already: these are not closed.
	 */
	open(
		rows: readonly EntryOpening[],
		ends: readonly (RequestEnd | undefined)[],
		sums: GatheredSums,
		behindPiece: () => void,
	): readonly number[];
	close(end: RequestEnd, sums: GatheredSums): Closing;
}

/** Position and sum key of a row that was opened here, so that it is closed without a lookup. */
interface OpenedEntry {
	readonly sequence: number | bigint;
	readonly key: SumKey;
	readonly startedMs: number;
}

/** More than the open requests of one process. */
const maxCached = 50_000;

/** @param spools true if rows are also for the outbox. */
export function createEntryUpdates(database: DatabaseSync, entryNames: EntryNames, run: string, spools: boolean): EntryUpdates {
	const inserts = createEntryInserts(database, spools);
	const close = `
		UPDATE calls SET duration_ms = ? - started_ms, outcome = ?, status = ?, is_estimated = ?, input_tokens = ?, cache_read_tokens = ?,
			cache_write_tokens = ?, cache_write_hour_tokens = ?, output_tokens = ?, reasoning_tokens = ?, cost_nano_usd = ?
		WHERE id = ? AND outcome IS NULL`;
	// Compares the id, too: after a failed transaction a remembered sequence number may belong to another row, or to none.
	const updateOpened = database.prepare(`${close} AND sequence = ?`);
	const update = database.prepare(`${close}
		RETURNING sequence, is_spooled, started_ms, ${sumKeys.join(', ')}`);
	const findElsewhere = database.prepare(`
		SELECT sequence, is_spooled, started_ms, ${sumKeys.join(', ')} FROM calls
		WHERE id = ? AND outcome IS NULL AND (provider, model, price_version, budgets, hold_nano_usd) IS NOT (?, ?, ?, ?, ?)`);
	const move = database.prepare(`
		UPDATE calls SET provider = ?, model = ?, price_version = ?, budgets = ?, hold_nano_usd = ? WHERE sequence = ?`);
	const note = database.prepare('INSERT INTO outbox (call, noted_ms) VALUES (?, ?)');
	const find = database.prepare('SELECT 1 FROM calls WHERE id = ?');
	const idBytes = Buffer.alloc(ownIdBytes);
	// Keyed by hash, because a map hashes each new string again. If two rows share a hash, or an id is a client's, the row may need a lookup.
	const opened = new Map<number, OpenedEntry>();
	const closeKnown = (end: RequestEnd, packed: SQLInputValue, sequence: number | bigint): boolean => {
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
	const inserted = ({ opening, key, end }: NewEntry, sequence: number, sums: GatheredSums): void => {
		const { id, startedMs } = opening;
		sums.addOpened(key, startedMs);
		if (end === undefined) {
			if (opened.size >= maxCached) opened.clear();
			opened.set(requestIdHash(id), { sequence, key, startedMs });
		} else {
			sums.addClosed(key, startedMs, end);
		}
		if (spools) note.run(sequence, end?.endedMs ?? startedMs);
	};
	const moveOpen = ({ opening: { id, startedMs, reserved }, terms }: NewEntry, sums: GatheredSums): void => {
		const { provider, model, priceVersion, budgets } = terms;
		opened.delete(requestIdHash(id));
		const target = [provider, model, priceVersion, budgets, reserved] as const;
		const elsewhere = findElsewhere.get(bindRequestId(id, idBytes), ...target);
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
			const instanceId = entryNames.names.idOf(run);
			const requests = openings.map((opening, place) => newEntryOf(opening, ends[place], entryNames));
			for (let place = 0; place < requests.length; ) {
				const { count, firstSequence, isNextTaken } = inserts.insertFrom(requests, place, instanceId);
				for (const [index, request] of requests.slice(place, place + count).entries()) inserted(request, firstSequence + index, sums);
				place += count;
				behindPiece();
				if (!isNextTaken) continue;
				const taker = requests[place];
				if (taker !== undefined) moveOpen(taker, sums);
				taken.push(place++);
			}
			return taken;
		},
		close(end, sums) {
			const packed = bindRequestId(end.id, idBytes);
			const mark = requestIdHash(end.id);
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

function newEntryOf(opening: EntryOpening, end: RequestEnd | undefined, { names, attributeNames }: EntryNames): NewEntry {
	const terms = names.termsOf(opening.terms);
	const { attributesText } = terms;
	if (attributesText === '') return { opening, terms, key: terms, otherAttributes: null, end };
	const { id, isOther } = attributeNames.of(terms.team, opening.startedMs, attributesText);
	return { opening, terms, key: { ...terms, attributes: id }, otherAttributes: isOther ? attributesText : null, end };
}

function keyOf(row: Row): SumKey {
	return {
		team: integerOf(row, 'team'),
		client: integerOf(row, 'client'),
		provider: integerOf(row, 'provider'),
		model: integerOf(row, 'model'),
		endpoint: integerOf(row, 'endpoint'),
		attributes: integerOf(row, 'attributes'),
	};
}

function amountsOf(end: RequestEnd): readonly CompactInteger[] {
	const { endedMs, outcome, status, isEstimated, inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens } = end;
	const rest = [end.outputTokens, end.reasoningTokens, end.costNanoUsd];
	return [endedMs, outcome, status, isEstimated, inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, ...rest];
}
