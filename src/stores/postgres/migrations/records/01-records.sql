CREATE TABLE tollgate.clients (
	id text COLLATE "C" PRIMARY KEY,
	name text NOT NULL,
	secrets json NOT NULL,
	scopes text[] NOT NULL,
	is_disabled boolean NOT NULL,
	created_at_ms bigint NOT NULL,
	updated_at_ms bigint NOT NULL
);

-- Clients of other issuers have no row in clients, so client_ids has no foreign key.
CREATE TABLE tollgate.teams (
	id text COLLATE "C" PRIMARY KEY,
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

-- Teams of the configuration have no row in teams, so team has no foreign key.
CREATE TABLE tollgate.budgets (
	id text COLLATE "C" PRIMARY KEY,
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
	provider text COLLATE "C" NOT NULL,
	model text COLLATE "C" NOT NULL,
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

-- One row. Every change of records locks it first, so that changes are serialized.
CREATE TABLE tollgate.record_versions (
	is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
	last bigint NOT NULL
);
INSERT INTO tollgate.record_versions (last) VALUES (0);
