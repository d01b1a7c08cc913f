-- Functions that the operations share. The caller prepends `now` in unix milliseconds and the numbers of `admission-scripts.ts`. Money is a
-- decimal string of nano-US-dollars. A Lua number is exact only to 2^53, which is nine million US dollars. Sums therefore consist of whole
-- dollars and the nine digits below them. ARGV[1] of each operation is the server's run and the owner.

local counters, calls, ends = KEYS[1], KEYS[2], KEYS[3]
local run, owner = string.match(ARGV[1], '^(.*)|(.*)$')

local function parts(money)
	if #money <= 9 then return 0, tonumber(money) end
	return tonumber(string.sub(money, 1, -10)), tonumber(string.sub(money, -9))
end

local function text(dollars, nanos)
	if dollars == 0 then return string.format('%d', nanos) end
	return string.format('%d%09d', dollars, nanos)
end

local function add(a, b)
	local aDollars, aNanos = parts(a)
	local bDollars, bNanos = parts(b)
	local dollars, nanos = aDollars + bDollars, aNanos + bNanos
	if nanos >= 1000000000 then dollars, nanos = dollars + 1, nanos - 1000000000 end
	return text(dollars, nanos)
end

local function subtract(a, b)
	local aDollars, aNanos = parts(a)
	local bDollars, bNanos = parts(b)
	local dollars, nanos = aDollars - bDollars, aNanos - bNanos
	if nanos < 0 then dollars, nanos = dollars - 1, nanos + 1000000000 end
	return text(dollars, nanos)
end

local function isLess(a, b)
	local aDollars, aNanos = parts(a)
	local bDollars, bNanos = parts(b)
	return aDollars < bDollars or (aDollars == bDollars and aNanos < bNanos)
end

-- Limits whose counters are fields of their own, because every request counts in them.
local isCountedAlways = { rpm = true, daily_tokens = true }

-- A counter of a minute is one field: the minute, what is used and what is reserved.
local function countsOf(value, minute)
	if not value then return 0, 0 end
	local of, used, reserved = string.match(value, '^(%d+):(%d+):(%d+)$')
	if tonumber(of) ~= minute then return 0, 0 end
	return tonumber(used), tonumber(reserved)
end

local function countText(minute, used, reserved) return string.format('%d:%d:%d', minute, used, reserved) end

-- Reads the counters of these budgets and limits and of the current minute and day; nil when that of a budget is missing.
local function load(keys, names)
	local fields = { 'run', 'minute', 'requests', 'day', 'tokens', 'reserved', 'generation' }
	for _, name in ipairs(names) do
		if not isCountedAlways[name] then fields[#fields + 1] = 'n:' .. name end
	end
	local before = #fields
	for _, key in ipairs(keys) do
		fields[#fields + 1] = 's:' .. key
		fields[#fields + 1] = 'h:' .. key
	end
	local values = redis.call('HMGET', counters, unpack(fields))
	if values[1] ~= run then return nil end
	for index = before + 1, #fields do
		if not values[index] then return nil end
	end
	local state = {
		minute = math.floor(now / 60000),
		day = math.floor(now / 86400000),
		requests = 0,
		tokens = 0,
		reserved = 0,
		values = values,
		before = before,
		used = {},
		held = {},
	}
	if tonumber(values[2]) == state.minute then state.requests = tonumber(values[3]) end
	if tonumber(values[4]) == state.day then
		state.tokens = tonumber(values[5])
		state.reserved = tonumber(values[6] or 0)
	end
	local place = 7
	for index, name in ipairs(names) do
		if name == 'rpm' then
			state.used[index], state.held[index] = state.requests, 0
		elseif name == 'daily_tokens' then
			state.used[index], state.held[index] = state.tokens, state.reserved
		else
			place = place + 1
			if name == 'concurrent_requests' then state.used[index], state.held[index] = redis.call('HLEN', calls), 0
			else state.used[index], state.held[index] = countsOf(values[place], state.minute) end
		end
	end
	return state
end

local function settled(state, index) return state.values[state.before - 1 + 2 * index] end
local function held(state, index) return state.values[state.before + 2 * index] end
local function setHeld(state, index, money) state.values[state.before + 2 * index] = money end

local function reply(verdict, state, names)
	local answer = { verdict, now, state.requests, state.tokens, state.reserved, state.values[7] or '' }
	for index, name in ipairs(names) do
		if not isCountedAlways[name] then
			answer[#answer + 1] = state.used[index]
			answer[#answer + 1] = state.held[index]
		end
	end
	for index = state.before + 1, #state.values do answer[#answer + 1] = state.values[index] end
	return answer
end

-- True if the budget allows the request; own is what the request has reserved there already.
local function allows(state, index, own, limit, amount, check)
	local taken = subtract(add(settled(state, index), held(state, index)), own)
	if not isLess(taken, limit) then return false end
	return check == 'before' or not isLess(limit, add(taken, amount))
end

-- Rest of a budget, and the part of it that a request gets, as in fittingNanoUsd.
local function remainingOf(state, index, limit)
	local taken = add(settled(state, index), held(state, index))
	return isLess(taken, limit) and subtract(limit, taken) or '0'
end

local function fitting(left, wanted, least)
	local dollars, nanos = parts(left)
	local share = text(math.floor(dollars / remainderShares), math.floor(((dollars % remainderShares) * 1000000000 + nanos) / remainderShares))
	local most = isLess(least, left) and least or left
	if isLess(most, share) then most = share end
	return isLess(most, wanted) and most or wanted
end

-- Stores the reservations of a request: the day of admission, then key and amount of each budget, last that day's tokens. A key `#`, minute,
-- `#` and name is the counter of a minute in which the tokens of the request count too.
local function keep(id, holds, heldBy) redis.call('HSET', calls, id, heldBy .. '|' .. cmsgpack.pack(holds)) end

local function store(id, holds, endsMs)
	keep(id, holds, owner)
	redis.call('ZADD', ends, math.ceil(endsMs / 1000), id)
end

-- Returns the reservations and their owner; nil when there are none.
local function find(id)
	local kept = redis.call('HGET', calls, id)
	if not kept then return nil end
	local bar = string.find(kept, '|', 1, true)
	return cmsgpack.unpack(string.sub(kept, bar + 1)), string.sub(kept, 1, bar - 1)
end

-- Releases the reserved tokens from the counter of their minute, and adds those used.
local function giveBackMinute(key, reserved, used)
	local minute, name = string.match(key, '^#(%d+)#(.*)$')
	local field = 'n:' .. name
	local value = redis.call('HGET', counters, field)
	if not value or string.match(value, '^(%d+):') ~= minute then return end
	local total, held = countsOf(value, tonumber(minute))
	redis.call('HSET', counters, field, countText(tonumber(minute), total + used, held - tonumber(reserved)))
end

-- Releases the reservations, and adds used tokens in their minute. Returns the day of admission; false when there are none.
local function giveBack(id, used)
	local holds = find(id)
	if not holds then return false end
	redis.call('HDEL', calls, id)
	redis.call('ZREM', ends, id)
	for index = 2, #holds - 1, 2 do
		local key = holds[index]
		if string.sub(key, 1, 1) == '#' then giveBackMinute(key, holds[index + 1], used)
		else
			local total = redis.call('HGET', counters, 'h:' .. key)
			if total then redis.call('HSET', counters, 'h:' .. key, subtract(total, holds[index + 1])) end
		end
	end
	local tokens = #holds % 2 == 0 and holds[#holds] or 0
	if tokens > 0 and tonumber(redis.call('HGET', counters, 'day')) == holds[1] then redis.call('HINCRBY', counters, 'reserved', -tokens) end
	return holds[1]
end

-- Releases a bounded number of expired reservations; the next operation releases more.
local function endDue()
	for _, id in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', math.floor(now / 1000), 'LIMIT', 0, 1000)) do giveBack(id, 0) end
end

local function keepCalls()
	redis.call('EXPIRE', calls, idleSeconds)
	redis.call('EXPIRE', ends, idleSeconds)
end

-- The counters expire no later than the requests that they contain, so that totals do not outlive them.
local function keepCounters() redis.call('EXPIRE', counters, idleSeconds) end

-- Returns the budgets' keys: every step-th of ARGV, from the first.
local function budgetKeys(first, step)
	local keys = {}
	for index = first, #ARGV, step do keys[#keys + 1] = ARGV[index] end
	return keys
end
