-- Times are Unix milliseconds, money is nano-US-dollars. Texts are stored in full, so that people can query the tables.

-- Each batch takes one number, and its rows count on from there.
CREATE SEQUENCE tollgate.ledger_sequence INCREMENT BY 10000;

-- One partition for each UTC day, whose primary key is the id.
CREATE TABLE tollgate.ledger_calls (
	sequence int8 NOT NULL,
	id text COLLATE "C" NOT NULL,
	started_ms int8 NOT NULL,
	team text COLLATE "C" NOT NULL,
	client text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	model text COLLATE "C" NOT NULL,
	format text NOT NULL,
	is_streamed boolean NOT NULL,
	price_version text NOT NULL,
	budgets text NOT NULL,
	hold_nano_usd int8 NOT NULL,
	outcome text,
	ended_ms int8,
	status int4,
	is_estimated boolean,
	input_tokens int8,
	cache_read_tokens int8,
	cache_write_tokens int8,
	cache_write_hour_tokens int8,
	output_tokens int8,
	reasoning_tokens int8,
	cost_nano_usd int8
) PARTITION BY RANGE (started_ms);
CREATE INDEX ledger_calls_by_sequence ON tollgate.ledger_calls (sequence);
CREATE INDEX ledger_calls_by_team ON tollgate.ledger_calls (team, sequence);
CREATE INDEX ledger_calls_running ON tollgate.ledger_calls (started_ms) WHERE outcome IS NULL;

CREATE TABLE tollgate.ledger_hourly (
	period int4 NOT NULL,
	team text COLLATE "C" NOT NULL,
	client text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	model text COLLATE "C" NOT NULL,
	requests int8 NOT NULL,
	input_tokens int8 NOT NULL,
	cache_read_tokens int8 NOT NULL,
	cache_write_tokens int8 NOT NULL,
	cache_write_hour_tokens int8 NOT NULL,
	output_tokens int8 NOT NULL,
	reasoning_tokens int8 NOT NULL,
	cost_nano_usd numeric(38) NOT NULL,
	PRIMARY KEY (period, team, client, provider, model)
) WITH (fillfactor = 50);

CREATE TABLE tollgate.ledger_daily (
	period int4 NOT NULL,
	team text COLLATE "C" NOT NULL,
	client text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	model text COLLATE "C" NOT NULL,
	requests int8 NOT NULL,
	input_tokens int8 NOT NULL,
	cache_read_tokens int8 NOT NULL,
	cache_write_tokens int8 NOT NULL,
	cache_write_hour_tokens int8 NOT NULL,
	output_tokens int8 NOT NULL,
	reasoning_tokens int8 NOT NULL,
	cost_nano_usd numeric(38) NOT NULL,
	PRIMARY KEY (period, team, client, provider, model)
) WITH (fillfactor = 50);

-- Rows that started before pruned_before_ms may be gone.
CREATE TABLE tollgate.ledger_progress (pruned_before_ms int8 NOT NULL);
INSERT INTO tollgate.ledger_progress VALUES (0);
