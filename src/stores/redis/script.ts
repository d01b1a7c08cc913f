/** Lua scripts that the server runs by their digest. The files are in `lua/`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Script {
	readonly lua: string;
	readonly sha1: string;
}

export function compileScript(lua: string): Script {
	return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

/** @param name of a file in `lua/`, without its extension. */
export function readLua(name: string): string {
	return readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8');
}
