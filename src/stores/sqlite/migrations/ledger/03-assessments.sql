-- Stage, action and outcome are indexes in the lists of contracts/assessments.ts; outcome 0 is clean. Numbers are never reused.
CREATE TABLE assessments (
	sequence INTEGER PRIMARY KEY AUTOINCREMENT,
	id ANY NOT NULL,
	at_ms INTEGER NOT NULL,
	team TEXT NOT NULL,
	stage INTEGER NOT NULL,
	policy TEXT NOT NULL,
	category TEXT NOT NULL,
	action INTEGER NOT NULL,
	outcome INTEGER NOT NULL,
	count INTEGER NOT NULL,
	UNIQUE (id, stage, policy, category, action)
) STRICT;
CREATE INDEX assessments_listed ON assessments (sequence) WHERE outcome <> 0;
CREATE INDEX assessments_by_team ON assessments (team, sequence) WHERE outcome <> 0;
