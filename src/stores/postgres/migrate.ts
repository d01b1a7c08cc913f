/** Migrates the tables in the schema `tollgate` to this release; processes that start at once migrate one after the other. */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { Client } from 'pg';
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { openPostgres, type PostgresConnection, type PostgresDeps, type PostgresSettings } from './postgres-connection.ts';

/** Tables that are versioned together. */
export interface SchemaPart {
	readonly name: string;
	/** One SQL text for each version, oldest first; a released one is never changed. Tables are named `tollgate.table`. */
	readonly steps: readonly string[];
}

export interface Migrated {
	readonly part: string;
	readonly fromVersion: number;
	readonly toVersion: number;
}

/**
 * Changes nothing, and needs no privilege to change anything, when the schema is current.
 * @throws StoreUnusable when the server cannot be used, or a newer release has migrated it.
 */
export async function migrate<Tables>(connection: PostgresConnection<Tables>, parts: readonly SchemaPart[]): Promise<readonly Migrated[]> {
	const { address } = connection;
	try {
		const found = await connection.run(readVersions);
		const isCurrent = parts.every((part) => checkedVersion(found, part, address) === part.steps.length);
		return isCurrent ? parts.map((part) => migratedOf(found, part)) : await migrateAlone(connection, parts);
	} catch (cause) {
		if (cause instanceof StoreUnusable) throw cause;
		const { message, canPass } = connection.describe(cause);
		throw new StoreUnusable(`PostgreSQL is not usable: ${message}. Correct it, or change \`stores.records\`.`, { canPass });
	}
}

/** Changes nothing. @returns true if every part is current. @throws StoreUnusable */
export async function isMigrated(settings: PostgresSettings, parts: readonly SchemaPart[], deps: PostgresDeps): Promise<boolean> {
	const connection = openPostgres<unknown>(settings, deps);
	try {
		const found = await connection.run(readVersions);
		return parts.every((part) => checkedVersion(found, part, connection.address) === part.steps.length);
	} catch (cause) {
		if (cause instanceof StoreUnusable) throw cause;
		throw new StoreUnusable(`PostgreSQL is not usable: ${connection.describe(cause).message}.`);
	} finally {
		await connection.close();
	}
}

/** Entry point of the command line. @throws StoreUnusable */
export async function migratePostgres(
	settings: PostgresSettings,
	parts: readonly SchemaPart[],
	deps: PostgresDeps,
): Promise<readonly Migrated[]> {
	const connection = openPostgres<unknown>(settings, deps);
	try {
		return await migrate(connection, parts);
	} finally {
		await connection.close();
	}
}

async function migrateAlone<Tables>(connection: PostgresConnection<Tables>, parts: readonly SchemaPart[]): Promise<readonly Migrated[]> {
	const client = connection.newClient();
	// Errors reject the running statement.
	client.on('error', () => undefined);
	try {
		await client.connect();
		await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '${maxLockSeconds}s'`);
		await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
		await client.query(bookkeeping);
		const found = versionsOf((await client.query<VersionRow>('SELECT part, version FROM tollgate.schema_versions')).rows);
		for (const part of parts) await applySteps(client, part, checkedVersion(found, part, connection.address));
		await client.query('COMMIT');
		return parts.map((part) => migratedOf(found, part));
	} finally {
		// Rolls back an uncommitted transaction, which also releases the lock.
		void client.end();
	}
}

async function applySteps(client: Client, { name, steps }: SchemaPart, fromVersion: number): Promise<void> {
	if (fromVersion === steps.length) return;
	for (const step of steps.slice(fromVersion)) await client.query(step);
	await client.query(
		'INSERT INTO tollgate.schema_versions (part, version) VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = excluded.version',
		[name, steps.length],
	);
}

/** Random number that no other program of the database uses. */
const migrationLock = 7_026_150_113_552_771_841n;
const maxLockSeconds = 60;

/** The schema may exist although the current user has no privilege to create one. */
const bookkeeping = `
	DO $$ BEGIN
		IF to_regnamespace('tollgate') IS NULL THEN CREATE SCHEMA tollgate; END IF;
	END $$;
	CREATE TABLE IF NOT EXISTS tollgate.schema_versions (part text PRIMARY KEY, version integer NOT NULL)`;

interface VersionRow {
	readonly part: string;
	readonly version: number;
}

type Versions = ReadonlyMap<string, number>;

async function readVersions(db: QueryExecutorProvider): Promise<Versions> {
	const { rows } = await sql<{ found: boolean }>`SELECT to_regclass('tollgate.schema_versions') IS NOT NULL AS found`.execute(db);
	if (rows[0]?.found !== true) return new Map();
	return versionsOf((await sql<VersionRow>`SELECT part, version FROM tollgate.schema_versions`.execute(db)).rows);
}

function versionsOf(rows: readonly VersionRow[]): Versions {
	return new Map(rows.map(({ part, version }) => [part, version]));
}

function checkedVersion(found: Versions, { name, steps }: SchemaPart, address: string): number {
	const version = found.get(name) ?? 0;
	if (version <= steps.length) return version;
	throw new StoreUnusable(
		`${address} was written by a newer release (schema ${version} of the ${name}, this release knows ${steps.length}). Start that release, or restore a backup from before it.`,
	);
}

function migratedOf(found: Versions, { name, steps }: SchemaPart): Migrated {
	return { part: name, fromVersion: found.get(name) ?? 0, toVersion: steps.length };
}

interface PreparedConnection<Tables> {
	/** The given connection, except that `run` migrates first. */
	readonly connection: PostgresConnection<Tables>;
	/** Tries once more, unless it is done. @throws StoreUnusable */
	prepare(): Promise<void>;
}

/** Wraps a connection so that its tables are migrated before any other use, also when the server becomes reachable late. */
export function prepareFirst<Tables>(
	connection: PostgresConnection<Tables>,
	part: SchemaPart,
	{ log }: PostgresDeps,
): PreparedConnection<Tables> {
	let preparing: Promise<void> | undefined;
	let complaint: 'warn' | 'error' | undefined;
	const prepareOnce = async (): Promise<void> => {
		try {
			await migrate(connection, [part]);
		} catch (cause) {
			preparing = undefined;
			const level = cause instanceof StoreUnusable && cause.canPass ? 'warn' : 'error';
			if (level !== complaint) log[level](`${part.name} in PostgreSQL is not usable yet`, { cause: String(cause) });
			complaint = level;
			throw cause;
		}
		if (complaint !== undefined) log.info(`${part.name} in PostgreSQL is usable again`, { address: connection.address });
	};
	const prepare = (): Promise<void> => {
		preparing ??= prepareOnce();
		return preparing;
	};
	return {
		prepare,
		connection: {
			...connection,
			async run(statements) {
				await prepare();
				return connection.run(statements);
			},
		},
	};
}
