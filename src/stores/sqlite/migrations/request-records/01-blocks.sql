-- Records of requests. A block has up to 1,000 of them; its id is the last start of its requests in milliseconds * 2048 + a sequence number.
CREATE TABLE blocks (
	id INTEGER PRIMARY KEY,
	min_ms INTEGER NOT NULL,
	count INTEGER NOT NULL,
	-- Upper bound of the time that it covers, in milliseconds.
	span_ms INTEGER NOT NULL,
	-- 1: small or wide, waits to be merged.
	is_loose INTEGER NOT NULL,
	-- Hashes of its keys, 6 bytes each.
	keys BLOB NOT NULL,
	-- Zstandard of JSON.
	data BLOB NOT NULL
) STRICT;
CREATE INDEX blocks_by_span ON blocks (span_ms, id, min_ms, count);
CREATE INDEX loose_blocks ON blocks (id, count) WHERE is_loose = 1;
-- Blocks by what filters can find in them.
CREATE TABLE block_keys (
	key INTEGER NOT NULL,
	block INTEGER NOT NULL,
	PRIMARY KEY (key, block)
) STRICT, WITHOUT ROWID;
