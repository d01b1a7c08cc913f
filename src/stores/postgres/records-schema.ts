import type { ColumnType, Generated, Kysely } from 'kysely';
import type { ProviderReport } from '../../core/health-report.ts';
import type { RoutingMatch, RoutingRule } from '../../core/routing-rule.ts';
import type { TeamLimits } from '../../core/team.ts';
import type { AuditEntry, ClientRecord } from '../contracts/records.ts';
import { readMigrations } from '../read-migrations.ts';
import type { SchemaPart } from './migrate.ts';

export const recordsSchema: SchemaPart = {
	name: 'records',
	steps: readMigrations(new URL('migrations/records/', import.meta.url)),
};

/** Written as a number or bigint. */
type Integer = ColumnType<bigint, bigint | number, bigint | number>;
type IntegerOrNull = ColumnType<bigint | null, bigint | number | null, bigint | number | null>;
/** Written as JSON text. */
type Json<Value> = ColumnType<Value, string, string>;
type JsonOrNull<Value> = ColumnType<Value | null, string | null, string | null>;
type Sequence = Generated<bigint>;

export interface ClientsTable {
	id: string;
	name: string;
	secrets: Json<ClientRecord['secrets']>;
	scopes: string[];
	is_disabled: boolean;
	created_at_ms: Integer;
	updated_at_ms: Integer;
	version: Integer;
}

export interface TeamsTable {
	id: string;
	name: string;
	tier: string;
	client_ids: string[];
	limits: JsonOrNull<TeamLimits>;
	metadata: JsonOrNull<Record<string, string>>;
	created_at_ms: IntegerOrNull;
	updated_at_ms: IntegerOrNull;
	version: Integer;
}

export interface BudgetsTable {
	id: string;
	team: string;
	model: string | null;
	period: string;
	limit_nano_usd: bigint;
	warning_threshold_percent: number;
	hard_limit_percent: number;
	created_at_ms: Integer;
	updated_at_ms: Integer;
	version: Integer;
}

export interface PriceOverridesTable {
	provider: string;
	model: string;
	input_pico_usd: bigint;
	output_pico_usd: bigint;
	cache_read_pico_usd: bigint;
	cache_write_pico_usd: bigint;
	updated_at_ms: Integer;
	version: Integer;
}

export interface RoutingRulesTable {
	id: string;
	name: string;
	priority: Integer;
	is_enabled: boolean;
	match: Json<RoutingMatch>;
	strategy: RoutingRule['strategy'];
	targets: Json<RoutingRule['targets']>;
	created_at_ms: Integer;
	updated_at_ms: Integer;
	version: Integer;
}

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

export interface RecordTables {
	clients: ClientsTable;
	teams: TeamsTable;
	budgets: BudgetsTable;
	price_overrides: PriceOverridesTable;
	routing_rules: RoutingRulesTable;
	audit: AuditTable;
	signing_keys: SigningKeysTable;
	provider_reports: ProviderReportsTable;
	record_versions: { last: Integer };
}

/** In the schema `tollgate`; a transaction or not. */
export type RecordsDb = Kysely<RecordTables>;
