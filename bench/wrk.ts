/** Runs wrk (Debian package) on the load generator's core. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cores } from './processes.ts';
import type { Target } from './targets.ts';

export interface Load {
	readonly seconds: number;
	readonly connections: number;
	readonly threads: number;
	/** Lines of Lua that follow those that build the request. */
	readonly script?: readonly string[];
	/** Folder for the script. */
	readonly directory: string;
}

/** Returns the output of wrk. Throws if a response was not 2xx or a connection failed. */
export async function runWrk(target: Target, body: string, load: Load): Promise<string> {
	const path = join(load.directory, 'load.lua');
	const headers = Object.entries({ 'content-type': 'application/json', 'user-agent': 'bench', ...target.headers });
	const request = [
		'wrk.method = "POST"',
		`wrk.body = ${luaString(body)}`,
		...headers.map(([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`),
	];
	writeFileSync(path, [...request, ...(load.script ?? [])].join('\n'));
	const args = [`-t${load.threads}`, `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s', '-s', path];
	const [command = 'wrk', ...rest] = [...(cores === undefined ? [] : ['taskset', '-c', cores.load]), 'wrk', ...args];
	const { stdout } = await promisify(execFile)(command, [...rest, `${target.url}/v1/chat/completions`], { maxBuffer: 1 << 24 });
	if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${target.name} failed under load:\n${stdout}`);
	return stdout;
}

/** Writes all but plain characters as decimal bytes, because Lua 5.1 lacks some of JSON's escapes. */
function luaString(text: string): string {
	const escaped = Buffer.from(text)
		.toString('latin1')
		.replace(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString().padStart(3, '0')}`);
	return `"${escaped}"`;
}
