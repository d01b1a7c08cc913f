-- Written every few seconds by each gateway, worth nothing after a crash: kept out of the log.
CREATE UNLOGGED TABLE tollgate.provider_reports (
	process text COLLATE "C" PRIMARY KEY,
	report json NOT NULL,
	expires_at timestamptz NOT NULL
);
