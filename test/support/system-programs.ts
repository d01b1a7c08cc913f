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
	install(Object.entries(packages).flatMap(([program, name]) => (findFolder(program as Program) === undefined ? [name] : [])));
}

/** For what few tests need: installs it when it is missing. @returns its path; undefined, and a line that says so, when it cannot be had. */
export function offerProgram(program: string): string | undefined {
	if (findFolder(program) === undefined) install([program]);
	const folder = findFolder(program);
	if (folder !== undefined) return join(folder, program);
	process.stdout.write(`skipped, because the program \`${program}\` is missing: install the package \`${program}\`\n`);
	return undefined;
}

function install(missing: readonly string[]): void {
	if (missing.length === 0 || process.getuid?.() !== 0) return;
	const options = { stdio: 'ignore', timeout: 600_000, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
	try {
		execFileSync('apt-get', ['update', '-q'], options);
		execFileSync('apt-get', ['install', '-y', '-q', ...missing], options);
	} catch {
		// Said by whoever looks for it.
	}
}

/** @returns the folder that it is in. @throws one line that says what to install. */
export function requireProgram(program: Program): string {
	const folder = findFolder(program);
	if (folder === undefined) throw new Error(`This test needs the program \`${program}\`: install the package \`${packages[program]}\``);
	return folder;
}

/** Also where servers are, which is in the administrator's `PATH` alone. */
function findFolder(program: string): string | undefined {
	const folders = [...(program === 'postgres' ? postgresFolders() : []), ...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
	return folders.find((folder) => existsSync(join(folder, program)) && (program !== 'postgres' || existsSync(join(folder, 'initdb'))));
}

/** Debian keeps them out of PATH, a folder for each version. */
function postgresFolders(): string[] {
	const packaged = '/usr/lib/postgresql';
	const versions = existsSync(packaged) ? readdirSync(packaged).toSorted((left, right) => Number(right) - Number(left)) : [];
	return versions.map((version) => join(packaged, version, 'bin'));
}
