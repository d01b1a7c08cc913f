CREATE TABLE clients (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	scopes TEXT NOT NULL,
	is_disabled INTEGER NOT NULL,
	created_at_ms INTEGER NOT NULL,
	updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE client_secrets (
	client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
	position INTEGER NOT NULL,
	hash TEXT NOT NULL,
	expires_at_ms INTEGER,
	PRIMARY KEY (client_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE teams (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	tier TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Clients of other issuers have no row in clients, so client_id has no foreign key.
CREATE TABLE team_clients (
	client_id TEXT PRIMARY KEY,
	team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
	position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX team_clients_by_team ON team_clients (team_id, position);

CREATE TABLE signing_keys (
	sequence INTEGER PRIMARY KEY AUTOINCREMENT,
	kid TEXT NOT NULL UNIQUE,
	private_jwk TEXT NOT NULL,
	created_at_ms INTEGER NOT NULL,
	active_from_ms INTEGER NOT NULL,
	retired_at_ms INTEGER
) STRICT;
