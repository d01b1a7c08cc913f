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

-- Reads the counters of these budgets and of the current minute and day; nil when one is missing.
local function load(keys)
	local fields = { 'run', 'minute', 'requests', 'day', 'tokens', 'reserved', 'generation' }
	for _, key in ipairs(keys) do
		fields[#fields + 1] = 's:' .. key
		fields[#fields + 1] = 'h:' .. key
	end
	local values = redis.call('HMGET', counters, unpack(fields))
	if values[1] ~= run then return nil end
	for index = 8, #fields do
		if not values[index] then return nil end
	end
	local state = { minute = math.floor(now / 60000), day = math.floor(now / 86400000), requests = 0, tokens = 0, reserved = 0, values = values }
	if tonumber(values[2]) == state.minute then state.requests = tonumber(values[3]) end
	if tonumber(values[4]) == state.day then
		state.tokens = tonumber(values[5])
		state.reserved = tonumber(values[6] or 0)
	end
	return state
end

local function settled(state, index) return state.values[6 + 2 * index] end
local function held(state, index) return state.values[7 + 2 * index] end

local function reply(verdict, state)
	local answer = { verdict, now, state.requests, state.tokens, state.reserved, state.values[7] or '' }
	for index = 8, #state.values do answer[#answer + 1] = state.values[index] end
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

-- Stores the reservations of a request: the day of admission, then key and amount of each budget, last that day's tokens.
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

-- Releases the reservations. Returns the day of admission; false when there are none.
local function giveBack(id)
	local holds = find(id)
	if not holds then return false end
	redis.call('HDEL', calls, id)
	redis.call('ZREM', ends, id)
	for index = 2, #holds - 1, 2 do
		local field = 'h:' .. holds[index]
		local total = redis.call('HGET', counters, field)
		if total then redis.call('HSET', counters, field, subtract(total, holds[index + 1])) end
	end
	local tokens = #holds % 2 == 0 and holds[#holds] or 0
	if tokens > 0 and tonumber(redis.call('HGET', counters, 'day')) == holds[1] then redis.call('HINCRBY', counters, 'reserved', -tokens) end
	return holds[1]
end

-- Releases a bounded number of expired reservations; the next operation releases more.
local function endDue()
	for _, id in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', math.floor(now / 1000), 'LIMIT', 0, 1000)) do giveBack(id) end
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
