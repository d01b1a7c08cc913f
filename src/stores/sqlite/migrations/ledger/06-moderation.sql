UPDATE assessments SET policy = 'moderation' WHERE policy = 'engine';
