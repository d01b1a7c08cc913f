-- Guardrail findings. Not partitioned: one delete by time for a few rows a request is cheap enough.
CREATE TABLE tollgate.assessments (
	sequence int8 GENERATED ALWAYS AS IDENTITY,
	request_id text COLLATE "C" NOT NULL,
	at_ms int8 NOT NULL,
	team text COLLATE "C" NOT NULL,
	stage text NOT NULL,
	policy text COLLATE "C" NOT NULL,
	category text COLLATE "C" NOT NULL,
	action text NOT NULL,
	outcome text NOT NULL,
	count int4 NOT NULL,
	PRIMARY KEY (request_id, stage, policy, category, action)
);
CREATE INDEX assessments_listed ON tollgate.assessments (sequence) WHERE outcome <> 'clean';
CREATE INDEX assessments_by_team ON tollgate.assessments (team, sequence) WHERE outcome <> 'clean';
CREATE INDEX assessments_by_time ON tollgate.assessments (at_ms);
