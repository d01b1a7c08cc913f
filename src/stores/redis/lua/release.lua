-- ARGV: run, id, lifetime of the end mark in ms.
endDue()
if redis.call('EXISTS', KEYS[4]) == 1 then return 'OK' end
giveBack(ARGV[2], 0)
return redis.call('SET', KEYS[4], 'r', 'PX', ARGV[3])
