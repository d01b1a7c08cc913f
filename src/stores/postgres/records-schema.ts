import type { ColumnType, Generated, Kysely } from 'kysely';
import type { ProviderReport } from '../../core/health-report.ts';
import type { AuditEntry } from '../contracts/records.ts';
import { readMigrations } from '../read-migrations.ts';
import type { SchemaPart } from './migrate.ts';

export const recordsSchema: SchemaPart = {
	name: 'records',
	steps: readMigrations(new URL('migrations/records/', import.meta.url)),
};

/** Inserted as a number or bigint. */
type Integer = ColumnType<bigint, bigint | number, bigint | number>;
type IntegerOrNull = ColumnType<bigint | null, bigint | number | null, bigint | number | null>;
/** Inserted as JSON text. */
type Json<Value> = ColumnType<Value, string, string>;
type Sequence = Generated<bigint>;

export interface AuditTable {
	sequence: Sequence;
	at_ms: Integer;
	actor: string;
	request_id: string | null;
	action: AuditEntry['action'];
	kind: AuditEntry['kind'];
	key: string;
	before: string | null;
	after: string | null;
}

export interface SigningKeysTable {
	sequence: Sequence;
	kid: string;
	private_jwk: string;
	created_at_ms: Integer;
	active_from_ms: Integer;
	retired_at_ms: IntegerOrNull;
}

export interface ProviderReportsTable {
	process: string;
	report: Json<ProviderReport>;
	expires_at: Date;
}

export interface ResponseOwnersTable {
	sequence: Sequence;
	id: string;
	team: string;
	provider: string;
	model: string;
	expires_at_ms: Integer;
}

export interface WebhookDeliveriesTable {
	sequence: Sequence;
	webhook: string;
	event_id: string;
	event: string;
	body: string;
	state: string;
	attempts: Integer;
	created_ms: Integer;
	kept_until_ms: Integer;
	last_attempt_ms: IntegerOrNull;
	next_attempt_ms: IntegerOrNull;
	status: IntegerOrNull;
	error: string | null;
}

export interface WebhookSubjectsTable {
	subject: string;
	state: string;
}

/** Tables except those of versioned records, which are in `record-shapes.ts`. */
export interface RecordTables {
	audit: AuditTable;
	signing_keys: SigningKeysTable;
	provider_reports: ProviderReportsTable;
	response_owners: ResponseOwnersTable;
	webhook_deliveries: WebhookDeliveriesTable;
	webhook_subjects: WebhookSubjectsTable;
	record_versions: { last: Integer };
}

/** Database with the schema `tollgate` selected, inside or outside a transaction. */
export type RecordsDb = Kysely<RecordTables>;
