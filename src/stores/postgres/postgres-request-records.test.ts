import { afterAll, beforeAll, expect, test } from 'vitest';
import { query } from '../../../test/support/postgres-server.ts';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
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
