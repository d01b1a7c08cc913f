/** Records in a PostgreSQL database that any number of processes share. */
import type { Clock } from '../../core/clock.ts';
import type { RecordStore } from '../contracts/records.ts';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { prepareFirst } from './migrate.ts';
import { createAuditLog } from './postgres-audit.ts';
import { openPostgres, type PostgresConnection, type PostgresDeps, PostgresFailed, type PostgresSettings } from './postgres-connection.ts';
import { createPostgresProviderReports } from './postgres-provider-reports.ts';
import { createPostgresResponseOwners } from './postgres-response-owners.ts';
import { createPostgresSigningKeys } from './postgres-signing-keys.ts';
import { createPostgresWebhookDeliveries } from './postgres-webhook-deliveries.ts';
import { budgetTable, createClientTable, createTeamTable, priceOverrideTable, routingRuleTable } from './record-tables.ts';
import { RecordWatch } from './record-watch.ts';
import { createRecordsDatabase, readVersion } from './records-database.ts';
import { type RecordTables, recordsSchema } from './records-schema.ts';
import { createPostgresChanges, storeOf } from './versioned-records.ts';

export interface PostgresRecordsSettings extends PostgresSettings {
	/** Opens even while the server is unavailable; its tables are migrated as soon as it responds. */
	readonly canComeLate?: boolean;
}

/** Maximum wait for an unavailable server at the start. */
const maxWaitedMs = 1_000;

/**
 * Opens the record store. Every method rejects with `records_unavailable` when the server does not respond within `deadlineMs`. A
 * change that was rejected in this way may still have been made.
 * @throws StoreUnusable when the server cannot be used at the start.
 */
export async function openPostgresRecords(settings: PostgresRecordsSettings, deps: PostgresDeps): Promise<RecordStore> {
	const given = openPostgres<RecordTables>(settings, deps);
	const { connection, prepare } = prepareFirst(given, recordsSchema, deps);
	const readFirst = async (): Promise<number> => {
		await prepare();
		return connection.run((db) => readVersion(db.withSchema('tollgate')));
	};
	try {
		const version = await (settings.canComeLate === true ? unlessLate(readFirst(), deps.clock) : readFirst());
		return createRecords(connection, version ?? unknownVersion, deps);
	} catch (cause) {
		await connection.close();
		throw cause;
	}
}

/** Lower than any version, so that listeners are notified as soon as there is one. */
const unknownVersion = -1;

/** Undefined when the server is unavailable or slow. */
async function unlessLate<Result>(response: Promise<Result>, clock: Clock): Promise<Result | undefined> {
	const { promise, resolve } = Promise.withResolvers<undefined>();
	const timer = clock.after(maxWaitedMs, () => resolve(undefined));
	const known = response.catch((cause: unknown) => {
		if ((cause instanceof StoreUnusable || cause instanceof PostgresFailed) && cause.canPass) return undefined;
		throw cause;
	});
	// A later failure needs no listener: it is retried and logged.
	known.catch(() => undefined);
	return Promise.race([known, promise]).finally(() => timer.cancel());
}

function createRecords(connection: PostgresConnection<RecordTables>, version: number, { clock, log }: PostgresDeps): RecordStore {
	const watch = new RecordWatch(connection, version, { clock, log });
	const database = createRecordsDatabase(connection, { written: (newest) => watch.learn(newest), failed: () => watch.owe() });
	const budgets = createPostgresChanges(budgetTable);
	const teamTable = createTeamTable(budgets);
	const teams = createPostgresChanges(teamTable);
	const clientTable = createClientTable(teams);
	return {
		clients: storeOf(clientTable, createPostgresChanges(clientTable), database),
		teams: storeOf(teamTable, teams, database),
		budgets: storeOf(budgetTable, budgets, database),
		priceOverrides: storeOf(priceOverrideTable, createPostgresChanges(priceOverrideTable), database),
		routingRules: storeOf(routingRuleTable, createPostgresChanges(routingRuleTable), database),
		audit: createAuditLog(database),
		signingKeys: createPostgresSigningKeys(database),
		providerReports: createPostgresProviderReports(database),
		responseOwners: createPostgresResponseOwners(database, clock),
		webhookDeliveries: createPostgresWebhookDeliveries(database),
		onChange: (listener) => watch.onChange(listener),
		async close() {
			watch.close();
			await connection.close();
		},
	};
}
