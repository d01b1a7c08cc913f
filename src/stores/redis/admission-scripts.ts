/**
 * The operations as Lua, one script each, in `lua/`. Scripts touch only the keys that they receive. Keys of each team and each owner:
 * - `counters`: a hash. It never expires after the other two, so that totals never outlive the reservations that they contain.
 * - `calls`: request id to its owner and its reservations.
 * - `ends`: request ids by the second in which their reservation expires.
 * - `ended:` and an id, short-lived: one for each ended request.
 * - `owner:` and a run of a gateway, not tied to a team: the teams in which the run reserved.
 */
import { maxLaterPeriods, remainderShares } from '../contracts/admission.ts';
import { compileScript, readLua, type Script } from './script.ts';

/** Files in `lua/` by operation. */
const files = {
	admit: 'admit',
	settle: 'settle',
	release: 'release',
	extend: 'extend',
	grow: 'grow',
	read: 'read',
	restore: 'restore',
	restoreReservations: 'restore-reservations',
	register: 'register',
	teamsOf: 'teams-of',
	abandon: 'abandon',
} as const;

export type Operation = keyof typeof files;

/** Lua expression of the server's clock in unix milliseconds. */
const serverClock = `(function() local time = redis.call('TIME') return time[1] * 1000 + math.floor(time[2] / 1000) end)()`;

/** Constants of the Lua files, by name. */
const numbers = {
	remainderShares,
	maxLaterPeriods,
	/** Idle teams expire after this time, and are restored from the ledger when they return. */
	idleSeconds: 70 * 24 * 3600,
	/** Longer than any reservation lasts. */
	ownerSeconds: 25 * 3600,
};

/** @param clock Lua expression for unix milliseconds; tests pass one that they control. */
export function compileScripts(clock: string = serverClock): Record<Operation, Script> {
	const locals = Object.entries({ now: clock, ...numbers }).map(([name, value]) => `local ${name} = ${value}\n`);
	const beginning = locals.join('') + readLua('prelude');
	const compile = (operation: Operation): Script => compileScript(`${beginning}\n${readLua(files[operation])}`);
	return {
		admit: compile('admit'),
		settle: compile('settle'),
		release: compile('release'),
		extend: compile('extend'),
		grow: compile('grow'),
		read: compile('read'),
		restore: compile('restore'),
		restoreReservations: compile('restoreReservations'),
		register: compile('register'),
		teamsOf: compile('teamsOf'),
		abandon: compile('abandon'),
	};
}
