-- ARGV: run, then the budgets' keys.
endDue()
local state = load(budgetKeys(2, 1))
return state and reply('read', state) or { 'missing' }
