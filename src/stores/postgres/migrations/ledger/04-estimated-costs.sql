-- Filled from the requests that are kept. The estimated part of older ones is unknown, so it stays 0.
ALTER TABLE tollgate.ledger_hourly ADD COLUMN estimated_cost_nano_usd numeric(38) NOT NULL DEFAULT 0;
UPDATE tollgate.ledger_hourly AS sums SET estimated_cost_nano_usd = found.cost
FROM (
	SELECT started_ms / 3600000 AS period, team, client, provider, model, sum(cost_nano_usd) AS cost
	FROM tollgate.ledger_calls WHERE is_estimated GROUP BY 1, 2, 3, 4, 5
) AS found
WHERE sums.period = found.period AND sums.team = found.team AND sums.client = found.client
	AND sums.provider = found.provider AND sums.model = found.model;

ALTER TABLE tollgate.ledger_daily ADD COLUMN estimated_cost_nano_usd numeric(38) NOT NULL DEFAULT 0;
UPDATE tollgate.ledger_daily AS sums SET estimated_cost_nano_usd = found.cost
FROM (
	SELECT started_ms / 86400000 AS period, team, client, provider, model, sum(cost_nano_usd) AS cost
	FROM tollgate.ledger_calls WHERE is_estimated GROUP BY 1, 2, 3, 4, 5
) AS found
WHERE sums.period = found.period AND sums.team = found.team AND sums.client = found.client
	AND sums.provider = found.provider AND sums.model = found.model;
