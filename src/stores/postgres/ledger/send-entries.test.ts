import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { query } from '../../../../test/support/postgres-server.ts';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { type PostgresDatabase, sharePostgres } from '../../../../test/support/shared-stores.ts';
import { systemClock } from '../../../io/system-clock.ts';
import { closedEntry, ledgerNoonMs, openEntry } from '../../contracts/ledger.contract.ts';
import type { SpooledEntry } from '../../contracts/ledger-spool.ts';
import { migrate } from '../migrate.ts';
import { openPostgres, type PostgresConnection } from '../postgres-connection.ts';
import { checkLedger } from './ledger-check.ts';
import { listEntries, summarize } from './ledger-reading.ts';
import { closeLost, pruneDays } from './ledger-upkeep.ts';
import { postgresLedgerSchema } from './postgres-ledger-schema.ts';
import { createSendEntries, writeBatch } from './send-entries.ts';

let server: PostgresDatabase;
let url: string;
let connection: PostgresConnection<unknown>;
beforeAll(async () => {
	server = await sharePostgres();
	url = await server.createDatabase();
	connection = openPostgres({ url, poolSize: 4 }, { clock: systemClock, log: createRecordingLog() });
	await migrate(connection, [postgresLedgerSchema]);
});
afterAll(async () => {
	await connection.close();
	await server.stop();
});

const openRequests = 8;
const year = { fromMs: Date.UTC(2026, 0), toMs: Date.UTC(2027, 0), period: 'month' } as const;

/** Spooled row of a request: at any time, either in flight or ended in the one way it ever ends. */
function spooledEntry(round: number, request: number, isClosed: boolean): SpooledEntry {
	const row = openEntry(`${round}-${request}`, {
		startedMs: ledgerNoonMs - request * 7 * 3_600_000,
		team: `team"\\${request % 3}`,
		model: 'm,{}',
	});
	const closed = closedEntry(row.id, { costNanoUsd: BigInt(request + 1) });
	const { team, clientId, provider, model, dialect, isStreaming, priceVersion } = row;
	const terms = [team, clientId, provider, model, dialect, isStreaming, priceVersion] as const;
	const opened = [row.id, row.startedMs, ...terms, '[]', '5000', row.endpoint, row.attributes] as const;
	if (!isClosed) return [...opened, null, null, null, null, null, null, null, null, null, null, null];
	const { usage, outcome, endedMs, status, isEstimated, costNanoUsd } = closed;
	const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens } = usage;
	const tokens = [inputTokens, cacheReadTokens, cacheWriteTokens, cacheWriteHourTokens, outputTokens, reasoningTokens] as const;
	return [...opened, outcome, endedMs, status, isEstimated, ...tokens, costNanoUsd.toString()];
}

test('batches that are sent again, out of turn, in parts and at once count every entry and every end once', async () => {
	const sendEntries = createSendEntries();
	const sent = fc.record({ request: fc.nat(openRequests - 1), isClosed: fc.boolean() });
	const step = fc.record({
		batches: fc.array(fc.uniqueArray(sent, { maxLength: 6, selector: ({ request }) => request }), { maxLength: 3 }),
	});
	let round = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
			round += 1;
			await query(url, 'TRUNCATE tollgate.ledger_calls, tollgate.ledger_hourly, tollgate.ledger_daily');
			const opened = new Set<number>();
			const closed = new Set<number>();
			for (const { batches } of steps) {
				const rejected = await Promise.all(
					batches.map((batch) =>
						connection.run((db) =>
							sendEntries(
								db,
								batch.map(({ request, isClosed }) => spooledEntry(round, request, isClosed)),
							),
						),
					),
				);
				expect(rejected.flat()).toEqual([]);
				for (const { request, isClosed } of batches.flat()) {
					opened.add(request);
					if (isClosed) closed.add(request);
				}
				const sums = await connection.run((db) => summarize(db, year));
				expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(opened.size);
				const costs = sums.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n);
				expect(costs).toBe([...closed].reduce((sum, request) => sum + BigInt(request + 1), 0n));
				expect(await connection.run(checkLedger)).toEqual([]);
			}
			const { rows } = await connection.run((db) => listEntries(db, { limit: 100 }));
			expect(rows.map(({ id, closed: end }) => `${id} ${end === undefined}`).toSorted()).toEqual(
				[...opened].map((request) => `${round}-${request} ${!closed.has(request)}`).toSorted(),
			);
		}),
		{ numRuns: 40 },
	);
});

test('a batch that was given up and commits late keeps no end from being written', async () => {
	await query(url, 'TRUNCATE tollgate.ledger_calls, tollgate.ledger_hourly, tollgate.ledger_daily');
	const sendEntries = createSendEntries();
	const givenUp = Promise.withResolvers<void>();
	const hasWritten = Promise.withResolvers<void>();
	const first = connection.run((db) =>
		db.transaction().execute(async (transaction) => {
			await writeBatch(transaction, [spooledEntry(0, 1, false)]);
			hasWritten.resolve();
			await givenUp.promise;
		}),
	);
	await hasWritten.promise;
	const second = connection.run((db) => sendEntries(db, [spooledEntry(0, 1, true)]));
	await untilOneWaits();
	givenUp.resolve();
	await Promise.all([first, second]);
	expect((await connection.run((db) => listEntries(db, { limit: 2 }))).rows.map(({ closed }) => closed?.outcome)).toEqual(['complete']);
	expect(await connection.run(checkLedger)).toEqual([]);
});

test('a batch that is sent again after its day was dropped counts nothing twice; the end of a request that ran then still counts', async () => {
	await query(url, 'TRUNCATE tollgate.ledger_calls, tollgate.ledger_hourly, tollgate.ledger_daily');
	const sendEntries = createSendEntries();
	const send = (...rows: SpooledEntry[]): ReturnType<typeof sendEntries> => connection.run((db) => sendEntries(db, rows));
	const [first, running, second] = [spooledEntry(0, 1, true), spooledEntry(1, 2, false), spooledEntry(0, 3, true)];
	await send(first, running);
	await connection.run((db) => pruneDays(db, ledgerNoonMs + 2 * 86_400_000));
	expect((await send(first, second)).map(({ id }) => id)).toEqual([first[0], second[0]]);
	expect(await send(spooledEntry(1, 2, true))).toEqual([]);
	const sums = await connection.run((db) => summarize(db, year));
	expect(sums.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
	expect(sums.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(2n + 3n);
	await query(url, 'UPDATE tollgate.ledger_progress SET pruned_before_ms = 0');
});

test('entries are found lost by several at once, in any number, and charged once', async () => {
	await query(url, 'TRUNCATE tollgate.ledger_calls, tollgate.ledger_hourly, tollgate.ledger_daily');
	const rows = Array.from({ length: 1500 }, (_, request) => spooledEntry(request, request % 4, false));
	await connection.run((db) => createSendEntries()(db, rows));
	const nowMs = ledgerNoonMs + 60 * 3_600_000;
	const closed = await Promise.all([1, 2, 3].map(() => connection.run((db) => closeLost(db, nowMs))));
	expect(closed.reduce((sum, some) => sum + some, 0)).toBe(1500);
	expect((await connection.run((db) => summarize(db, year))).reduce((sum, row) => sum + row.costNanoUsd, 0n)).toBe(1500n * 5000n);
	// Had their process returned after all, the first end would count.
	await connection.run((db) => createSendEntries()(db, [spooledEntry(1, 1, true)]));
	expect(await connection.run(checkLedger)).toEqual([]);
});

async function untilOneWaits(): Promise<void> {
	await expect
		.poll(() => query(url, "SELECT 1 AS one FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"), {
			interval: 5,
			timeout: 4000,
		})
		.toEqual([{ one: 1 }]);
}
