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

/**
 * What only the tables' owner may do, for whoever is granted it: processes that serve need not own what they write. Those that may use
 * the ledger may use each of its days.
 */
const dayFunctions = `
	CREATE FUNCTION tollgate.ledger_make_day(day int4) RETURNS void
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DECLARE
		name text := 'ledger_calls_' || to_char(date '1970-01-01' + day, 'YYYYMMDD');
		is_new boolean;
		entitled record;
	BEGIN
		PERFORM pg_advisory_xact_lock(hashtextextended('tollgate ledger partitions', 0));
		-- Not to_regclass: it remembers, through the wait for the lock, what it has not found.
		is_new := NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = 'tollgate'::regnamespace AND relname = name);
		IF is_new THEN
			EXECUTE format('CREATE TABLE tollgate.%I (LIKE tollgate.ledger_calls INCLUDING CONSTRAINTS, PRIMARY KEY (id))', name);
		END IF;
		-- Of a day that is there as well: rights granted while it was made missed it.
		FOR entitled IN
			SELECT privilege_type AS privilege, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
			FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = 'tollgate.ledger_calls'::regclass AND grantee <> relowner
		LOOP
			EXECUTE format('GRANT %s ON tollgate.%I TO %s', entitled.privilege, name, entitled.role);
		END LOOP;
		IF is_new THEN
			EXECUTE format('ALTER TABLE tollgate.ledger_calls ATTACH PARTITION tollgate.%I FOR VALUES FROM (%s) TO (%s)',
				name, day::int8 * 86400000, (day::int8 + 1) * 86400000);
		END IF;
	END $$;

	-- Unless a call of the day still runs, or some of it is to be kept. Reports wait behind whoever waits for these locks.
	CREATE FUNCTION tollgate.ledger_drop_day(day int4) RETURNS boolean
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
	DECLARE
		name text := 'ledger_calls_' || to_char(date '1970-01-01' + day, 'YYYYMMDD');
		is_running boolean;
	BEGIN
		PERFORM pg_advisory_xact_lock(hashtextextended('tollgate ledger partitions', 0));
		IF (SELECT pruned_before_ms FROM tollgate.ledger_progress) < (day::int8 + 1) * 86400000 THEN RETURN false; END IF;
		LOCK TABLE ONLY tollgate.ledger_calls IN ACCESS EXCLUSIVE MODE;
		EXECUTE format('LOCK TABLE tollgate.%I IN ACCESS EXCLUSIVE MODE', name);
		EXECUTE format('SELECT EXISTS (SELECT 1 FROM tollgate.%I WHERE outcome IS NULL)', name) INTO is_running;
		IF is_running THEN RETURN false; END IF;
		EXECUTE format('DROP TABLE tollgate.%I', name);
		RETURN true;
	END $$;

	REVOKE ALL ON FUNCTION tollgate.ledger_make_day(int4), tollgate.ledger_drop_day(int4) FROM PUBLIC;`;

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
		dayFunctions,
		`
	-- What guardrails found. Not partitioned: one delete by time for some rows a call is cheap enough.
	CREATE TABLE tollgate.assessments (
		sequence int8 GENERATED ALWAYS AS IDENTITY,
		request_id text COLLATE "C" NOT NULL,
		at_ms int8 NOT NULL,
		team text COLLATE "C" NOT NULL,
		stage text NOT NULL,
		policy text COLLATE "C" NOT NULL,
		category text COLLATE "C" NOT NULL,
		action text NOT NULL,
		outcome text NOT NULL,
		count int4 NOT NULL,
		PRIMARY KEY (request_id, stage, policy, category, action)
	);
	CREATE INDEX assessments_listed ON tollgate.assessments (sequence) WHERE outcome <> 'clean';
	CREATE INDEX assessments_by_team ON tollgate.assessments (team, sequence) WHERE outcome <> 'clean';
	CREATE INDEX assessments_by_time ON tollgate.assessments (at_ms);
	`,
		[
			['ledger_hourly', 'started_ms / 3600000'],
			['ledger_daily', 'started_ms / 86400000'],
		]
			.map(
				([table, period]) => `
	-- Filled from the calls that are kept: of older ones nobody knows how much was estimated, and 0 stands.
	ALTER TABLE tollgate.${table} ADD COLUMN estimated_cost_nano_usd numeric(38) NOT NULL DEFAULT 0;
	UPDATE tollgate.${table} AS sums SET estimated_cost_nano_usd = found.cost
	FROM (
		SELECT ${period} AS period, team, client, provider, model, sum(cost_nano_usd) AS cost
		FROM tollgate.ledger_calls WHERE is_estimated GROUP BY 1, 2, 3, 4, 5
	) AS found
	WHERE sums.period = found.period AND sums.team = found.team AND sums.client = found.client
		AND sums.provider = found.provider AND sums.model = found.model;`,
			)
			.join(''),
		`
	-- Counters that were lost are summed up with the requests of the team that ended last.
	CREATE INDEX ledger_calls_by_end ON tollgate.ledger_calls (team, ended_ms) WHERE outcome IS NOT NULL;
	`,
	],
};

/** The columns of sums, which reports add up. */
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

/** The same of a row of `ledger_calls`, except for `requests`. @param table its name or alias in the statement. */
export function amountsOfCall(table: string): string {
	return amounts
		.slice(1)
		.map((name) =>
			name === 'estimated_cost_nano_usd'
				? `CASE WHEN ${table}.is_estimated THEN ${table}.cost_nano_usd ELSE 0 END AS ${name}`
				: `${table}.${name}`,
		)
		.join(', ');
}

/** Rows between two numbers of `ledger_sequence`. */
export const mostRowsPerBatch = 10_000;

export const msPerHour = 3_600_000;
export const hoursPerDay = 24;
export const msPerDay = hoursPerDay * msPerHour;
