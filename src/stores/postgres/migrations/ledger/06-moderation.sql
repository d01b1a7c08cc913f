UPDATE tollgate.assessments SET
	outcome = CASE outcome WHEN 'tripped' THEN 'matched' ELSE outcome END,
	policy = CASE policy WHEN 'engine' THEN 'moderation' ELSE policy END
WHERE outcome = 'tripped' OR policy = 'engine';
