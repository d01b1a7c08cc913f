-- Records of requests. A block has up to 1,000 of them; its id is the last start of its requests in milliseconds * 2048 + a sequence number.
CREATE TABLE tollgate.request_blocks (
	id int8 PRIMARY KEY,
	min_ms int8 NOT NULL,
	count int4 NOT NULL,
	-- Upper bound of the time that it covers, in milliseconds.
	span_ms int8 NOT NULL,
	-- Small or wide, waits to be merged.
	is_loose bool NOT NULL,
	-- Estimated size with its keys.
	bytes int4 NOT NULL,
	-- Hashes of its keys.
	keys int8[] NOT NULL,
	-- Zstandard of JSON.
	data bytea NOT NULL
);
-- The data are compressed already.
ALTER TABLE tollgate.request_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX request_blocks_by_span ON tollgate.request_blocks (span_ms, id) INCLUDE (min_ms, count);
CREATE INDEX loose_request_blocks ON tollgate.request_blocks (id) INCLUDE (count) WHERE is_loose;
-- Blocks by what filters can find in them.
CREATE TABLE tollgate.request_block_keys (
	key int8 NOT NULL,
	block int8 NOT NULL,
	PRIMARY KEY (key, block)
);
