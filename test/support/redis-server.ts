/** Temporary Redis servers: real, on loopback, without persistence. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './product.ts';
import { requireProgram } from './system-programs.ts';

export interface RedisServer {
	readonly port: number;
	readonly url: string;
	/** Sends a command whose response is at most one line. @returns the first line of the response. */
	command(...words: string[]): Promise<string>;
	signal(signal: NodeJS.Signals): void;
	/** Kills the server and waits until it has exited. */
	kill(): Promise<void>;
	/** Restarts it, empty, on the same port. */
	restart(): Promise<void>;
	stop(): Promise<void>;
}

export async function startRedis(...options: string[]): Promise<RedisServer> {
	requireProgram('redis-server');
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-redis-'));
	const port = await freePort();
	let child = await launch(port, directory, options);
	const kill = async (): Promise<void> => {
		if (child.exitCode !== null || child.signalCode !== null) return;
		const gone = new Promise((resolve) => child.once('exit', resolve));
		child.kill('SIGKILL');
		await gone;
	};
	return {
		port,
		url: `redis://127.0.0.1:${port}`,
		command: async (...words) => (await sendCommands(port, [words]))[0] ?? '',
		signal: (signal) => void child.kill(signal),
		kill,
		async restart() {
			await kill();
			child = await launch(port, directory, options);
		},
		async stop() {
			await kill();
			rmSync(directory, { recursive: true, force: true });
		},
	};
}

async function launch(port: number, directory: string, options: readonly string[]): Promise<ChildProcess> {
	const fixed = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory, '--save', '', '--appendonly', 'no'];
	const child = spawn('redis-server', [...fixed, ...options], { stdio: 'ignore' });
	const endMs = performance.now() + 5000;
	while ((await sendCommands(port, [['PING']]).catch(() => [])).length === 0) {
		if (child.exitCode !== null || performance.now() > endMs) throw new Error(`redis-server does not start on port ${port}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	return child;
}

/** Sends commands whose responses are at most one line each, on a separate connection. @returns the first line of each response. */
export function sendCommands(port: number, commands: readonly (readonly string[])[]): Promise<string[]> {
	return new Promise((resolve, reject) => {
		const socket = createConnection({ host: '127.0.0.1', port });
		let text = '';
		socket.setEncoding('utf8');
		socket.once('error', reject);
		socket.once('close', () => reject(new Error('the server closed the connection')));
		socket.on('data', (piece: string) => {
			text += piece;
			const lines = text.split('\r\n');
			if (lines.length <= commands.length) return;
			resolve(lines.slice(0, commands.length));
			socket.destroy();
		});
		const written = commands.map(
			(words) => `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
		);
		socket.write(written.join(''));
	});
}
