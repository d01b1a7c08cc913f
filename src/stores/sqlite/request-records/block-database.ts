/** Blocks of request records in SQLite. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { readMigrations } from '../../read-migrations.ts';
import {
	allSpansMs,
	type BlockReading,
	type BlockRef,
	blocksPerMs,
	isLoose,
	type NewBlock,
	spanOf,
} from '../../request-blocks/block-table.ts';
import { blocksToMerge, mergeBlocks, packKeys, unpackKeys } from '../../request-blocks/merge-blocks.ts';
import { integerOf, type Row } from '../../row.ts';
import { createTransaction } from '../database.ts';

export const requestRecordsFileName = 'requests.db';

export const requestRecordsSchema = readMigrations(new URL('../migrations/request-records/', import.meta.url));

/** Blocks that one step of retention deletes: a few milliseconds, most of them for the keys. */
const blocksPerStep = 1;

function bytesOf(row: Row, column: string): Uint8Array {
	const value = row[column];
	if (!(value instanceof Uint8Array)) throw new TypeError(`Column ${column} is not a blob`);
	return value;
}

function refOf(row: Row): BlockRef {
	return { id: integerOf(row, 'id'), minMs: integerOf(row, 'min_ms'), count: integerOf(row, 'count') };
}

export interface BlockWriting {
	insert(block: NewBlock): void;
	/** Merges some loose blocks. @returns true if there may be more. */
	mergeSome(): boolean;
	/** Deletes some of the oldest blocks that ended before then, or are beyond the size. @returns true if there may be more. */
	pruneSome(beforeMs: number, maxBytes: number): boolean;
}

/** @param randomSequence returns a number below `blocksPerMs`. */
export function createBlockWriting(database: DatabaseSync, randomSequence: () => number): BlockWriting {
	const transaction = createTransaction(database);
	const insertBlock = database.prepare(`
		INSERT INTO blocks (id, min_ms, count, span_ms, is_loose, keys, data) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
	// One statement for all keys: calls from JavaScript would cost more than the rows.
	const insertKeys = database.prepare('INSERT INTO block_keys (key, block) SELECT value, ? FROM json_each(?)');
	const deleteBlock = database.prepare('DELETE FROM blocks WHERE id = ?');
	const deleteKeys = database.prepare('DELETE FROM block_keys WHERE block = ? AND key IN (SELECT value FROM json_each(?))');
	const loose = database.prepare('SELECT id, count FROM blocks WHERE is_loose = 1 ORDER BY id LIMIT 64');
	const dataOf = database.prepare('SELECT data FROM blocks WHERE id = ?');
	const keysOf = database.prepare('SELECT keys FROM blocks WHERE id = ?');
	const oldest = database.prepare(`SELECT id FROM blocks ORDER BY id LIMIT ${blocksPerStep}`);
	const pages = database.prepare(`
		SELECT (page_count - freelist_count) * page_size AS bytes
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);

	const insert = (block: NewBlock, isMerged: boolean): void => {
		const { count, minMs, maxMs, keys, data } = block;
		const first = randomSequence();
		for (let tried = 0; tried < blocksPerMs; tried++) {
			const id = maxMs * blocksPerMs + ((first + tried) % blocksPerMs);
			const { changes } = insertBlock.run(id, minMs, count, spanOf(minMs, maxMs), Number(isLoose(block, isMerged)), packKeys(keys), data);
			if (Number(changes) === 0) continue;
			// In the order of the index.
			insertKeys.run(id, JSON.stringify(keys.toSorted((one, other) => one - other)));
			return;
		}
		throw new Error(`there are ${blocksPerMs} blocks that end in one millisecond`);
	};
	const remove = (id: number): void => {
		const row = keysOf.get(id);
		if (row === undefined) return;
		deleteKeys.run(id, JSON.stringify(unpackKeys(bytesOf(row, 'keys'))));
		deleteBlock.run(id);
	};
	return {
		insert: (block) => transaction(() => insert(block, false)),
		mergeSome: () =>
			transaction(() => {
				const merged = blocksToMerge(loose.all().map((row) => ({ id: integerOf(row, 'id'), count: integerOf(row, 'count') })));
				if (merged.length === 0) return false;
				const data = merged.map(({ id }) => bytesOf(dataOf.get(id) ?? {}, 'data'));
				for (const { id } of merged) remove(id);
				for (const block of mergeBlocks(data)) insert(block, true);
				return true;
			}),
		pruneSome: (beforeMs, maxBytes) =>
			transaction(() => {
				let deleted = 0;
				for (const row of oldest.all()) {
					const id = integerOf(row, 'id');
					if (id >= beforeMs * blocksPerMs && integerOf(pages.get() ?? {}, 'bytes') <= maxBytes) break;
					remove(id);
					deleted++;
				}
				return deleted === blocksPerStep;
			}),
	};
}

/** Reads in one snapshot: use it inside a transaction. */
export function createBlockReading(database: DatabaseSync): BlockReading {
	const statements = new Map<string, StatementSync>();
	const prepare = (text: string): StatementSync => {
		const known = statements.get(text) ?? database.prepare(text);
		statements.set(text, known);
		return known;
	};
	const hasKey = (column: string): string => `AND EXISTS (SELECT 1 FROM block_keys WHERE key = ? AND block = ${column})`;
	const rank = (key: number, beforeId: number, fromId: number): number =>
		integerOf(
			prepare(`SELECT count(*) AS count FROM (SELECT 1 FROM block_keys WHERE key = ? AND block < ? AND block >= ? LIMIT 500)`).get(
				key,
				beforeId,
				fromId,
			) ?? {},
			'count',
		);
	return {
		async around(ms, keys) {
			const all = allSpansMs.flatMap((span) =>
				prepare(`
					SELECT id, min_ms, count FROM blocks INDEXED BY blocks_by_span
					WHERE span_ms = ? AND id >= ? AND id < ? AND min_ms <= ? ${keys.map(() => hasKey('blocks.id')).join(' ')}`)
					.all(span, ms * blocksPerMs, Math.min((ms + span + 1) * blocksPerMs, Number.MAX_SAFE_INTEGER), ms, ...keys)
					.map(refOf),
			);
			return all.toSorted((one, other) => other.id - one.id);
		},
		async before(beforeId, fromId, keys, limit) {
			if (keys.length === 0) {
				return prepare('SELECT id, min_ms, count FROM blocks WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT ?')
					.all(beforeId, fromId, limit)
					.map(refOf);
			}
			// The rarest key leads.
			const ranked = keys.length === 1 ? keys : keys.toSorted((one, other) => rank(one, beforeId, fromId) - rank(other, beforeId, fromId));
			const [first = 0, ...others] = ranked;
			return prepare(`
				SELECT id, min_ms, count FROM block_keys AS leading JOIN blocks ON id = leading.block
				WHERE leading.key = ? AND leading.block < ? AND leading.block >= ? ${others.map(() => hasKey('leading.block')).join(' ')}
				ORDER BY leading.block DESC LIMIT ?`)
				.all(first, beforeId, fromId, ...others, limit)
				.map(refOf);
		},
		async from(fromId, limit) {
			return prepare('SELECT id, min_ms, count FROM blocks WHERE id >= ? ORDER BY id LIMIT ?').all(fromId, limit).map(refOf);
		},
		async read(ids) {
			return ids.map((id) => bytesOf(prepare('SELECT data FROM blocks WHERE id = ?').get(id) ?? {}, 'data'));
		},
	};
}
