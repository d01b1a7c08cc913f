/** Records in one SQLite file that several processes may share, such as a running server and the command line. */
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { createRecordChanges } from '../contracts/record-changes.ts';
import type { RecordStore } from '../contracts/records.ts';
import { readMigrations } from '../read-migrations.ts';
import { priceOverrideShape, routingRuleShape } from '../record-shapes.ts';
import { createWrite } from './database.ts';
import { migrate } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import { createBudgetTable, createChangeRecorder, createClientTable, createTable, createTeamTable, storeOf } from './record-tables.ts';
import { createRecordWatch } from './record-watch.ts';
import { auditLogOf, createAuditTable } from './sqlite-audit.ts';
import { createSqliteProviderReports } from './sqlite-provider-reports.ts';
import { createSqliteResponseOwners } from './sqlite-response-owners.ts';
import { createSqliteSigningKeys } from './sqlite-signing-keys.ts';
import { createSqliteWebhookDeliveries } from './sqlite-webhook-deliveries.ts';

export const recordsFileName = 'records.db';

export const recordsSchema = readMigrations(new URL('migrations/records/', import.meta.url));

export interface SqliteRecordsSettings {
	/** Created when it does not exist, readable only by its owner. */
	readonly dataDir: string;
}

export interface SqliteRecordsDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * Opens the record store. Every method rejects with `UpstreamError` `records_unavailable` when the file cannot be read or written.
 * @throws StoreUnusable when the file cannot be opened.
 */
export function openSqliteRecords(settings: SqliteRecordsSettings, deps: SqliteRecordsDeps): RecordStore {
	const database = openDatabase(join(settings.dataDir, recordsFileName), (opened) => migrate(opened, recordsSchema));
	const changes = createRecordWatch(database, deps.clock, deps.log);
	const write = createWrite(database, changes.announce);
	const audit = createAuditTable(database);
	const book = createChangeRecorder(database, audit);
	const providerReports = createSqliteProviderReports(settings.dataDir, deps.clock);
	const responseOwners = createSqliteResponseOwners(settings.dataDir, deps.clock);
	const webhookDeliveries = createSqliteWebhookDeliveries(settings.dataDir);
	const budgets = createRecordChanges(createBudgetTable(database), book);
	const teams = createRecordChanges(createTeamTable(database, budgets), book);
	const priceOverrides = createRecordChanges(createTable(database, priceOverrideShape), book);
	return {
		clients: storeOf(createRecordChanges(createClientTable(database, teams), book), write),
		teams: storeOf(teams, write),
		budgets: storeOf(budgets, write),
		priceOverrides: storeOf(priceOverrides, write),
		routingRules: storeOf(createRecordChanges(createTable(database, routingRuleShape), book), write),
		audit: auditLogOf(audit, write),
		signingKeys: createSqliteSigningKeys(database, write),
		providerReports,
		responseOwners,
		webhookDeliveries,
		onChange: changes.onChange,
		async close() {
			changes.close();
			providerReports.close();
			responseOwners.close();
			webhookDeliveries.close();
			if (database.isOpen) database.close();
		},
	};
}
