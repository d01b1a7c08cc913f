import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
const home = mkdtempSync(join(tmpdir(), 'tollgate-prepare-'));
const clone = join(home, 'clone');
const callsFile = join(home, 'calls');
const npm = join(home, 'npm.cjs');

beforeAll(() => {
	mkdirSync(join(clone, 'scripts'), { recursive: true });
	for (const file of ['package.json', '.npmrc', 'package-lock.json', 'scripts/prepare.cjs']) {
		copyFileSync(join(root, file), join(clone, file));
	}
	writeFileSync(
		npm,
		`require('node:fs').appendFileSync(${JSON.stringify(callsFile)}, JSON.stringify(process.argv.slice(2)) + '\\n');
if (process.env.NPM_FAILS) { console.error('npm error code E404\\nnpm error No such package'); process.exitCode = 1; }\n`,
	);
});
afterAll(() => rmSync(home, { recursive: true }));

/** Runs the script before `event` with an npm that only records its arguments. */
function prepare(event: string, environment: Readonly<Record<string, string>> = {}) {
	rmSync(callsFile, { force: true });
	writeFileSync(callsFile, '');
	const { status, stderr } = spawnSync(process.execPath, [join(clone, 'scripts/prepare.cjs')], {
		env: { PATH: process.env['PATH'], npm_execpath: npm, npm_lifecycle_event: event, ...environment },
		encoding: 'utf8',
	});
	const calls = readFileSync(callsFile, 'utf8').split('\n').slice(0, -1);
	return { status, stderr, calls: calls.map((line) => JSON.parse(line) as string[]) };
}

/** Creates the files that npm leaves after it installed the packages of the lockfile that are `included`. */
function installLocked(included: (one: { dev?: boolean; optional?: boolean; version: string }) => boolean): void {
	const { packages } = JSON.parse(lockText) as { packages: Record<string, { version: string }> };
	const installed = Object.entries(packages).filter(([path, one]) => path !== '' && included(one));
	mkdirSync(join(clone, 'node_modules'), { recursive: true });
	writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify({ packages: Object.fromEntries(installed) }));
}

test('npm accepts the lockfile: `npm ci` fails if the entry of any platform is missing', () => {
	const folder = join(home, 'ci');
	mkdirSync(folder);
	for (const file of ['package.json', '.npmrc', 'package-lock.json']) copyFileSync(join(root, file), join(folder, file));
	const options = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--cache', join(home, 'cache')];
	const { status, stderr } = spawnSync('npm', options, { cwd: folder, encoding: 'utf8' });
	expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('a clone without packages installs those of the lockfile, with development packages before tests', () => {
	rmSync(join(clone, 'node_modules'), { recursive: true, force: true });
	expect(prepare('prestart').calls).toEqual([['ci', '--loglevel=error']]);
	expect(prepare('pretest').calls).toEqual([['ci', '--loglevel=error', '--include=dev']]);
});

test('development packages that are missing are installed before tests, not before a start', () => {
	installLocked(({ dev }) => dev !== true);
	expect(prepare('prestart').calls).toEqual([]);
	expect(prepare('pretest').calls).toHaveLength(1);
});

test('nothing is installed where only packages of other platforms are missing', () => {
	installLocked(({ optional }) => optional !== true);
	expect(prepare('pretest').calls).toEqual([]);
});

test('a package of another version is replaced', () => {
	installLocked(() => true);
	const lock = join(clone, 'node_modules/.package-lock.json');
	writeFileSync(lock, readFileSync(lock, 'utf8').replace(/("node_modules\/zod":\{"version":")[^"]+/, '$10.0.0'));
	expect(prepare('prestart').calls).toHaveLength(1);
});

test('an installation that fails ends the start and says why', () => {
	rmSync(join(clone, 'node_modules'), { recursive: true, force: true });
	const { status, stderr } = prepare('prestart', { NPM_FAILS: 'yes' });
	expect(status).toBe(1);
	expect(stderr).toMatch(/^Dependencies could not be installed: npm error No such package$/m);
});
