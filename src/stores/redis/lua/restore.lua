-- KEYS from 4: requests that have ended. ARGV: run, tokens of the day, lifetime of the end marks in ms, then for each budget: key, settled.
if redis.call('HGET', counters, 'run') ~= run then
	redis.call('DEL', counters, calls, ends)
	local made = redis.call('TIME')
	local generation = made[1] .. '.' .. made[2]
	redis.call('HSET', counters, 'run', run, 'generation', generation, 'day', math.floor(now / 86400000), 'tokens', ARGV[2], 'reserved', 0)
	for index = 4, #KEYS do redis.call('SET', KEYS[index], 's', 'PX', ARGV[3]) end
end
local function month(key) return tonumber(string.sub(key, 1, 4)) * 12 + tonumber(string.sub(key, 6, 7)) end
for index = 4, #ARGV, 2 do
	local key = ARGV[index]
	if redis.call('HSETNX', counters, 's:' .. key, ARGV[index + 1]) == 1 then
		redis.call('HSET', counters, 'h:' .. key, '0')
		for _, field in ipairs(redis.call('HKEYS', counters)) do
			local other = string.sub(field, 3)
			if string.sub(field, 1, 2) == 's:' and month(other) < month(key) - 1 and redis.call('HGET', counters, 'h:' .. other) == '0' then
				redis.call('HDEL', counters, field, 'h:' .. other)
			end
		end
	end
end
keepCounters()
return 'OK'
