/** Starts the measured processes on one core and reads their CPU time and memory from the operating system. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const clockTicksPerSecond = 100;
const pageBytes = 4096;

/** Cores by number; undefined on a system without `taskset` or with one core. */
export const cores: { target: string; load: string } | undefined = canPin() ? { target: '1', load: '0' } : undefined;

export interface Running {
	readonly pid: number;
	/** Milliseconds from the start of the process to its first successful response. */
	readonly readyMs: number;
	cpuSeconds(): number;
	residentBytes(): number;
	stop(): Promise<void>;
}

export async function startProcess(options: {
	command: string;
	args: readonly string[];
	core: string | undefined;
	env?: Record<string, string>;
	readyUrl: string;
	readyHeaders?: Record<string, string>;
}): Promise<Running> {
	const pinned = options.core === undefined ? [] : ['taskset', '-c', options.core];
	const [command = '', ...args] = [...pinned, options.command, ...options.args];
	const startedMs = performance.now();
	const child = spawn(command, args, { env: { ...process.env, ...options.env }, stdio: ['ignore', 'ignore', 'pipe'] });
	const pid = child.pid;
	if (pid === undefined) throw new Error(`${command} did not start`);
	const complaints: string[] = [];
	child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
	while (!(await responses(options.readyUrl))) {
		if (child.exitCode !== null || performance.now() - startedMs > 20_000) {
			throw new Error(`${options.command} ${options.args.join(' ')} is not ready: ${complaints.join('').slice(-2000)}`);
		}
		await sleep(5);
	}
	return {
		pid,
		readyMs: performance.now() - startedMs,
		cpuSeconds: () => cpuSeconds(pid),
		residentBytes: () => residentBytes(pid),
		stop: () => stop(child),
	};
}

const givenPorts = new Set<number>();

/** A port without a listener, a different one each time. */
export async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	if (address === null || typeof address === 'string') throw new Error('no free port');
	if (givenPorts.has(address.port)) return freePort();
	givenPorts.add(address.port);
	return address.port;
}

async function responses(url: string): Promise<boolean> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
		await response.arrayBuffer();
		return response.status < 500;
	} catch {
		return false;
	}
}

async function stop(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const ended = new Promise((resolve) => child.once('exit', resolve));
	child.kill('SIGTERM');
	const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
	await ended;
	clearTimeout(timer);
}

/** User and system time of a process with all its threads. */
function cpuSeconds(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond;
}

/** Time that the hypervisor gave to other machines although this one had work; 0 on systems that do not count it. */
export function stolenSeconds(): number {
	if (process.platform !== 'linux') return 0;
	const [, ...ticks] = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]?.split(/ +/) ?? [];
	return Number(ticks[7] ?? 0) / clockTicksPerSecond;
}

function residentBytes(pid: number): number {
	return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * pageBytes;
}

function canPin(): boolean {
	try {
		execFileSync('taskset', ['-c', '1', 'true'], { stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
}
