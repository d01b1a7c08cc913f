/** Temporary PostgreSQL servers: real, on loopback, in a directory that is deleted with them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from './product.ts';
import { requireProgram } from './system-programs.ts';

export interface PostgresServer {
	readonly port: number;
	/** URL of the database `postgres`, as its superuser. */
	readonly url: string;
	readonly pid: number;
	/** Creates an empty database. @returns its URL. */
	createDatabase(): Promise<string>;
	/** Suspends the server, which then stops responding. */
	pause(): void;
	resume(): void;
	/** Kills all of its processes and waits until they have exited. */
	kill(): Promise<void>;
	/** Restarts it with its data, on the same port. */
	restart(): Promise<void>;
	stop(): Promise<void>;
}

export const postgresPassword = 'p@ss/w:rd-of-postgres';

const tlsFixture = join(import.meta.dirname, '../fixtures/tls-localhost');
/** Certificate of the server, for use with the option `ssl=on`. */
export const postgresCertificate = join(tlsFixture, 'certificate.pem');

/** @param options of the server, such as `max_connections=20`. */
export async function startPostgres(...options: string[]): Promise<PostgresServer> {
	const { programs, owner } = requirePostgres();
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'));
	if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
	const data = join(directory, 'data');
	const asOwner = { ...owner, cwd: directory };
	const passwordFile = join(directory, 'password');
	writeFileSync(passwordFile, postgresPassword);
	const initialise = [
		'-D',
		data,
		'-U',
		'postgres',
		'-A',
		'scram-sha-256',
		`--pwfile=${passwordFile}`,
		'-E',
		'UTF8',
		'--locale=C',
		'--no-sync',
	];
	execFileSync(join(programs, 'initdb'), initialise, { ...asOwner, stdio: ['ignore', 'ignore', 'pipe'] });

	for (const [from, to] of [
		['certificate.pem', 'server.crt'],
		['key.pem', 'server.key'],
	] as const) {
		writeFileSync(join(data, to), readFileSync(join(tlsFixture, from)), { mode: 0o600 });
		if (owner !== undefined) chownSync(join(data, to), owner.uid, owner.gid);
	}

	const port = await freePort();
	const urlOf = (database: string): string => `postgres://postgres:${encodeURIComponent(postgresPassword)}@127.0.0.1:${port}/${database}`;
	const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`, ...options];
	const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
	const launch = async (): Promise<ChildProcess> => {
		const child = spawn(join(programs, 'postgres'), args, { ...asOwner, stdio: 'ignore' });
		await untilResponding(child, urlOf('postgres'));
		return child;
	};
	let child = await launch();
	let databases = 0;
	const pidOf = (): number => child.pid ?? Number.NaN;
	const signal = (name: NodeJS.Signals): void => {
		for (const pid of [pidOf(), ...childrenOf(pidOf())]) sendSignal(pid, name);
	};
	const kill = async (): Promise<void> => {
		if (child.exitCode !== null || child.signalCode !== null) return;
		const backends = childrenOf(pidOf());
		const gone = new Promise((resolve) => child.once('exit', resolve));
		for (const pid of [pidOf(), ...backends]) sendSignal(pid, 'SIGKILL');
		await gone;
		await untilDisconnected(backends);
	};
	return {
		port,
		url: urlOf('postgres'),
		get pid() {
			return pidOf();
		},
		async createDatabase() {
			const name = `database_${++databases}`;
			await query(urlOf('postgres'), `CREATE DATABASE ${name}`);
			return urlOf(name);
		},
		pause: () => signal('SIGSTOP'),
		resume: () => signal('SIGCONT'),
		kill,
		async restart() {
			await kill();
			child = await launch();
		},
		async stop() {
			await kill();
			rmSync(directory, { recursive: true, force: true });
		},
	};
}

/** Runs one statement on a separate connection. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
	const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
	client.on('error', () => undefined);
	await client.connect();
	try {
		return (await client.query<Record<string, unknown>>(statement)).rows;
	} finally {
		await client.end();
	}
}

interface Postgres {
	/** Folder of `initdb` and `postgres`. */
	readonly programs: string;
	/** User that runs the server, which does not start as root. */
	readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

/** @throws one line that names the package to install. */
function requirePostgres(): Postgres {
	return { programs: requireProgram('postgres'), owner: process.getuid?.() === 0 ? nobody() : undefined };
}

function nobody(): { uid: number; gid: number } {
	const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
	return { uid: idOf('-u'), gid: idOf('-g') };
}

async function untilResponding(child: ChildProcess, url: string): Promise<void> {
	const endMs = performance.now() + 15_000;
	for (;;) {
		try {
			await query(url, 'SELECT 1');
			return;
		} catch (cause) {
			if (child.exitCode !== null || performance.now() > endMs) throw new Error('postgres does not start', { cause });
		}
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

/** Waits, because an exited process stays in the process table until its parent reaps it. */
async function untilDisconnected(pids: readonly number[]): Promise<void> {
	const endMs = performance.now() + 5000;
	while (listProcesses('stat=', '-p', pids.join(',')).some((state) => !state.startsWith('Z'))) {
		if (performance.now() > endMs) throw new Error(`processes of postgres do not end: ${pids.join(', ')}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

function childrenOf(pid: number): number[] {
	return listProcesses('pid=', '--ppid', String(pid)).map(Number);
}

function listProcesses(column: string, ...which: string[]): string[] {
	try {
		const listed = execFileSync('ps', ['-o', column, ...which], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
		return listed
			.split('\n')
			.map((line) => line.trim())
			.filter(Boolean);
	} catch {
		// No such process.
		return [];
	}
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch {
		// Process has exited.
	}
}
