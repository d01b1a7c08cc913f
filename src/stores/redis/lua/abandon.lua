-- ARGV: run, the owner that has ended. Releases its remaining reservations.
local released = 0
local kept = redis.call('HGETALL', calls)
for index = 1, #kept, 2 do
	local bar = string.find(kept[index + 1], '|', 1, true)
	if string.sub(kept[index + 1], 1, bar - 1) == ARGV[2] then
		giveBack(kept[index], 0)
		released = released + 1
	end
end
return released
