-- Lost counters are restored with the requests of the team that ended last.
CREATE INDEX ledger_calls_by_end ON tollgate.ledger_calls (team, ended_ms) WHERE outcome IS NOT NULL;
