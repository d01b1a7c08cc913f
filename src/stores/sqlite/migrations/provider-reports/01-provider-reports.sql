CREATE TABLE provider_reports (
	process TEXT PRIMARY KEY,
	report TEXT NOT NULL,
	expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
