-- Filled from the requests that are kept. The estimated part of older ones is unknown, so it stays 0.
ALTER TABLE hourly ADD COLUMN estimated_cost_nano_usd INTEGER NOT NULL DEFAULT 0;
UPDATE hourly SET estimated_cost_nano_usd = found.cost
FROM (
	SELECT started_ms / 3600000 AS period, team, client, provider, model, sum(cost_nano_usd) AS cost
	FROM calls WHERE is_estimated = 1 GROUP BY 1, 2, 3, 4, 5
) AS found
WHERE hourly.period = found.period AND hourly.team = found.team AND hourly.client = found.client
	AND hourly.provider = found.provider AND hourly.model = found.model;

ALTER TABLE daily ADD COLUMN estimated_cost_nano_usd INTEGER NOT NULL DEFAULT 0;
UPDATE daily SET estimated_cost_nano_usd = found.cost
FROM (
	SELECT started_ms / 86400000 AS period, team, client, provider, model, sum(cost_nano_usd) AS cost
	FROM calls WHERE is_estimated = 1 GROUP BY 1, 2, 3, 4, 5
) AS found
WHERE daily.period = found.period AND daily.team = found.team AND daily.client = found.client
	AND daily.provider = found.provider AND daily.model = found.model;
