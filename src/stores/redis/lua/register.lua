-- KEYS: the owner's teams. ARGV: run, team.
redis.call('SADD', KEYS[1], ARGV[2])
return redis.call('EXPIRE', KEYS[1], ownerSeconds)
