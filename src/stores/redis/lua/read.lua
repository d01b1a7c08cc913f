-- ARGV: run, number of limits, then their names, then the budgets' keys.
endDue()
local limitCount = tonumber(ARGV[2])
local names = {}
for index = 1, limitCount do names[index] = ARGV[2 + index] end
local state = load(budgetKeys(3 + limitCount, 1), names)
return state and reply('read', state, names) or { 'missing' }
