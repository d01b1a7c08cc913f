ALTER TABLE tollgate.routing_rules ADD COLUMN mode text NOT NULL DEFAULT 'enforce';
