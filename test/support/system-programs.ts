/** Servers and tools of the system that tests run. Installed before the first test, by one process: package managers lock each other out. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

type Program = keyof typeof packages;

/** Debian's package of each. */
const packages = {
	'redis-server': 'redis-server',
	postgres: 'postgresql',
	faketime: 'faketime',
	strace: 'strace',
	haproxy: 'haproxy',
	nginx: 'nginx-light',
} as const;

/** Installs what is missing where that is possible; what remains missing is said by the test that needs it. */
export function setup(): void {
	const missing = Object.entries(packages).filter(([program]) => findFolder(program as Program) === undefined);
	if (missing.length === 0 || process.getuid?.() !== 0) return;
	const options = { stdio: 'ignore', timeout: 600_000, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
	try {
		execFileSync('apt-get', ['update', '-q'], options);
		execFileSync('apt-get', ['install', '-y', '-q', ...missing.map(([, name]) => name)], options);
	} catch {
		// Said by `requireProgram`.
	}
}

/** @returns the folder that it is in. @throws one line that says what to install. */
export function requireProgram(program: Program): string {
	const folder = findFolder(program);
	if (folder === undefined) throw new Error(`This test needs the program \`${program}\`: install the package \`${packages[program]}\``);
	return folder;
}

function findFolder(program: Program): string | undefined {
	const folders = [...(program === 'postgres' ? postgresFolders() : []), ...(process.env['PATH'] ?? '').split(delimiter)];
	return folders.find((folder) => existsSync(join(folder, program)) && (program !== 'postgres' || existsSync(join(folder, 'initdb'))));
}

/** Debian keeps them out of PATH, a folder for each version. */
function postgresFolders(): string[] {
	const packaged = '/usr/lib/postgresql';
	const versions = existsSync(packaged) ? readdirSync(packaged).toSorted((left, right) => Number(right) - Number(left)) : [];
	return versions.map((version) => join(packaged, version, 'bin'));
}
