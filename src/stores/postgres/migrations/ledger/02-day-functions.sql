-- Operations of the tables' owner, for roles with EXECUTE: serving processes need not own the tables. Roles with privileges on the ledger
-- get them on each of its days.

CREATE FUNCTION tollgate.ledger_make_day(day int4) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	name text := 'ledger_calls_' || to_char(date '1970-01-01' + day, 'YYYYMMDD');
	is_new boolean;
	entitled record;
BEGIN
	PERFORM pg_advisory_xact_lock(hashtextextended('tollgate ledger partitions', 0));
	-- Not to_regclass: it caches a miss while it waits for the lock.
	is_new := NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = 'tollgate'::regnamespace AND relname = name);
	IF is_new THEN
		EXECUTE format('CREATE TABLE tollgate.%I (LIKE tollgate.ledger_calls INCLUDING CONSTRAINTS, PRIMARY KEY (id))', name);
	END IF;
	-- Also for an existing day: it lacks privileges that were granted while it was created.
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

-- Drops a day unless one of its requests is in flight, or some of it must be kept. Reports queue behind a wait for
-- these locks, hence the timeout.
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

REVOKE ALL ON FUNCTION tollgate.ledger_make_day(int4), tollgate.ledger_drop_day(int4) FROM PUBLIC;
