-- Entries and sums of earlier releases have no endpoint and no attributes. Columns with a constant default rewrite no table.
ALTER TABLE tollgate.ledger_calls
	ADD COLUMN endpoint text COLLATE "C" NOT NULL DEFAULT '',
	ADD COLUMN attributes text COLLATE "C" NOT NULL DEFAULT '',
	-- True if the sums count the entry under other attributes.
	ADD COLUMN is_summed_as_other boolean NOT NULL DEFAULT false;
CREATE INDEX ledger_calls_other_attributes ON tollgate.ledger_calls (team, started_ms) WHERE is_summed_as_other;

-- Attributes may exceed an index entry of 2,704 bytes.
CREATE FUNCTION tollgate.ledger_attributes_key(attributes text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN attributes = '' THEN ''::bytea ELSE sha256(convert_to(attributes, 'UTF8')) END $$;

ALTER TABLE tollgate.ledger_hourly
	ADD COLUMN endpoint text COLLATE "C" NOT NULL DEFAULT '',
	ADD COLUMN attributes text COLLATE "C" NOT NULL DEFAULT '',
	DROP CONSTRAINT ledger_hourly_pkey;
CREATE UNIQUE INDEX ledger_hourly_key ON tollgate.ledger_hourly
	(period, team, client, provider, model, endpoint, tollgate.ledger_attributes_key(attributes));

ALTER TABLE tollgate.ledger_daily
	ADD COLUMN endpoint text COLLATE "C" NOT NULL DEFAULT '',
	ADD COLUMN attributes text COLLATE "C" NOT NULL DEFAULT '',
	DROP CONSTRAINT ledger_daily_pkey;
CREATE UNIQUE INDEX ledger_daily_key ON tollgate.ledger_daily
	(period, team, client, provider, model, endpoint, tollgate.ledger_attributes_key(attributes));

-- Attributes that the sums of a team and day distinguish.
CREATE TABLE tollgate.ledger_attribute_sets (
	day int4 NOT NULL,
	team text COLLATE "C" NOT NULL,
	attributes text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX ledger_attribute_sets_key ON tollgate.ledger_attribute_sets
	(day, team, tollgate.ledger_attributes_key(attributes));
-- Roles with privileges on the sums get them on these, too.
DO $$
DECLARE entitled record;
BEGIN
	FOR entitled IN
		SELECT privilege_type AS privilege, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
		FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = 'tollgate.ledger_hourly'::regclass AND grantee <> relowner
	LOOP
		EXECUTE format('GRANT %s ON tollgate.ledger_attribute_sets TO %s', entitled.privilege, entitled.role);
	END LOOP;
END $$;
