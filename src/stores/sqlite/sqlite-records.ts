/** Records in one SQLite file that several processes may share, such as a running server and the command line. */
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { RecordStore } from '../contracts/records.ts';
import { createWrite } from './database.ts';
import { openDatabase } from './open-database.ts';
import { createRecordChanges } from './record-changes.ts';
import { migrate } from './schema.ts';
import { createSqliteClients } from './sqlite-clients.ts';
import { createSqliteSigningKeys } from './sqlite-signing-keys.ts';
import { createSqliteTeams } from './sqlite-teams.ts';

export const recordsFileName = 'records.db';

export interface SqliteRecordsSettings {
	/** Created, readable to its owner only, when it does not exist. */
	readonly dataDir: string;
}

export interface SqliteRecordsDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * Every method of the store rejects with Fault `records_unavailable` when the file cannot be read or written.
 * @throws StoreUnusable when the file cannot be opened.
 */
export function openSqliteRecords(settings: SqliteRecordsSettings, deps: SqliteRecordsDeps): RecordStore {
	const database = openDatabase(join(settings.dataDir, recordsFileName), migrate);
	const changes = createRecordChanges(database, deps.clock, deps.log);
	const write = createWrite(database, changes.announce);
	return {
		clients: createSqliteClients(database, write),
		teams: createSqliteTeams(database, write),
		signingKeys: createSqliteSigningKeys(database, write),
		onChange: changes.onChange,
		async close() {
			changes.close();
			if (database.isOpen) database.close();
		},
	};
}
