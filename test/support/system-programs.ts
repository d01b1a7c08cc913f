/**
 * Servers and tools of the system that tests run. `scripts/test.ts` installs them before the first test. Tests never install them, because
 * concurrent package managers lock each other out.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

type Program = keyof typeof packages;

/** Debian package of each program. */
const packages = {
	'redis-server': 'redis-server',
	postgres: 'postgresql',
	faketime: 'faketime',
	strace: 'strace',
	haproxy: 'haproxy',
	nginx: 'nginx-light',
	script: 'bsdutils',
} as const;

/** Debian packages that only the long tests need; their programs have the same names. */
const packagesOfLongTests = ['sqlmap'] as const;

/** Variable that disables installing packages if set to `1`: tests that need a missing program are skipped; in CI they fail. */
const unsetVariable = 'TOLLGATE_NO_SYSTEM_PACKAGES';

/** Missing program of the system. `SkippingRunner` skips a test that fails with it, if installing packages is disabled. */
export class MissingProgramError extends Error {
	override readonly name = 'MissingProgramError';
}

/** Installs the missing packages of all tests, in mode `long` those of the long tests too. */
export function installSystemPrograms(mode?: 'long'): void {
	const programs = Object.keys(packages) as Program[];
	const missing: string[] = programs.filter((program) => findFolder(program) === undefined).map((program) => packages[program]);
	if (mode === 'long') missing.push(...packagesOfLongTests.filter((program) => findFolder(program) === undefined));
	installPackages(missing);
}

/** Finds a program that few tests need. @returns its path; undefined, after a printed line, if it is missing. */
export function offerProgram(program: (typeof packagesOfLongTests)[number]): string | undefined {
	const folder = findFolder(program);
	if (folder !== undefined) return join(folder, program);
	process.stdout.write(`skipped, because the program \`${program}\` is missing: install the package \`${program}\`\n`);
	return undefined;
}

/** Host on which packages are installed; a test passes its own. */
export interface PackageHost {
	readonly isRoot: boolean;
	readonly environment: Readonly<NodeJS.ProcessEnv>;
	print(line: string): void;
	aptGet(...args: string[]): void;
}

/** Prints the packages and how to disable their installation, then installs them. The tests that need them report a failure. */
export function installPackages(names: readonly string[], host: PackageHost = thisHost): void {
	if (names.length === 0) return;
	const list = names.join(' ');
	if (isRejected(host.environment)) {
		host.print(`System packages are missing and are not installed (${unsetVariable}=1): ${list}`);
		return;
	}
	if (!host.isRoot) {
		host.print(
			`System packages are missing: run \`apt-get install ${list}\` as root, or set ${unsetVariable}=1 to skip the tests that need them.`,
		);
		return;
	}
	host.print(`Installing missing system packages with apt-get: ${list}`);
	host.print(`To decline, stop this and set ${unsetVariable}=1: the tests that need them are then skipped.`);
	try {
		host.aptGet('update', '-q');
		host.aptGet('install', '-y', '-q', ...names);
	} catch (cause) {
		host.print(
			`The system packages could not be installed: ${cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)}`,
		);
	}
}

const thisHost: PackageHost = {
	isRoot: process.getuid?.() === 0,
	environment: process.env,
	print: (line) => void process.stdout.write(`${line}\n`),
	aptGet: (...args) =>
		void execFileSync('apt-get', args, {
			stdio: 'ignore',
			timeout: 600_000,
			env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
		}),
};

function isRejected(environment: Readonly<NodeJS.ProcessEnv>): boolean {
	return environment[unsetVariable] === '1';
}

/** True if tests that lack a program are skipped instead of failing. Never in CI, where a skipped test would go unnoticed. */
export function skipsMissingPrograms(environment: Readonly<NodeJS.ProcessEnv>): boolean {
	return isRejected(environment) && ['', 'false', '0'].includes(environment['CI'] ?? '');
}

/** @returns the folder of the program. @throws MissingProgramError that names the package to install. */
export function requireProgram(program: Program): string {
	const folder = findFolder(program);
	if (folder === undefined) {
		throw new MissingProgramError(`the program \`${program}\` is missing: install the package \`${packages[program]}\``);
	}
	return folder;
}

/** Searches also the folders of servers, which only the administrator's `PATH` contains. */
function findFolder(program: string): string | undefined {
	const folders = [...(program === 'postgres' ? postgresFolders() : []), ...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
	return folders.find((folder) => existsSync(join(folder, program)) && (program !== 'postgres' || existsSync(join(folder, 'initdb'))));
}

/** Folders of PostgreSQL: Debian keeps one per version, outside of `PATH`. */
function postgresFolders(): string[] {
	const packaged = '/usr/lib/postgresql';
	const versions = existsSync(packaged) ? readdirSync(packaged).toSorted((left, right) => Number(right) - Number(left)) : [];
	return versions.map((version) => join(packaged, version, 'bin'));
}
