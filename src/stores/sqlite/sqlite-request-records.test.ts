import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../core/log.ts';
import { systemClock } from '../../io/system-clock.ts';
import { requestRecordsContract } from '../contracts/request-records.contract.ts';
import { openSqliteRequestRecordReader, openSqliteRequestRecords } from './sqlite-request-records.ts';

requestRecordsContract('SQLite', async () => {
	const dataDir = mkdtempSync(join(tmpdir(), 'request-records-'));
	const records = openSqliteRequestRecords({ dataDir, retainDays: 36_500, maxBytes: 2 ** 31 }, { clock: systemClock, log: silentLog });
	const reader = openSqliteRequestRecordReader({ dataDir });
	return {
		records,
		reader,
		async dispose() {
			await records.end();
			await reader.end();
			rmSync(dataDir, { recursive: true });
		},
	};
});
