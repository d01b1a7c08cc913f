CREATE TABLE tollgate.response_owners (
	sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id text COLLATE "C" NOT NULL UNIQUE,
	team text COLLATE "C" NOT NULL,
	provider text COLLATE "C" NOT NULL,
	model text COLLATE "C" NOT NULL,
	expires_at_ms bigint NOT NULL
);
CREATE INDEX response_owners_by_expiry ON tollgate.response_owners (expires_at_ms);
