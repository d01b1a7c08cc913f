/** Closed-loop load by wrk: requests a second and CPU a request. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cores } from './processes.ts';
import type { Target } from './targets.ts';

export interface Saturation {
	readonly requestsPerSecond: number;
	readonly cpuMicrosPerRequest: number;
}

const warmUpSeconds = 3;

export async function saturate(target: Target, body: string, seconds: number, directory: string): Promise<Saturation> {
	const script = join(directory, 'load.lua');
	const headers = Object.entries({ 'content-type': 'application/json', 'user-agent': 'bench', ...target.headers });
	writeFileSync(
		script,
		[
			'wrk.method = "POST"',
			`wrk.body = ${luaString(body)}`,
			...headers.map(([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`),
		].join('\n'),
	);
	// Until the compilers have seen what is hot.
	await wrk(target, script, warmUpSeconds);
	const before = target.cpuSeconds();
	const output = await wrk(target, script, seconds);
	const cpuSeconds = target.cpuSeconds() - before;
	const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
	const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
	if (/Non-2xx|Socket errors/.test(output) || !(requests > 0)) throw new Error(`${target.name} failed under load:\n${output}`);
	return { requestsPerSecond: perSecond, cpuMicrosPerRequest: (cpuSeconds / requests) * 1e6 };
}

async function wrk(target: Target, script: string, seconds: number): Promise<string> {
	const args = ['-t1', '-c32', `-d${seconds}s`, '--timeout', '10s', '-s', script, `${target.url}/v1/chat/completions`];
	const [command = 'wrk', ...rest] = cores === undefined ? ['wrk', ...args] : ['taskset', '-c', cores.load, 'wrk', ...args];
	const { stdout } = await promisify(execFile)(command, rest, { maxBuffer: 1 << 24 });
	return stdout;
}

/** JSON's escapes, which Lua 5.1 lacks in part, are avoided by escaping all but plain characters as decimal bytes. */
function luaString(text: string): string {
	const escaped = Buffer.from(text)
		.toString('latin1')
		.replace(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString().padStart(3, '0')}`);
	return `"${escaped}"`;
}
