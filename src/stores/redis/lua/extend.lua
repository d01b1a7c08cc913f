-- ARGV: run, id, then for each budget: key, limit, amount, check.
endDue()
local id = ARGV[2]
if redis.call('HGET', counters, 'run') ~= run then return 'unknown' end
local holds, heldBy = find(id)
if not holds then return 'unknown' end
local state = load(budgetKeys(3, 4), {})
if not state then return 'missing' end
local tokens = #holds % 2 == 0 and table.remove(holds) or 0
local at = {}
for index = 2, #holds, 2 do at[holds[index]] = index + 1 end
for index = 1, (#ARGV - 2) / 4 do
	local key, limit, amount, check = unpack(ARGV, 4 * index - 1, 4 * index + 2)
	local own = at[key] and holds[at[key]] or '0'
	if isLess(own, amount) then
		if not allows(state, index, own, limit, amount, check) then return 'declined' end
		if not at[key] then
			holds[#holds + 1] = key
			at[key] = #holds + 1
		end
		holds[at[key]] = amount
		setHeld(state, index, add(subtract(held(state, index), own), amount))
	end
end
for index, key in ipairs(budgetKeys(3, 4)) do redis.call('HSET', counters, 'h:' .. key, held(state, index)) end
holds[#holds + 1] = tokens
keep(id, holds, heldBy)
return 'extended'
