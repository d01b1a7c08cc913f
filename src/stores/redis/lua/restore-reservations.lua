-- KEYS from 4: their end marks. ARGV: run, then for each request: id, reservation time in ms, number of budgets, day of admission by the
-- caller's clock, then key and amount of each budget, then reserved tokens.
endDue()
local known = {}
local place, number = 2, 4
local pending = {}
while ARGV[place] do
	local id, reservationMs, count = ARGV[place], tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
	local holds = { tonumber(ARGV[place + 3]), unpack(ARGV, place + 4, place + 3 + 2 * count) }
	local tokens = tonumber(ARGV[place + 4 + 2 * count])
	for index = 2, #holds, 2 do known[#known + 1] = holds[index] end
	if redis.call('EXISTS', KEYS[number]) == 0 and redis.call('HEXISTS', calls, id) == 0 then
		pending[#pending + 1] = { id, holds, reservationMs, tokens }
	end
	place, number = place + 5 + 2 * count, number + 1
end
local state = load(known, {})
if not state then return 'missing' end
for _, call in ipairs(pending) do
	local holds = call[2]
	local tokens = holds[1] == state.day and call[4] or 0
	state.reserved = state.reserved + tokens
	for index = 2, #holds, 2 do
		local field = 'h:' .. holds[index]
		redis.call('HSET', counters, field, add(redis.call('HGET', counters, field), holds[index + 1]))
	end
	holds[#holds + 1] = tokens
	store(call[1], holds, now + call[3])
end
redis.call('HSET', counters, 'day', state.day, 'tokens', state.tokens, 'reserved', state.reserved)
keepCalls()
return 'OK'
