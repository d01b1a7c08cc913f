ALTER TABLE routing_rules ADD COLUMN mode TEXT NOT NULL DEFAULT 'enforce';
