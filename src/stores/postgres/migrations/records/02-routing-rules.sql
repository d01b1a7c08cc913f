CREATE TABLE tollgate.routing_rules (
	id text COLLATE "C" PRIMARY KEY,
	name text NOT NULL,
	priority bigint NOT NULL,
	is_enabled boolean NOT NULL,
	match json NOT NULL,
	strategy text NOT NULL,
	targets json NOT NULL,
	created_at_ms bigint NOT NULL,
	updated_at_ms bigint NOT NULL,
	version bigint NOT NULL
);
