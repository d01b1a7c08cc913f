ALTER TABLE teams ADD COLUMN limits TEXT;
ALTER TABLE teams ADD COLUMN metadata TEXT;
ALTER TABLE teams ADD COLUMN created_at_ms INTEGER;
ALTER TABLE teams ADD COLUMN updated_at_ms INTEGER;
ALTER TABLE teams ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
UPDATE teams SET version = (SELECT count(*) FROM teams AS other WHERE other.id <= teams.id);

CREATE TABLE record_versions (last INTEGER NOT NULL) STRICT;
INSERT INTO record_versions SELECT count(*) FROM teams;

-- Teams of the configuration have no row in teams, so team has no foreign key.
CREATE TABLE budgets (
	id TEXT PRIMARY KEY,
	team TEXT NOT NULL,
	model TEXT,
	period TEXT NOT NULL,
	limit_nano_usd INTEGER NOT NULL,
	warning_threshold_percent REAL NOT NULL,
	hard_limit_percent REAL NOT NULL,
	created_at_ms INTEGER NOT NULL,
	updated_at_ms INTEGER NOT NULL,
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX budgets_of_teams ON budgets (team) WHERE model IS NULL;
CREATE UNIQUE INDEX budgets_of_models ON budgets (team, model) WHERE model IS NOT NULL;

CREATE TABLE price_overrides (
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	input_pico_usd INTEGER NOT NULL,
	output_pico_usd INTEGER NOT NULL,
	cache_read_pico_usd INTEGER NOT NULL,
	cache_write_pico_usd INTEGER NOT NULL,
	updated_at_ms INTEGER NOT NULL,
	version INTEGER NOT NULL,
	PRIMARY KEY (provider, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
	sequence INTEGER PRIMARY KEY AUTOINCREMENT,
	at_ms INTEGER NOT NULL,
	actor TEXT NOT NULL,
	request_id TEXT,
	action TEXT NOT NULL,
	kind TEXT NOT NULL,
	key TEXT NOT NULL,
	before TEXT,
	after TEXT
) STRICT;
CREATE INDEX audit_by_record ON audit (kind, key);
