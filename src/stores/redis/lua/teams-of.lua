-- KEYS: the owner's teams.
return redis.call('SMEMBERS', KEYS[1])
