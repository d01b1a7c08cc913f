/**
 * The operations as Lua, one script each. Three keys a team, which live and die together, so that totals never outlive the
 * reservations they contain: `counters` (a hash), `calls` (request id to its owner and what it reserves) and `ends` (request ids by the
 * second their reservation ends); one short-lived key for each request that has ended; and for each owner, which is one run of a gateway,
 * the teams in which it reserved. Scripts touch no key that they are not given.
 */
import { createHash } from 'node:crypto';
import { prelude } from './admission-prelude.ts';

export interface Script {
	readonly lua: string;
	readonly sha1: string;
}

export type Operation = keyof typeof bodies;

/** Lua for the server's clock in unix milliseconds. */
const serverClock = `(function() local time = redis.call('TIME') return time[1] * 1000 + math.floor(time[2] / 1000) end)()`;

/** @param clock Lua expression for unix milliseconds; tests have one that they can move. */
export function compileScripts(clock: string = serverClock): Record<Operation, Script> {
	const compile = (body: string): Script => {
		const lua = `local now = ${clock}\n${prelude}\n${body}`;
		return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
	};
	return {
		admit: compile(bodies.admit),
		settle: compile(bodies.settle),
		release: compile(bodies.release),
		extend: compile(bodies.extend),
		grow: compile(bodies.grow),
		read: compile(bodies.read),
		restore: compile(bodies.restore),
		rehold: compile(bodies.rehold),
		register: compile(bodies.register),
		teamsOf: compile(bodies.teamsOf),
		abandon: compile(bodies.abandon),
	};
}

/** Longer than any reservation lasts. */
const ownerSeconds = 25 * 3600;

const bodies = {
	// ARGV: run, id, requests a minute or '', daily tokens or '', tokens to reserve, hold in ms, then for each budget: key, limit, amount,
	// check.
	admit: `
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
				local left = leftOf(state, index, limit)
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
			state.values[6 + 2 * index] = total
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
		return reply(fits and 'admitted:' .. fits or 'admitted', state)`,

	// ARGV[1] of each is the server's run and the owner.
	// ARGV: run, id, tokens, cost, remembered ms, day of admission by the caller's clock, then the budgets' keys.
	settle: `
		endDue()
		local keys = budgetKeys(7, 1)
		local state = load(keys)
		if not state then return { 'missing' } end
		if redis.call('EXISTS', KEYS[4]) == 1 then return reply('duplicate', state) end
		local heldSince = giveBack(ARGV[2])
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
		return reply(heldSince and 'settled' or 'late', load(keys))`,

	// ARGV: run, id, remembered ms.
	release: `
		endDue()
		if redis.call('EXISTS', KEYS[4]) == 1 then return 'OK' end
		giveBack(ARGV[2])
		return redis.call('SET', KEYS[4], 'r', 'PX', ARGV[3])`,

	// ARGV: run, id, then for each budget: key, limit, amount, check.
	extend: `
		endDue()
		local id = ARGV[2]
		if redis.call('HGET', counters, 'run') ~= run then return 'unknown' end
		local holds, heldBy = find(id)
		if not holds then return 'unknown' end
		local state = load(budgetKeys(3, 4))
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
				state.values[6 + 2 * index] = add(subtract(held(state, index), own), amount)
			end
		end
		for index, key in ipairs(budgetKeys(3, 4)) do redis.call('HSET', counters, 'h:' .. key, held(state, index)) end
		holds[#holds + 1] = tokens
		keep(id, holds, heldBy)
		return 'extended'`,

	// ARGV: run, id, hold in ms, then for each budget: key, limit, amount, least step.
	grow: `
		endDue()
		local id = ARGV[2]
		if redis.call('HGET', counters, 'run') ~= run then return 'unknown' end
		local holds, heldBy = find(id)
		if not holds then return 'unknown' end
		local keys = budgetKeys(4, 4)
		local state = load(keys)
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
			if isLess(own, amount) then part = add(own, fitting(leftOf(state, index, limit), subtract(amount, own), least)) end
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
		return 'grown:' .. grown`,

	// ARGV: run, then the budgets' keys.
	read: `
		endDue()
		local state = load(budgetKeys(2, 1))
		return state and reply('read', state) or { 'missing' }`,

	// KEYS from 4: calls that have ended. ARGV: run, tokens of the day, remembered ms, then for each budget: key, settled.
	restore: `
		if redis.call('HGET', counters, 'run') ~= run then
			redis.call('DEL', counters, calls, ends)
			redis.call('HSET', counters, 'run', run, 'day', math.floor(now / 86400000), 'tokens', ARGV[2], 'reserved', 0)
			for index = 4, #KEYS do redis.call('SET', KEYS[index], 's', 'PX', ARGV[3]) end
		end
		local function month(key) return tonumber(string.sub(key, 1, 4)) * 12 + tonumber(string.sub(key, 6, 7)) end
		for index = 4, #ARGV, 2 do
			local key = ARGV[index]
			if redis.call('HSETNX', counters, 's:' .. key, ARGV[index + 1]) == 1 then
				redis.call('HSET', counters, 'h:' .. key, '0')
				for _, field in ipairs(redis.call('HKEYS', counters)) do
					local other = string.sub(field, 3)
					if string.sub(field, 1, 2) == 's:' and month(other) < month(key) - 1 and redis.call('HGET', counters, 'h:' .. other) == '0' then
						redis.call('HDEL', counters, field, 'h:' .. other)
					end
				end
			end
		end
		keepCounters()
		return 'OK'`,

	// KEYS from 4: their ended marks. ARGV: run, then for each call: id, hold in ms, number of budgets, day of admission by the
	// caller's clock, of each budget key and amount, and reserved tokens.
	rehold: `
		endDue()
		local known = {}
		local place, number = 2, 4
		local pending = {}
		while ARGV[place] do
			local id, holdMs, count = ARGV[place], tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
			local holds = { tonumber(ARGV[place + 3]), unpack(ARGV, place + 4, place + 3 + 2 * count) }
			local tokens = tonumber(ARGV[place + 4 + 2 * count])
			for index = 2, #holds, 2 do known[#known + 1] = holds[index] end
			if redis.call('EXISTS', KEYS[number]) == 0 and redis.call('HEXISTS', calls, id) == 0 then
				pending[#pending + 1] = { id, holds, holdMs, tokens }
			end
			place, number = place + 5 + 2 * count, number + 1
		end
		local state = load(known)
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
		return 'OK'`,

	// KEYS: the owner's teams. ARGV: run, team.
	register: `
		redis.call('SADD', KEYS[1], ARGV[2])
		return redis.call('EXPIRE', KEYS[1], ${ownerSeconds})`,

	// KEYS: the owner's teams.
	teamsOf: `return redis.call('SMEMBERS', KEYS[1])`,

	// ARGV: run, the owner that has ended. Releases what it reserves still.
	abandon: `
		local released = 0
		local kept = redis.call('HGETALL', calls)
		for index = 1, #kept, 2 do
			local bar = string.find(kept[index + 1], '|', 1, true)
			if string.sub(kept[index + 1], 1, bar - 1) == ARGV[2] then
				giveBack(kept[index])
				released = released + 1
			end
		end
		return released`,
};
