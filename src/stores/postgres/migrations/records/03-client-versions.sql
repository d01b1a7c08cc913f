ALTER TABLE tollgate.clients ADD COLUMN version bigint NOT NULL DEFAULT 0;
UPDATE tollgate.clients SET version = (SELECT last FROM tollgate.record_versions) + numbered.number
	FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM tollgate.clients) AS numbered
	WHERE clients.id = numbered.id;
UPDATE tollgate.record_versions SET last = last + (SELECT count(*) FROM tollgate.clients);
