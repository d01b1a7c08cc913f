/** Of the ledger's database. Texts that repeat live in `names`; times are Unix milliseconds, money is nano-US-dollars. */
const sums = `
	requests INTEGER NOT NULL,
	input_tokens INTEGER NOT NULL,
	cache_read_tokens INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cache_write_hour_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL`;

/** `period` counts hours or days since 1970. */
const sumsTable = (name: string): string => `
	CREATE TABLE ${name} (
		period INTEGER NOT NULL,
		team INTEGER NOT NULL,
		client INTEGER NOT NULL,
		provider INTEGER NOT NULL,
		model INTEGER NOT NULL,
		${sums},
		PRIMARY KEY (period, team, client, provider, model)
	) STRICT, WITHOUT ROWID;`;

export const ledgerSchema: readonly string[] = [
	`
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
	${sumsTable('hourly')}
	${sumsTable('daily')}

	-- Rows that started before pruned_before_ms may be gone. probes counts attempts to write while writing fails.
	CREATE TABLE progress (pruned_before_ms INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT;
	INSERT INTO progress VALUES (0, 0);
	`,
	`
	-- Calls that the fleet's database has not been told of: once when opened, once when closed. Positions are never used again.
	CREATE TABLE outbox (position INTEGER PRIMARY KEY AUTOINCREMENT, call INTEGER NOT NULL, noted_ms INTEGER NOT NULL) STRICT;
	-- 1 when the row is for the outbox, so that a file may serve with and without one in turn.
	ALTER TABLE calls ADD COLUMN is_spooled INTEGER;
	CREATE INDEX calls_spooled ON calls (is_spooled) WHERE is_spooled = 1;
	`,
	`
	-- Stage, action and outcome are places in the lists of contracts/assessments.ts; outcome 0 is clean. Numbers are never used again.
	CREATE TABLE assessments (
		sequence INTEGER PRIMARY KEY AUTOINCREMENT,
		id ANY NOT NULL,
		at_ms INTEGER NOT NULL,
		team TEXT NOT NULL,
		stage INTEGER NOT NULL,
		policy TEXT NOT NULL,
		category TEXT NOT NULL,
		action INTEGER NOT NULL,
		outcome INTEGER NOT NULL,
		count INTEGER NOT NULL,
		UNIQUE (id, stage, policy, category, action)
	) STRICT;
	CREATE INDEX assessments_listed ON assessments (sequence) WHERE outcome <> 0;
	CREATE INDEX assessments_by_team ON assessments (team, sequence) WHERE outcome <> 0;
	`,
	[
		['hourly', 'started_ms / 3600000'],
		['daily', 'started_ms / 86400000'],
	]
		.map(
			([table, period]) => `
	-- Filled from the calls that are kept: of older ones nobody knows how much was estimated, and 0 stands.
	ALTER TABLE ${table} ADD COLUMN estimated_cost_nano_usd INTEGER NOT NULL DEFAULT 0;
	UPDATE ${table} SET estimated_cost_nano_usd = found.cost
	FROM (
		SELECT ${period} AS period, team, client, provider, model, sum(cost_nano_usd) AS cost
		FROM calls WHERE is_estimated = 1 GROUP BY 1, 2, 3, 4, 5
	) AS found
	WHERE ${table}.period = found.period AND ${table}.team = found.team AND ${table}.client = found.client
		AND ${table}.provider = found.provider AND ${table}.model = found.model;`,
		)
		.join(''),
];

/** The columns of sums. */
export const amounts = [
	'requests',
	'input_tokens',
	'cache_read_tokens',
	'cache_write_tokens',
	'cache_write_hour_tokens',
	'output_tokens',
	'reasoning_tokens',
	'cost_nano_usd',
	'estimated_cost_nano_usd',
] as const;

/** The same of a row of `calls`, except for `requests`. */
export const amountsOfCall = amounts
	.slice(1)
	.map((name) => (name === 'estimated_cost_nano_usd' ? `cost_nano_usd * (is_estimated = 1) AS ${name}` : name))
	.join(', ');

export const ledgerFileName = 'ledger.db';
