-- ARGV: run, id, tokens, cost, lifetime of the end mark in ms, day of admission by the caller's clock, then the budgets' keys.
endDue()
local keys = budgetKeys(7, 1)
local state = load(keys, {})
if not state then return { 'missing' } end
if redis.call('EXISTS', KEYS[4]) == 1 then return reply('duplicate', state, {}) end
local heldSince = giveBack(ARGV[2], tonumber(ARGV[3]))
if (heldSince or tonumber(ARGV[6])) >= state.day then state.tokens = state.tokens + tonumber(ARGV[3]) end
local fields = { 'day', state.day, 'tokens', state.tokens }
if tonumber(state.values[4]) ~= state.day then
	fields[5] = 'reserved'
	fields[6] = 0
end
for index, key in ipairs(keys) do
	fields[#fields + 1] = 's:' .. key
	fields[#fields + 1] = add(settled(state, index), ARGV[4])
end
redis.call('HSET', counters, unpack(fields))
redis.call('SET', KEYS[4], 's', 'PX', ARGV[5])
return reply(heldSince and 'settled' or 'late', load(keys, {}), {})
