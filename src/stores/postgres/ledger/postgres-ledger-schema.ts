import type { SchemaPart } from '../migrate.ts';

/** Times are Unix milliseconds, money is nano-US-dollars. Texts are written out, so that people can query the tables. */
const sums = `
	requests int8 NOT NULL,
	input_tokens int8 NOT NULL,
	cache_read_tokens int8 NOT NULL,
	cache_write_tokens int8 NOT NULL,
	cache_write_hour_tokens int8 NOT NULL,
	output_tokens int8 NOT NULL,
	reasoning_tokens int8 NOT NULL,
	cost_nano_usd numeric(38) NOT NULL`;

/** `period` counts hours or days since 1970. */
const sumsTable = (name: string): string => `
	CREATE TABLE tollgate.${name} (
		period int4 NOT NULL,
		team text COLLATE "C" NOT NULL,
		client text COLLATE "C" NOT NULL,
		provider text COLLATE "C" NOT NULL,
		model text COLLATE "C" NOT NULL,
		${sums},
		PRIMARY KEY (period, team, client, provider, model)
	) WITH (fillfactor = 50);`;

export const postgresLedgerSchema: SchemaPart = {
	name: 'ledger',
	steps: [
		`
	-- A number is taken for each batch; its rows count on from there.
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
	${sumsTable('ledger_hourly')}
	${sumsTable('ledger_daily')}

	-- Rows that started before pruned_before_ms may be gone.
	CREATE TABLE tollgate.ledger_progress (pruned_before_ms int8 NOT NULL);
	INSERT INTO tollgate.ledger_progress VALUES (0);
	`,
	],
};

/** What sums hold, rows have but `requests`, and reports add up. */
export const amounts = [
	'requests',
	'input_tokens',
	'cache_read_tokens',
	'cache_write_tokens',
	'cache_write_hour_tokens',
	'output_tokens',
	'reasoning_tokens',
	'cost_nano_usd',
] as const;

/** Rows between two numbers of `ledger_sequence`. */
export const mostRowsPerBatch = 10_000;

export const msPerHour = 3_600_000;
export const hoursPerDay = 24;
export const msPerDay = hoursPerDay * msPerHour;
