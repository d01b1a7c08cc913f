/** Inserts several rows in one statement: opening the table and its indexes for each row would cost a fifth of its insertion. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { integerOf } from '../../row.ts';
import type { EntryTerms } from './ledger-names.ts';
import type { SumKey } from './ledger-sums.ts';
import type { EntryOpening, RequestEnd } from './packed-batch.ts';
import { bindRequestId, ownIdBytes } from './packed-request-id.ts';

export interface NewEntry {
	readonly opening: EntryOpening;
	readonly terms: EntryTerms;
	/** Sums that count it. */
	readonly key: SumKey;
	/** Attributes if the sums count it under others; null otherwise. */
	readonly otherAttributes: string | null;
	/** End of a request that has already ended. */
	readonly end: RequestEnd | undefined;
}

export interface EntryInserts {
	/** Inserts the row at `start`, or several from there on. @param run number of the run's name. */
	insertFrom(requests: readonly NewEntry[], start: number, run: number): Inserted;
}

interface Inserted {
	readonly count: number;
	readonly firstSequence: number;
	/** True if the id of the following row exists already: that row was not inserted. */
	readonly isNextTaken: boolean;
}

const together = 16;
/**
 * Rows inserted singly after an existing id: more existing ids are likely to follow, and each makes a statement of several rows be
 * repeated.
 */
const singlyBehindTaken = 8;

const columns = [
	...['id', 'started_ms', 'team', 'client', 'provider', 'model', 'dialect', 'is_streamed', 'price_version', 'budgets', 'run'],
	...['endpoint', 'attributes', 'other_attributes'],
	...['hold_nano_usd', 'duration_ms', 'outcome', 'status', 'is_estimated', 'input_tokens', 'cache_read_tokens', 'cache_write_tokens'],
	...['cache_write_hour_tokens', 'output_tokens', 'reasoning_tokens', 'cost_nano_usd'],
];

/** @param spools true if rows are also for the outbox. */
export function createEntryInserts(database: DatabaseSync, spools: boolean): EntryInserts {
	const row = `(${columns.map(() => '?').join(', ')}, ${spools ? '1' : 'NULL'})`;
	const into = `INTO calls (${columns.join(', ')}, is_spooled) VALUES`;
	const insertOne = database.prepare(`INSERT ${into} ${row} ON CONFLICT DO NOTHING`);
	// FAIL keeps the rows before an existing id, and saves the page copies with which ABORT would undo them.
	const insertSeveral = database.prepare(`INSERT OR FAIL ${into} ${Array.from({ length: together }, () => row).join(', ')}`);
	const selectInserted = database.prepare('SELECT changes() AS count, last_insert_rowid() AS last');
	const one = new EntryValues(1);
	const several = new EntryValues(together);
	const execute = (statement: StatementSync, { values }: EntryValues): { count: number; last: number } => {
		try {
			const { changes, lastInsertRowid } = statement.run(...values);
			return { count: Number(changes), last: Number(lastInsertRowid) };
		} catch (cause) {
			if (!isTaken(cause)) throw cause;
			const found = selectInserted.get() ?? {};
			return { count: integerOf(found, 'count'), last: integerOf(found, 'last') };
		}
	};
	let singly = 0;
	return {
		insertFrom(requests, start, run) {
			const isOne = singly > 0 || requests.length - start < together;
			const rows = isOne ? one : several;
			rows.fill(requests, start, run);
			const { count, last } = execute(isOne ? insertOne : insertSeveral, rows);
			const isNextTaken = count < rows.length;
			singly = isNextTaken ? singlyBehindTaken : Math.max(0, singly - 1);
			return { count, firstSequence: last - count + 1, isNextTaken };
		},
	};
}

/** Reusable parameters of a statement. */
class EntryValues {
	readonly length: number;
	readonly values: SQLInputValue[];
	readonly #ids: readonly Buffer[];

	constructor(length: number) {
		this.length = length;
		this.values = Array.from({ length: length * columns.length }, () => null);
		this.#ids = Array.from({ length }, () => Buffer.alloc(ownIdBytes));
	}

	fill(requests: readonly NewEntry[], start: number, run: number): void {
		for (const [place, id] of this.#ids.entries()) {
			const request = requests[start + place];
			if (request !== undefined) this.#fillRow(place * columns.length, request, bindRequestId(request.opening.id, id), run);
		}
	}

	#fillRow(at: number, { opening, terms, key, otherAttributes, end }: NewEntry, id: SQLInputValue, run: number): void {
		const { values } = this;
		values[at] = id;
		values[at + 1] = opening.startedMs;
		values[at + 2] = terms.team;
		values[at + 3] = terms.client;
		values[at + 4] = terms.provider;
		values[at + 5] = terms.model;
		values[at + 6] = terms.dialect;
		values[at + 7] = terms.isStreaming;
		values[at + 8] = terms.priceVersion;
		values[at + 9] = terms.budgets;
		values[at + 10] = run;
		values[at + 11] = terms.endpoint;
		values[at + 12] = key.attributes;
		values[at + 13] = otherAttributes;
		values[at + 14] = opening.reserved;
		values[at + 15] = end === undefined ? null : end.endedMs - opening.startedMs;
		values[at + 16] = end?.outcome ?? null;
		values[at + 17] = end?.status ?? null;
		values[at + 18] = end?.isEstimated ?? null;
		values[at + 19] = end?.inputTokens ?? null;
		values[at + 20] = end?.cacheReadTokens ?? null;
		values[at + 21] = end?.cacheWriteTokens ?? null;
		values[at + 22] = end?.cacheWriteHourTokens ?? null;
		values[at + 23] = end?.outputTokens ?? null;
		values[at + 24] = end?.reasoningTokens ?? null;
		values[at + 25] = end?.costNanoUsd ?? null;
	}
}

const uniqueConstraint = 2067;

/** The id is the only unique column. */
function isTaken(cause: unknown): boolean {
	return cause instanceof Error && 'errcode' in cause && cause.errcode === uniqueConstraint;
}
