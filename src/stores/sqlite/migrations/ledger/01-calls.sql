-- Repeated texts are in `names`; times are Unix milliseconds, money is nano-US-dollars.

CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE calls (
	sequence INTEGER PRIMARY KEY,
	id ANY NOT NULL UNIQUE,
	started_ms INTEGER NOT NULL,
	team INTEGER NOT NULL,
	client INTEGER NOT NULL,
	provider INTEGER NOT NULL,
	model INTEGER NOT NULL,
	form INTEGER NOT NULL,
	price_version INTEGER NOT NULL,
	budgets INTEGER NOT NULL,
	run INTEGER NOT NULL,
	hold_nano_usd INTEGER NOT NULL,
	outcome INTEGER,
	duration_ms INTEGER,
	status INTEGER,
	is_estimated INTEGER,
	input_tokens INTEGER,
	cache_read_tokens INTEGER,
	cache_write_tokens INTEGER,
	cache_write_hour_tokens INTEGER,
	output_tokens INTEGER,
	reasoning_tokens INTEGER,
	cost_nano_usd INTEGER
) STRICT;
CREATE INDEX calls_by_team ON calls (team);
CREATE INDEX calls_running ON calls (run) WHERE outcome IS NULL;

CREATE TABLE hourly (
	period INTEGER NOT NULL,
	team INTEGER NOT NULL,
	client INTEGER NOT NULL,
	provider INTEGER NOT NULL,
	model INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cache_write_hour_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	PRIMARY KEY (period, team, client, provider, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE daily (
	period INTEGER NOT NULL,
	team INTEGER NOT NULL,
	client INTEGER NOT NULL,
	provider INTEGER NOT NULL,
	model INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cache_write_hour_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	PRIMARY KEY (period, team, client, provider, model)
) STRICT, WITHOUT ROWID;

-- Rows that started before pruned_before_ms may be gone. probes counts attempts to write while writing fails.
CREATE TABLE progress (pruned_before_ms INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT;
INSERT INTO progress VALUES (0, 0);
