-- Entries of earlier releases have no endpoint and no attributes: 0 is no name. Sums are copied in the order of their key.
ALTER TABLE calls ADD COLUMN endpoint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN attributes INTEGER NOT NULL DEFAULT 0;
-- Attributes of an entry whose sums are those of other attributes.
ALTER TABLE calls ADD COLUMN other_attributes TEXT;
CREATE INDEX calls_other_attributes ON calls (team, started_ms) WHERE other_attributes IS NOT NULL;

-- Attributes that the sums of a team and day distinguish.
CREATE TABLE attribute_sets (
	day INTEGER NOT NULL,
	team INTEGER NOT NULL,
	attributes INTEGER NOT NULL,
	PRIMARY KEY (day, team, attributes)
) STRICT, WITHOUT ROWID;

CREATE TABLE hourly_by_attributes (
	period INTEGER NOT NULL,
	team INTEGER NOT NULL,
	client INTEGER NOT NULL,
	provider INTEGER NOT NULL,
	model INTEGER NOT NULL,
	endpoint INTEGER NOT NULL,
	attributes INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cache_write_hour_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	estimated_cost_nano_usd INTEGER NOT NULL,
	PRIMARY KEY (period, team, client, provider, model, endpoint, attributes)
) STRICT, WITHOUT ROWID;
INSERT INTO hourly_by_attributes
	SELECT period, team, client, provider, model, 0, 0, requests, input_tokens, cache_read_tokens, cache_write_tokens,
		cache_write_hour_tokens, output_tokens, reasoning_tokens, cost_nano_usd, estimated_cost_nano_usd
	FROM hourly ORDER BY period, team, client, provider, model;
DROP TABLE hourly;
ALTER TABLE hourly_by_attributes RENAME TO hourly;

CREATE TABLE daily_by_attributes (
	period INTEGER NOT NULL,
	team INTEGER NOT NULL,
	client INTEGER NOT NULL,
	provider INTEGER NOT NULL,
	model INTEGER NOT NULL,
	endpoint INTEGER NOT NULL,
	attributes INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cache_write_hour_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	estimated_cost_nano_usd INTEGER NOT NULL,
	PRIMARY KEY (period, team, client, provider, model, endpoint, attributes)
) STRICT, WITHOUT ROWID;
INSERT INTO daily_by_attributes
	SELECT period, team, client, provider, model, 0, 0, requests, input_tokens, cache_read_tokens, cache_write_tokens,
		cache_write_hour_tokens, output_tokens, reasoning_tokens, cost_nano_usd, estimated_cost_nano_usd
	FROM daily ORDER BY period, team, client, provider, model;
DROP TABLE daily;
ALTER TABLE daily_by_attributes RENAME TO daily;
