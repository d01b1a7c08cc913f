CREATE TABLE webhook_deliveries (
	sequence INTEGER PRIMARY KEY AUTOINCREMENT,
	webhook TEXT NOT NULL,
	event_id TEXT NOT NULL,
	event TEXT NOT NULL,
	body TEXT NOT NULL,
	state TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	created_ms INTEGER NOT NULL,
	kept_until_ms INTEGER NOT NULL,
	last_attempt_ms INTEGER,
	next_attempt_ms INTEGER,
	status INTEGER,
	error TEXT,
	UNIQUE (webhook, event_id)
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, next_attempt_ms) WHERE next_attempt_ms IS NOT NULL;
CREATE TABLE webhook_subjects (
	subject TEXT PRIMARY KEY,
	state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
