import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { query } from '../../../test/support/postgres-server.ts';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
import { requestTrace } from '../../../test/support/request-trace.ts';
import { type PostgresDatabase, sharePostgres } from '../../../test/support/shared-stores.ts';
import { silentLog } from '../../core/log.ts';
import { systemClock } from '../../io/system-clock.ts';
import { requestRecordsContract } from '../contracts/request-records.contract.ts';
import type { RequestRecordReader, RequestRecords } from '../contracts/request-records.ts';
import { openPostgresRequestRecordReader, openPostgresRequestRecords } from './postgres-request-records.ts';

const ports = { clock: systemClock, log: silentLog };
const forever = { retainDays: 36_500, maxBytes: 2 ** 40 };

let server: PostgresDatabase;
beforeAll(async () => {
	server = await sharePostgres();
});
afterAll(() => server.stop());

// Threads take long to start, so that one store serves all tests.
let opened: { readonly records: RequestRecords; readonly reader: RequestRecordReader; readonly url: string } | undefined;
requestRecordsContract('PostgreSQL', async () => {
	opened ??= await (async () => {
		const url = await server.createDatabase();
		return {
			records: await openPostgresRequestRecords({ url, ...forever }, ports),
			reader: await openPostgresRequestRecordReader({ url }),
			url,
		};
	})();
	const { records, url } = opened;
	return {
		...opened,
		async dispose() {
			await records.find('req_');
			await records.list({ limit: 1 });
			await query(url, 'TRUNCATE tollgate.request_blocks, tollgate.request_block_keys');
		},
	};
});
afterAll(async () => {
	await opened?.records.end();
	await opened?.reader.end();
});

test('two processes write at once, and see each other’s records', async () => {
	const url = await server.createDatabase();
	const both = [await openPostgresRequestRecords({ url, ...forever }, ports), await openPostgresRequestRecords({ url, ...forever }, ports)];
	const startMs = Date.UTC(2026, 10, 21);
	for (let index = 0; index < 400; index++) {
		both[index % 2]?.add(recordedRequest(startMs + Math.floor(index / 4), index));
		if (index % 20 === 0) await Promise.all(both.map((records) => records.find('req_')));
	}
	await Promise.all(both.map((records) => records.list({ limit: 1 })));
	for (const records of both) expect((await records.list({ limit: 1000 })).requests).toHaveLength(400);
	await Promise.all(both.map((records) => records.end()));
});

test('retention deletes by age and by size, with the keys', async () => {
	const url = await server.createDatabase();
	const clock = new ManualClock(Date.UTC(2026, 10, 21));
	const records = await openPostgresRequestRecords({ url, retainDays: 30, maxBytes: 400_000 }, { clock, log: silentLog });
	records.add(recordedRequest(clock.nowMs() - 31 * 86_400_000, 1));
	for (const request of requestTrace(30_000, clock.nowMs())) records.add(request);
	const newest = (await records.list({ limit: 1 })).requests;
	clock.advance(60_000);
	await expect
		.poll(async () => (await query(url, 'SELECT sum(bytes) AS bytes FROM tollgate.request_blocks'))[0], { timeout: 20_000 })
		.toSatisfy((row: { bytes: string }) => Number(row.bytes) < 400_000);
	expect((await records.list({ limit: 1 })).requests).toEqual(newest);
	const left = 'SELECT count(*) AS left FROM tollgate.request_block_keys WHERE block NOT IN (SELECT id FROM tollgate.request_blocks)';
	expect(await query(url, left)).toEqual([{ left: '0' }]);
	await records.end();
});

test('records wait for a server that is not there, and are read once it is', async () => {
	const url = await server.createDatabase();
	const missing = url.replace(/[^/]+$/, 'missing');
	const records = await openPostgresRequestRecords({ url: missing, ...forever }, ports);
	const request = recordedRequest(Date.UTC(2026, 10, 21), 1);
	records.add(request);
	await expect(records.find(request.id)).rejects.toMatchObject({ code: 'records_unavailable' });
	expect(records.health()).toEqual({ isWritable: false, queuedRecords: 1, droppedRecords: 0 });
	await query(url, 'CREATE DATABASE missing');
	expect(await records.find(request.id)).toEqual(request);
	await records.end();
	await query(url, 'DROP DATABASE missing WITH (FORCE)');
});
