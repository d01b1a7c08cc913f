-- ARGV: run, id, requests a minute or '', daily tokens or '', tokens to reserve, reservation time in ms, then for each budget: key, limit,
-- amount, check.
endDue()
local id = ARGV[2]
local state = load(budgetKeys(7, 4))
if not state then return { 'missing' } end
if redis.call('EXISTS', KEYS[4]) == 1 then return reply('admitted', state) end
local known = find(id)
if known then return reply(#known > 2 and 'admitted:' .. known[3] or 'admitted', state) end
if ARGV[3] ~= '' and state.requests >= tonumber(ARGV[3]) then return reply('rpm', state) end
if ARGV[4] ~= '' and state.tokens + state.reserved >= tonumber(ARGV[4]) then return reply('daily_tokens', state) end
local holds = { state.day }
local fields = { 'minute', state.minute, 'requests', state.requests + 1 }
local fits
for index = 1, (#ARGV - 6) / 4 do
	local key, limit, amount, check = unpack(ARGV, 3 + 4 * index, 6 + 4 * index)
	if check == 'before' or check == 'after' then
		if not allows(state, index, '0', limit, amount, check) then return reply('budget:' .. index, state) end
	else
		local left = remainingOf(state, index, limit)
		if left == '0' or isLess(left, check) then return reply('budget:' .. index, state) end
		local part = fitting(left, amount, check)
		if not fits or isLess(part, fits) then fits = part end
	end
	holds[#holds + 1] = key
	holds[#holds + 1] = amount
end
if fits then
	for index = 3, #holds, 2 do holds[index] = fits end
end
for index = 1, (#holds - 1) / 2 do
	local total = add(held(state, index), holds[2 * index + 1])
	fields[#fields + 1] = 'h:' .. holds[2 * index]
	fields[#fields + 1] = total
	state.values[7 + 2 * index] = total
end
local tokens = tonumber(ARGV[5])
if tokens > 0 then
	state.reserved = state.reserved + tokens
	fields[#fields + 1] = 'day'
	fields[#fields + 1] = state.day
	fields[#fields + 1] = 'tokens'
	fields[#fields + 1] = state.tokens
	fields[#fields + 1] = 'reserved'
	fields[#fields + 1] = state.reserved
end
holds[#holds + 1] = tokens
redis.call('HSET', counters, unpack(fields))
if state.requests == 0 then keepCounters() end
state.requests = state.requests + 1
store(id, holds, now + tonumber(ARGV[6]))
keepCalls()
return reply(fits and 'admitted:' .. fits or 'admitted', state)
