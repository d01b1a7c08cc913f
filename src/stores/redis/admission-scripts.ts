/**
 * The operations as Lua, one script each, in `lua/`. Three keys a team, which live and die together, so that totals never outlive the
 * reservations they contain: `counters` (a hash), `calls` (request id to its owner and what it reserves) and `ends` (request ids by the
 * second their reservation ends); one short-lived key for each request that has ended; and for each owner, which is one run of a gateway,
 * the teams in which it reserved. Scripts touch no key that they are not given.
 */
import { partsOfWhatIsLeft } from '../contracts/admission.ts';
import { compileScript, readLua, type Script } from './script.ts';

/** By operation, its file in `lua/`. */
const files = {
	admit: 'admit',
	settle: 'settle',
	release: 'release',
	extend: 'extend',
	grow: 'grow',
	read: 'read',
	restore: 'restore',
	rehold: 'rehold',
	register: 'register',
	teamsOf: 'teams-of',
	abandon: 'abandon',
} as const;

export type Operation = keyof typeof files;

/** Lua for the server's clock in unix milliseconds. */
const serverClock = `(function() local time = redis.call('TIME') return time[1] * 1000 + math.floor(time[2] / 1000) end)()`;

/** What the files read by these names. */
const numbers = {
	partsOfWhatIsLeft,
	/** Idle teams are forgotten after so long, and restored from the ledger when they return. */
	idleSeconds: 70 * 24 * 3600,
	/** Longer than any reservation lasts. */
	ownerSeconds: 25 * 3600,
};

/** @param clock Lua expression for unix milliseconds; tests have one that they can move. */
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
		rehold: compile('rehold'),
		register: compile('register'),
		teamsOf: compile('teamsOf'),
		abandon: compile('abandon'),
	};
}
