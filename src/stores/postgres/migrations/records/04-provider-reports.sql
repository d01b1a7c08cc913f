-- Written every few seconds by each gateway and useless after a crash, therefore not in the write-ahead log.
CREATE UNLOGGED TABLE tollgate.provider_reports (
	process text COLLATE "C" PRIMARY KEY,
	report json NOT NULL,
	expires_at timestamptz NOT NULL
);
