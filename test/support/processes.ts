/** Programs as separate processes, which are killed at the end of the test that started them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from './product.ts';

export const packageRoot = join(import.meta.dirname, '../..');
export const launcher = join(packageRoot, 'bin/tollgate');

/** `PATH` without the packages of this project, as in a user's shell. */
export const systemPath = (process.env['PATH'] ?? '')
	.split(delimiter)
	.filter((folder) => !folder.includes('node_modules'))
	.join(delimiter);

export interface Running {
	readonly child: ChildProcess;
	readonly pid: number;
	readonly stdout: string;
	readonly stderr: string;
	/** Log so far: lines of standard output that are JSON. */
	readonly log: Record<string, unknown>[];
	/** Resolves when the process has exited and no other process holds its output open. */
	readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
	/** Resolves with the first matching line of the log. */
	logged(event: string, fits?: (fields: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
}

export interface StartOptions {
	readonly cwd?: string;
	/** Complete environment in addition to `PATH` and `HOME`. */
	readonly env?: Record<string, string>;
}

/** Starts a program in a separate process group, which is killed at the end of the running test. */
export function startProcess(program: string, args: readonly string[], { cwd, env = {} }: StartOptions = {}): Running {
	const child = spawn(program, args, {
		cwd,
		env: { PATH: process.env['PATH'], HOME: tmpdir(), ...env },
		stdio: ['ignore', 'pipe', 'pipe'],
		detached: true,
	});
	const { pid } = child;
	if (pid === undefined) throw new Error(`${program} cannot be started`);
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
	child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
	const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
		child.once('close', (code, signal) => resolve({ code, signal }));
	});
	onTestFinished(async () => {
		killGroup(pid);
		await ended;
	});
	const running: Running = {
		child,
		pid,
		get stdout() {
			return stdout;
		},
		get stderr() {
			return stderr;
		},
		get log() {
			return jsonLines(stdout);
		},
		ended,
		logged: (event, fits = () => true) => {
			return eventually(`"${event}" in the log`, () => running.log.find((line) => line['msg'] === event && fits(line)));
		},
	};
	return running;
}

/** Runs a program until it exits. */
export async function runProcess(
	program: string,
	args: readonly string[],
	options: StartOptions = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
	const running = startProcess(program, args, options);
	const { code } = await running.ended;
	return { code, stdout: running.stdout, stderr: running.stderr };
}

/** Runs the product's command line, on this runtime. */
export function runTollgate(
	args: readonly string[],
	options: StartOptions = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
	return runProcess(process.execPath, [launcher, ...args], options);
}

/** Creates a directory that is deleted at the end of the test. */
export function temporaryDirectory(): string {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-anomaly-'));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	return directory;
}

/** Returns true if a process with this id exists. */
export function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

function killGroup(pid: number): void {
	try {
		process.kill(-pid, 'SIGKILL');
	} catch {
		// Process has exited.
	}
}

function jsonLines(text: string): Record<string, unknown>[] {
	return text
		.split('\n')
		.slice(0, -1)
		.filter((line) => line.startsWith('{'))
		.map((line) => JSON.parse(line) as Record<string, unknown>);
}
