/** Blocks of request records in PostgreSQL. Several processes write them; merges and retention run in one process at a time. */
import { type Kysely, sql } from 'kysely';
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
import { blocksToMerge, mergeBlocks } from '../../request-blocks/merge-blocks.ts';
import { plainArray } from '../ledger/array-literal.ts';
import type { SchemaPart } from '../migrate.ts';

type Database = Kysely<unknown>;

export const postgresRequestsSchema: SchemaPart = {
	name: 'request-records',
	steps: readMigrations(new URL('../migrations/request-records/', import.meta.url)),
};

const blocksPerStep = 4;
/** Size of a key in both tables and their index. */
const bytesPerKey = 80;
const upkeepLock = 7_161_235_007_311;

interface RefColumns {
	readonly id: bigint;
	readonly min_ms: bigint;
	readonly count: number;
}

function refOf({ id, min_ms: minMs, count }: RefColumns): BlockRef {
	return { id: Number(id), minMs: Number(minMs), count };
}

/** @param randomSequence returns a number below `blocksPerMs`. */
export async function insertBlock(db: Database, block: NewBlock, randomSequence: () => number, isMerged = false): Promise<void> {
	const { count, minMs, maxMs, keys, data } = block;
	const first = randomSequence();
	const bytes = data.length + keys.length * bytesPerKey;
	const keyArray = plainArray(keys.toSorted((one, other) => one - other));
	for (let tried = 0; tried < blocksPerMs; tried++) {
		const id = maxMs * blocksPerMs + ((first + tried) % blocksPerMs);
		const { rows } = await sql`
			WITH block AS (
				INSERT INTO tollgate.request_blocks (id, min_ms, count, span_ms, is_loose, bytes, keys, data)
				VALUES (${id}, ${minMs}, ${count}, ${spanOf(minMs, maxMs)}, ${isLoose(block, isMerged)}, ${bytes}, ${keyArray}::int8[], ${data})
				ON CONFLICT DO NOTHING RETURNING id, keys
			), indexed AS (INSERT INTO tollgate.request_block_keys (key, block) SELECT unnest(keys), id FROM block)
			SELECT id FROM block`.execute(db);
		if (rows.length > 0) return;
	}
	throw new Error(`there are ${blocksPerMs} blocks that end in one millisecond`);
}

async function removeBlocks(db: Database, ids: readonly number[]): Promise<void> {
	await sql`
		WITH removed AS (DELETE FROM tollgate.request_blocks WHERE id = ANY (${plainArray(ids)}::int8[]) RETURNING id, keys),
			indexed AS (SELECT id, unnest(keys) AS key FROM removed)
		DELETE FROM tollgate.request_block_keys AS one USING indexed WHERE one.key = indexed.key AND one.block = indexed.id`.execute(db);
}

/** Runs upkeep unless another process runs it. */
async function alone(db: Database, work: (transaction: Database) => Promise<boolean>): Promise<boolean> {
	return db.transaction().execute(async (transaction) => {
		const { rows } = await sql<{ taken: boolean }>`SELECT pg_try_advisory_xact_lock(${upkeepLock}) AS taken`.execute(transaction);
		return rows[0]?.taken === true && (await work(transaction));
	});
}

export function mergeSome(db: Database, randomSequence: () => number): Promise<boolean> {
	return alone(db, async (transaction) => {
		const { rows } = await sql<RefColumns>`
			SELECT id, min_ms, count FROM tollgate.request_blocks WHERE is_loose ORDER BY id LIMIT 64`.execute(transaction);
		const merged = blocksToMerge(rows.map(refOf));
		if (merged.length === 0) return false;
		const ids = merged.map(({ id }) => id);
		const data = await createPostgresBlockReading(transaction).read(ids);
		await removeBlocks(transaction, ids);
		for (const block of mergeBlocks(data)) await insertBlock(transaction, block, randomSequence, true);
		return true;
	});
}

export function pruneSome(db: Database, beforeMs: number, maxBytes: number): Promise<boolean> {
	return alone(db, async (transaction) => {
		const { rows: sizes } = await sql<{ bytes: bigint | null }>`
			SELECT sum(bytes)::int8 AS bytes FROM tollgate.request_blocks`.execute(transaction);
		let remainingBytes = Number(sizes[0]?.bytes ?? 0);
		const { rows } = await sql<{ id: bigint; bytes: number }>`
			SELECT id, bytes FROM tollgate.request_blocks ORDER BY id LIMIT ${blocksPerStep}`.execute(transaction);
		const ids: number[] = [];
		for (const { id, bytes } of rows) {
			if (Number(id) >= beforeMs * blocksPerMs && remainingBytes <= maxBytes) break;
			ids.push(Number(id));
			remainingBytes -= bytes;
		}
		if (ids.length > 0) await removeBlocks(transaction, ids);
		return ids.length === blocksPerStep;
	});
}

/** @param db a transaction with one snapshot, so that a merge does not move blocks away. */
export function createPostgresBlockReading(db: Database): BlockReading {
	const withKeys = (column: string, keys: readonly number[]) =>
		sql.join(
			keys.map((key) => sql`AND EXISTS (SELECT 1 FROM tollgate.request_block_keys WHERE key = ${key} AND block = ${sql.raw(column)})`),
			sql` `,
		);
	const rank = async (key: number, beforeId: number, fromId: number): Promise<number> => {
		const { rows } = await sql<{ count: bigint }>`
			SELECT count(*) AS count FROM (
				SELECT 1 FROM tollgate.request_block_keys WHERE key = ${key} AND block < ${beforeId} AND block >= ${fromId} LIMIT 500
			) AS limited`.execute(db);
		return Number(rows[0]?.count ?? 0);
	};
	return {
		async around(ms, keys) {
			const ofSpans = allSpansMs.map(
				(span) => sql`
					SELECT id, min_ms, count FROM tollgate.request_blocks AS blocks
					WHERE span_ms = ${span} AND id >= ${ms * blocksPerMs}
						AND id < ${Math.min((ms + span + 1) * blocksPerMs, Number.MAX_SAFE_INTEGER)} AND min_ms <= ${ms} ${withKeys('blocks.id', keys)}`,
			);
			const { rows } = await sql<RefColumns>`${sql.join(ofSpans, sql` UNION ALL `)} ORDER BY id DESC`.execute(db);
			return rows.map(refOf);
		},
		async before(beforeId, fromId, keys, limit) {
			if (keys.length === 0) {
				const { rows } = await sql<RefColumns>`
					SELECT id, min_ms, count FROM tollgate.request_blocks
					WHERE id < ${beforeId} AND id >= ${fromId} ORDER BY id DESC LIMIT ${limit}`.execute(db);
				return rows.map(refOf);
			}
			const ranked: { readonly key: number; readonly count: number }[] = [];
			for (const key of keys) ranked.push({ key, count: keys.length === 1 ? 0 : await rank(key, beforeId, fromId) });
			// The rarest key leads.
			const [first = 0, ...others] = ranked.toSorted((one, other) => one.count - other.count).map(({ key }) => key);
			const { rows } = await sql<RefColumns>`
				SELECT id, min_ms, count FROM (
					SELECT block FROM tollgate.request_block_keys AS rarest
					WHERE rarest.key = ${first} AND block < ${beforeId} AND block >= ${fromId} ${withKeys('rarest.block', others)}
					ORDER BY block DESC LIMIT ${limit}
				) AS found JOIN tollgate.request_blocks ON id = found.block ORDER BY id DESC`.execute(db);
			return rows.map(refOf);
		},
		async from(fromId, limit) {
			const { rows } = await sql<RefColumns>`
				SELECT id, min_ms, count FROM tollgate.request_blocks WHERE id >= ${fromId} ORDER BY id LIMIT ${limit}`.execute(db);
			return rows.map(refOf);
		},
		async read(ids) {
			const { rows } = await sql<{ data: Uint8Array }>`
				SELECT data FROM unnest(${plainArray(ids)}::int8[]) WITH ORDINALITY AS wanted (id, place)
				JOIN tollgate.request_blocks USING (id) ORDER BY place`.execute(db);
			return rows.map(({ data }) => data);
		},
	};
}
