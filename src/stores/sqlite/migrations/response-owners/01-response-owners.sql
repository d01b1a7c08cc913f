CREATE TABLE response_owners (
	sequence INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	team TEXT NOT NULL,
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	expires_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX response_owners_by_expiry ON response_owners (expires_at_ms);
