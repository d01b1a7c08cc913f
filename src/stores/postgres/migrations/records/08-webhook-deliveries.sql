CREATE TABLE tollgate.webhook_deliveries (
	sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	webhook text COLLATE "C" NOT NULL,
	event_id text COLLATE "C" NOT NULL,
	event text COLLATE "C" NOT NULL,
	body text NOT NULL,
	state text COLLATE "C" NOT NULL,
	attempts bigint NOT NULL,
	created_ms bigint NOT NULL,
	kept_until_ms bigint NOT NULL,
	last_attempt_ms bigint,
	next_attempt_ms bigint,
	status bigint,
	error text,
	UNIQUE (webhook, event_id)
);
CREATE INDEX webhook_deliveries_due ON tollgate.webhook_deliveries (webhook, next_attempt_ms) WHERE next_attempt_ms IS NOT NULL;
CREATE TABLE tollgate.webhook_subjects (
	subject text COLLATE "C" PRIMARY KEY,
	state text COLLATE "C" NOT NULL
);
