-- KEYS from 4: requests that have ended. ARGV: run, tokens of the day, lifetime of the end marks in ms, then for each budget: key, settled.
if redis.call('HGET', counters, 'run') ~= run then
	redis.call('DEL', counters, calls, ends)
	local made = redis.call('TIME')
	local generation = made[1] .. '.' .. made[2]
	redis.call('HSET', counters, 'run', run, 'generation', generation, 'day', math.floor(now / 86400000), 'tokens', ARGV[2], 'reserved', 0)
	for index = 4, #KEYS do redis.call('SET', KEYS[index], 's', 'PX', ARGV[3]) end
end
local function month(key) return tonumber(string.sub(key, 1, 4)) * 12 + tonumber(string.sub(key, 6, 7)) end
-- Returns a budget's name with the length of the period, and the period.
local function series(key)
	local period, name = string.match(key, '^([^/]*)/(.*)$')
	return (string.match(period, '%+%d+$') or '') .. '/' .. name, period
end
local function laterOf(key, keys)
	local own, period = series(key)
	local count = 0
	for _, other in ipairs(keys) do
		local name, otherPeriod = series(other)
		if name == own and otherPeriod > period then count = count + 1 end
	end
	return count
end
for index = 4, #ARGV, 2 do
	local key = ARGV[index]
	if redis.call('HSETNX', counters, 's:' .. key, ARGV[index + 1]) == 1 then
		redis.call('HSET', counters, 'h:' .. key, '0')
		local own, keys = series(key), {}
		for _, field in ipairs(redis.call('HKEYS', counters)) do
			if string.sub(field, 1, 2) == 's:' and string.sub(field, 3) ~= key then keys[#keys + 1] = string.sub(field, 3) end
		end
		for _, other in ipairs(keys) do
			local isOld = month(other) < month(key) - 1 or (series(other) == own and laterOf(other, keys) >= maxLaterPeriods)
			if isOld and redis.call('HGET', counters, 'h:' .. other) == '0' then redis.call('HDEL', counters, 's:' .. other, 'h:' .. other) end
		end
	end
end
keepCounters()
return 'OK'
