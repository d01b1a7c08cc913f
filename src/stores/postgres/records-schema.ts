import type { ColumnType, Generated, Kysely } from 'kysely';
import type { ProviderReport } from '../../core/health-report.ts';
import type { RoutingMatch, RoutingRule } from '../../core/routing-rule.ts';
import type { TeamLimits } from '../../core/team.ts';
import type { AuditEntry, ClientRecord } from '../contracts/records.ts';
import type { SchemaPart } from './migrate.ts';

/** Ordered by bytes, whatever the locale of the database. */
const key = 'text COLLATE "C"';

export const recordsSchema: SchemaPart = {
	name: 'records',
	steps: [
		`
		CREATE TABLE tollgate.clients (
			id ${key} PRIMARY KEY,
			name text NOT NULL,
			secrets json NOT NULL,
			scopes text[] NOT NULL,
			is_disabled boolean NOT NULL,
			created_at_ms bigint NOT NULL,
			updated_at_ms bigint NOT NULL
		);

		-- Clients of foreign issuers have no row in clients, so client_ids refer to nothing.
		CREATE TABLE tollgate.teams (
			id ${key} PRIMARY KEY,
			name text NOT NULL,
			tier text NOT NULL,
			client_ids text[] NOT NULL,
			limits json,
			metadata json,
			created_at_ms bigint,
			updated_at_ms bigint,
			version bigint NOT NULL
		);
		CREATE INDEX teams_by_client ON tollgate.teams USING gin (client_ids);

		-- Teams of the configuration have no row in teams, so team refers to nothing.
		CREATE TABLE tollgate.budgets (
			id ${key} PRIMARY KEY,
			team text NOT NULL,
			model text,
			period text NOT NULL,
			limit_nano_usd bigint NOT NULL,
			warning_threshold_percent double precision NOT NULL,
			hard_limit_percent double precision NOT NULL,
			created_at_ms bigint NOT NULL,
			updated_at_ms bigint NOT NULL,
			version bigint NOT NULL
		);
		CREATE UNIQUE INDEX budgets_of_teams ON tollgate.budgets (team) WHERE model IS NULL;
		CREATE UNIQUE INDEX budgets_of_models ON tollgate.budgets (team, model) WHERE model IS NOT NULL;

		CREATE TABLE tollgate.price_overrides (
			provider ${key} NOT NULL,
			model ${key} NOT NULL,
			input_pico_usd bigint NOT NULL,
			output_pico_usd bigint NOT NULL,
			cache_read_pico_usd bigint NOT NULL,
			cache_write_pico_usd bigint NOT NULL,
			updated_at_ms bigint NOT NULL,
			version bigint NOT NULL,
			PRIMARY KEY (provider, model)
		);

		CREATE TABLE tollgate.audit (
			sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			at_ms bigint NOT NULL,
			actor text NOT NULL,
			request_id text,
			action text NOT NULL,
			kind text NOT NULL,
			key text NOT NULL,
			before text,
			after text
		);
		CREATE INDEX audit_by_record ON tollgate.audit (kind, key, sequence);

		CREATE TABLE tollgate.signing_keys (
			sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			kid text NOT NULL UNIQUE,
			private_jwk text NOT NULL,
			created_at_ms bigint NOT NULL,
			active_from_ms bigint NOT NULL,
			retired_at_ms bigint
		);

		-- One row. Who changes records locks it first, so that changes are made one after the other.
		CREATE TABLE tollgate.record_versions (
			is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
			last bigint NOT NULL
		);
		INSERT INTO tollgate.record_versions (last) VALUES (0);
		`,
		`
		CREATE TABLE tollgate.routing_rules (
			id ${key} PRIMARY KEY,
			name text NOT NULL,
			priority bigint NOT NULL,
			is_enabled boolean NOT NULL,
			match json NOT NULL,
			strategy text NOT NULL,
			targets json NOT NULL,
			created_at_ms bigint NOT NULL,
			updated_at_ms bigint NOT NULL,
			version bigint NOT NULL
		);
		`,
		`
		ALTER TABLE tollgate.clients ADD COLUMN version bigint NOT NULL DEFAULT 0;
		UPDATE tollgate.clients SET version = (SELECT last FROM tollgate.record_versions) + numbered.number
			FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM tollgate.clients) AS numbered
			WHERE clients.id = numbered.id;
		UPDATE tollgate.record_versions SET last = last + (SELECT count(*) FROM tollgate.clients);
		`,
		`
		-- Written every few seconds by each gateway, worth nothing after a crash: kept out of the log.
		CREATE UNLOGGED TABLE tollgate.provider_reports (
			process ${key} PRIMARY KEY,
			report json NOT NULL,
			expires_at timestamptz NOT NULL
		);
		`,
	],
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
