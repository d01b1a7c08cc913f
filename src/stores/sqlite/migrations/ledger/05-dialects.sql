-- Bit 0 was the dialect, of which there were two, and bit 1 was streaming. One pass over the calls, because there may be millions.
INSERT OR IGNORE INTO names (name) SELECT value FROM json_each('["chat", "messages"]') WHERE EXISTS (SELECT 1 FROM calls);
ALTER TABLE calls RENAME COLUMN form TO is_streamed;
ALTER TABLE calls ADD COLUMN dialect INTEGER NOT NULL DEFAULT 0;
UPDATE calls SET is_streamed = (is_streamed & 2) <> 0, dialect = iif(
	is_streamed & 1, (SELECT id FROM names WHERE name = 'messages'), (SELECT id FROM names WHERE name = 'chat'));
