-- Entries that are not in the fleet's database yet: noted once when opened, once when closed. Positions are never reused.
CREATE TABLE outbox (position INTEGER PRIMARY KEY AUTOINCREMENT, call INTEGER NOT NULL, noted_ms INTEGER NOT NULL) STRICT;
-- 1 when the row is for the outbox, so that a file may be used alternately with and without one.
ALTER TABLE calls ADD COLUMN is_spooled INTEGER;
CREATE INDEX calls_spooled ON calls (is_spooled) WHERE is_spooled = 1;
