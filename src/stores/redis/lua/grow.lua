-- ARGV: run, id, reservation time in ms, then for each budget: key, limit, amount, minimum step.
endDue()
local id = ARGV[2]
if redis.call('HGET', counters, 'run') ~= run then return 'unknown' end
local holds, heldBy = find(id)
if not holds then return 'unknown' end
local keys = budgetKeys(4, 4)
local state = load(keys, {})
if not state then return 'missing' end
local endsAt = math.ceil((now + tonumber(ARGV[3])) / 1000)
if endsAt > tonumber(redis.call('ZSCORE', ends, id) or 0) then redis.call('ZADD', ends, endsAt, id) end
if #keys == 0 then return 'grown:0' end
local tokens = #holds % 2 == 0 and table.remove(holds) or 0
local at = {}
for index = 2, #holds, 2 do at[holds[index]] = index + 1 end
local grown
for index, key in ipairs(keys) do
	local limit, amount, least = unpack(ARGV, 4 * index + 1, 4 * index + 3)
	local own = at[key] and holds[at[key]] or '0'
	local part = amount
	if isLess(own, amount) then part = add(own, fitting(remainingOf(state, index, limit), subtract(amount, own), least)) end
	if not grown or isLess(part, grown) then grown = part end
end
local isRaised = false
for index, key in ipairs(keys) do
	local own = at[key] and holds[at[key]] or '0'
	if isLess(own, grown) then
		isRaised = true
		if not at[key] then
			holds[#holds + 1] = key
			at[key] = #holds + 1
		end
		holds[at[key]] = grown
		redis.call('HSET', counters, 'h:' .. key, add(subtract(held(state, index), own), grown))
	end
end
if isRaised then
	holds[#holds + 1] = tokens
	keep(id, holds, heldBy)
end
return 'grown:' .. grown
