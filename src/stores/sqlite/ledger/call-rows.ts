/** Puts single rows into the file and into the sums, inside the caller's transaction. */
import type { DatabaseSync } from 'node:sqlite';
import type { Closing } from '../../contracts/ledger.ts';
import { markOf } from '../../id-mark.ts';
import { integerOf, type Row } from '../database.ts';
import type { CompactClose, CompactInteger, CompactOpen } from './ledger-calls.ts';
import type { LedgerNames } from './ledger-names.ts';
import type { GatheredSums, SumKey } from './ledger-sums.ts';
import { packCallId } from './packed-call-id.ts';

export interface CallRows {
	/** @returns false for a row that is there already; nothing is changed then. */
	openAndClose(row: CompactOpen, end: CompactClose, sums: GatheredSums): boolean;
	/** A row that is open already moves to the target given; one that is closed stays as it is. */
	open(row: CompactOpen, sums: GatheredSums): void;
	close(row: CompactClose, sums: GatheredSums): Closing;
}

/** Where a row is that was opened here, and where it counts: it is closed without being looked for. */
interface OpenedRow {
	readonly sequence: number | bigint;
	readonly key: SumKey;
}

interface RowValues {
	readonly key: SumKey;
	readonly form: number;
	readonly terms: readonly [priceVersion: number, budgets: number];
	readonly hold: CompactInteger;
}

/** More calls than one process has open. */
const mostRemembered = 50_000;

/** @param spools whether rows are for the outbox. */
export function createCallRows(database: DatabaseSync, names: LedgerNames, run: string, spools: boolean): CallRows {
	const insert = database.prepare(`
		INSERT INTO calls (id, started_ms, team, client, provider, model, form, price_version, budgets, run, hold_nano_usd, is_spooled)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${spools ? '1' : 'NULL'}) ON CONFLICT DO NOTHING`);
	const insertWhole = database.prepare(`
		INSERT INTO calls (id, started_ms, team, client, provider, model, form, price_version, budgets, run, hold_nano_usd, is_spooled,
			duration_ms, outcome, status, is_estimated, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_hour_tokens,
			output_tokens, reasoning_tokens, cost_nano_usd)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${spools ? '1' : 'NULL'}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
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
	// By a mark, for a map hashes each text that it is asked for anew. Of two rows with one mark, and of ids of others', some are looked for.
	const opened = new Map<number, OpenedRow>();
	const valuesOf = ([, startedMs, team, client, provider, model, form, priceVersion, budgets, hold]: CompactOpen): RowValues => {
		const key = {
			startedMs,
			team: names.idOf(team),
			client: names.idOf(client),
			provider: names.idOf(provider),
			model: names.idOf(model),
		};
		return { key, form, terms: [names.idOf(priceVersion), names.idOf(budgets)], hold: typeof hold === 'number' ? hold : BigInt(hold) };
	};
	const numbersOf = ({ key, form, terms, hold }: RowValues): readonly CompactInteger[] => [
		key.startedMs,
		key.team,
		key.client,
		key.provider,
		key.model,
		form,
		...terms,
		names.idOf(run),
		hold,
	];
	return {
		openAndClose(row, end, sums) {
			const values = valuesOf(row);
			const [, endedMs, ...amounts] = end;
			const durationMs = endedMs - values.key.startedMs;
			const { changes, lastInsertRowid } = insertWhole.run(packCallId(row[0]), ...numbersOf(values), durationMs, ...amounts);
			if (changes === 0) return false;
			sums.addOpened(values.key);
			sums.addClosed(values.key, end);
			if (spools) note.run(lastInsertRowid, endedMs);
			return true;
		},
		open(row, sums) {
			const [id, startedMs] = row;
			const values = valuesOf(row);
			const { key } = values;
			const packed = packCallId(id);
			const { changes, lastInsertRowid } = insert.run(packed, ...numbersOf(values));
			if (changes === 1) {
				sums.addOpened(key);
				if (opened.size >= mostRemembered) opened.clear();
				opened.set(markOf(id), { sequence: lastInsertRowid, key });
				if (spools) note.run(lastInsertRowid, startedMs);
				return;
			}
			opened.delete(markOf(id));
			const target = [key.provider, key.model, ...values.terms, values.hold] as const;
			const elsewhere = findElsewhere.get(packed, ...target);
			if (elsewhere === undefined) return;
			const from = keyOf(elsewhere);
			const sequence = integerOf(elsewhere, 'sequence');
			move.run(...target, sequence);
			sums.addMoved(from, { ...from, provider: key.provider, model: key.model });
			if (elsewhere['is_spooled'] === 1) note.run(sequence, startedMs);
		},
		close(row, sums) {
			const [id, endedMs, ...amounts] = row;
			const packed = packCallId(id);
			const mark = markOf(id);
			const known = opened.get(mark);
			opened.delete(mark);
			if (known !== undefined && updateOpened.run(endedMs, ...amounts, packed, known.sequence).changes === 1) {
				sums.addClosed(known.key, row);
				if (spools) note.run(known.sequence, endedMs);
				return 'closed';
			}
			const closed = update.get(endedMs, ...amounts, packed);
			if (closed === undefined) return find.get(packed) === undefined ? 'unknown' : 'closed_before';
			sums.addClosed(keyOf(closed), row);
			if (closed['is_spooled'] === 1) note.run(integerOf(closed, 'sequence'), endedMs);
			return 'closed';
		},
	};
}

function keyOf(row: Row): SumKey {
	return {
		startedMs: integerOf(row, 'started_ms'),
		team: integerOf(row, 'team'),
		client: integerOf(row, 'client'),
		provider: integerOf(row, 'provider'),
		model: integerOf(row, 'model'),
	};
}
