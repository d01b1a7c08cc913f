/** Records in a PostgreSQL database that any number of processes share. */
import type { RecordStore } from '../contracts/records.ts';
import { migrate } from './migrate.ts';
import { createAuditLog } from './postgres-audit.ts';
import { budgetTable } from './postgres-budgets.ts';
import { createPostgresClients } from './postgres-clients.ts';
import { openPostgres, type PostgresConnection, type PostgresDeps, type PostgresSettings } from './postgres-connection.ts';
import { priceOverrideTable } from './postgres-price-overrides.ts';
import { routingRuleTable } from './postgres-routing-rules.ts';
import { createPostgresSigningKeys } from './postgres-signing-keys.ts';
import { createTeamTable } from './postgres-teams.ts';
import { RecordWatch } from './record-watch.ts';
import { createRecordsDatabase, readVersion } from './records-database.ts';
import { type RecordTables, recordsSchema } from './records-schema.ts';
import { createPostgresChanges, storeOf } from './versioned-records.ts';

/**
 * Every method of the store rejects with Fault `records_unavailable` when the server does not answer within `deadlineMs`; a change that
 * was rejected so may have been made all the same.
 * @throws StoreUnusable when the server cannot be used at first.
 */
export async function openPostgresRecords(settings: PostgresSettings, deps: PostgresDeps): Promise<RecordStore> {
	const connection = openPostgres<RecordTables>(settings, deps);
	try {
		await migrate(connection, [recordsSchema]);
		const version = await connection.run((db) => readVersion(db.withSchema('tollgate')));
		return createRecords(connection, version, deps);
	} catch (cause) {
		await connection.close();
		throw cause;
	}
}

function createRecords(connection: PostgresConnection<RecordTables>, version: number, { clock, log }: PostgresDeps): RecordStore {
	const watch = new RecordWatch(connection, version, { clock, log });
	const database = createRecordsDatabase(connection, { written: (newest) => watch.learn(newest), failed: () => watch.owe() });
	const budgets = createPostgresChanges(budgetTable);
	const teamTable = createTeamTable(budgets);
	const teams = createPostgresChanges(teamTable);
	return {
		clients: createPostgresClients(database, teams),
		teams: storeOf(teamTable, teams, database),
		budgets: storeOf(budgetTable, budgets, database),
		priceOverrides: storeOf(priceOverrideTable, createPostgresChanges(priceOverrideTable), database),
		routingRules: storeOf(routingRuleTable, createPostgresChanges(routingRuleTable), database),
		audit: createAuditLog(database),
		signingKeys: createPostgresSigningKeys(database),
		onChange: (listener) => watch.onChange(listener),
		async close() {
			watch.close();
			await connection.close();
		},
	};
}
