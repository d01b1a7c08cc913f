/** Opens the stores that `stores.records` names. Drivers are loaded only where they are used. */
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Ledger, LedgerReader } from '../stores/contracts/ledger.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import type { RequestRecordReader, RequestRecords } from '../stores/contracts/request-records.ts';
import type { SchemaPart } from '../stores/postgres/migrate.ts';
import { openSqliteLedger, openSqliteLedgerReader } from '../stores/sqlite/sqlite-ledger.ts';
import { openSqliteRecords } from '../stores/sqlite/sqlite-records.ts';
import { openSqliteRequestRecordReader, openSqliteRequestRecords } from '../stores/sqlite/sqlite-request-records.ts';

export interface StoreDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/**
 * @param options `canComeLate` for servers, which can wait: the store opens even while its server is unavailable.
 * @throws StoreUnusable.
 */
export async function openRecords(
	{ data_dir: dataDir, stores: { records: url } }: Config,
	deps: StoreDeps,
	options: { readonly canComeLate?: boolean } = {},
): Promise<RecordStore> {
	if (url === 'sqlite') return openSqliteRecords({ dataDir }, deps);
	const { openPostgresRecords } = await import('../stores/postgres/postgres-records.ts');
	return openPostgresRecords({ url, ...options }, deps);
}

/** @throws StoreUnusable. */
export async function openLedger({ data_dir: dataDir, stores }: Config, deps: StoreDeps): Promise<Ledger> {
	const { retain_days: retainDays, durability } = stores.ledger;
	if (stores.records === 'sqlite') return openSqliteLedger({ dataDir, durability, retainDays }, deps);
	const { openPostgresLedger } = await import('../stores/postgres-ledger.ts');
	return openPostgresLedger({ url: stores.records, dataDir, durability, retainDays }, deps);
}

/** Opens the ledger for processes that serve no requests. @throws StoreUnusable. */
export async function openLedgerReader({ data_dir: dataDir, stores: { records: url } }: Config, deps: StoreDeps): Promise<LedgerReader> {
	if (url === 'sqlite') return openSqliteLedgerReader({ dataDir });
	const { openPostgresLedgerReader } = await import('../stores/postgres-ledger.ts');
	return openPostgresLedgerReader({ url }, deps);
}

/** Opens at the first use: request records never prevent a start. */
export async function openRequestRecords({ data_dir: dataDir, stores, requests }: Config, deps: StoreDeps): Promise<RequestRecords> {
	const retention = { retainDays: requests.retain_days, maxBytes: requests.max_bytes };
	if (stores.records === 'sqlite') return openSqliteRequestRecords({ dataDir, ...retention }, deps);
	const { openPostgresRequestRecords } = await import('../stores/postgres/postgres-request-records.ts');
	return openPostgresRequestRecords({ url: stores.records, ...retention }, deps);
}

/** Opens request records for processes that serve no requests, at the first use. */
export async function openRequestRecordReader({ data_dir: dataDir, stores: { records: url } }: Config): Promise<RequestRecordReader> {
	if (url === 'sqlite') return openSqliteRequestRecordReader({ dataDir });
	const { openPostgresRequestRecordReader } = await import('../stores/postgres/postgres-request-records.ts');
	return openPostgresRequestRecordReader({ url });
}

export interface MigratedSchema {
	readonly part: string;
	readonly fromVersion: number;
	readonly toVersion: number;
}

/** Updates the schema of a PostgreSQL store. @returns an empty list for SQLite, whose files are migrated when they are opened. */
export async function migrateStores({ stores: { records: url } }: Config, deps: StoreDeps): Promise<readonly MigratedSchema[]> {
	if (url === 'sqlite') return [];
	const { migratePostgres } = await import('../stores/postgres/migrate.ts');
	return migratePostgres({ url }, await schemaParts(), deps);
}

/** Checks a PostgreSQL store without changing it. @throws StoreUnusable. */
export async function areStoresMigrated({ stores: { records: url } }: Config, deps: StoreDeps): Promise<boolean> {
	const { isMigrated } = await import('../stores/postgres/migrate.ts');
	return isMigrated({ url }, await schemaParts(), deps);
}

async function schemaParts(): Promise<readonly SchemaPart[]> {
	const [{ recordsSchema }, { postgresLedgerSchema }, { postgresRequestsSchema }] = await Promise.all([
		import('../stores/postgres/records-schema.ts'),
		import('../stores/postgres/ledger/postgres-ledger-schema.ts'),
		import('../stores/postgres/request-records/postgres-blocks.ts'),
	]);
	return [recordsSchema, postgresLedgerSchema, postgresRequestsSchema];
}
