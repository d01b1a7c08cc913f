-- ARGV: run, id, tokens to reserve, reservation time in ms, number of limits, then for each limit: name, limit or '', then for each budget:
-- key, limit, amount, check.
endDue()
local id, tokens, limitCount = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])
local names = {}
for index = 1, limitCount do names[index] = ARGV[4 + 2 * index] end
local first = 6 + 2 * limitCount
local state = load(budgetKeys(first, 4), names)
if not state then return { 'missing' } end
if redis.call('EXISTS', KEYS[4]) == 1 then return reply('admitted', state, names) end
local known = find(id)
if known then
	for index = 2, #known - 1, 2 do
		-- Keys of limits begin with #, those of budgets do not.
		if string.sub(known[index], 1, 1) ~= '#' then return reply('admitted:' .. known[index + 1], state, names) end
	end
	return reply('admitted', state, names)
end
for index = 1, limitCount do
	local limit = ARGV[5 + 2 * index]
	if limit ~= '' and state.used[index] + state.held[index] >= tonumber(limit) then return reply('limit:' .. index, state, names) end
end
local holds = { state.day }
local fields = { 'minute', state.minute, 'requests', state.requests + 1 }
local fits
for index = 1, (#ARGV - first + 1) / 4 do
	local key, limit, amount, check = unpack(ARGV, first - 4 + 4 * index, first - 1 + 4 * index)
	if check == 'before' or check == 'after' then
		if not allows(state, index, '0', limit, amount, check) then return reply('budget:' .. index, state, names) end
	else
		local left = remainingOf(state, index, limit)
		if left == '0' or isLess(left, check) then return reply('budget:' .. index, state, names) end
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
	setHeld(state, index, total)
end
for index, name in ipairs(names) do
	if name == 'concurrent_requests' then state.used[index] = state.used[index] + 1
	elseif not isCountedAlways[name] then
		if string.sub(name, 1, 3) == 'rpm' then state.used[index] = state.used[index] + 1
		else
			state.held[index] = state.held[index] + tokens
			holds[#holds + 1] = '#' .. state.minute .. '#' .. name
			holds[#holds + 1] = tokens
		end
		fields[#fields + 1] = 'n:' .. name
		fields[#fields + 1] = countText(state.minute, state.used[index], state.held[index])
	end
end
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
store(id, holds, now + tonumber(ARGV[4]))
keepCalls()
return reply(fits and 'admitted:' .. fits or 'admitted', state, names)
