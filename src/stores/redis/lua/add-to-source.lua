-- KEYS: the source. ARGV: requests to add, milliseconds of a slice.
local time = redis.call('TIME')
local slice = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / tonumber(ARGV[2]))
if tonumber(ARGV[1]) > 0 then
	redis.call('HINCRBY', KEYS[1], slice, ARGV[1])
	redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) * retainedSlices)
end
local total = 0
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
	if tonumber(fields[index]) <= slice - retainedSlices then redis.call('HDEL', KEYS[1], fields[index])
	else total = total + tonumber(fields[index + 1]) end
end
return total
