import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot, temporaryDirectory } from '../support/processes.ts';
import { installPackages } from '../support/system-programs.ts';

/** Messages printed and commands run, in order. */
function install(names: readonly string[], host: { isRoot: boolean; environment?: NodeJS.ProcessEnv; fails?: boolean }): string[] {
	const done: string[] = [];
	installPackages(names, {
		isRoot: host.isRoot,
		environment: host.environment ?? {},
		print: (line) => done.push(line),
		aptGet: (...args) => {
			done.push(['apt-get', ...args].join(' '));
			if (host.fails === true) throw new Error('no network\nand more');
		},
	});
	return done;
}

test('before system packages are installed, their names and the way to disable it are printed', () => {
	expect(install(['redis-server', 'strace'], { isRoot: true })).toEqual([
		'Installing missing system packages with apt-get: redis-server strace',
		'To decline, stop this and set TOLLGATE_NO_SYSTEM_PACKAGES=1: the tests that need them are then skipped.',
		'apt-get update -q',
		'apt-get install -y -q redis-server strace',
	]);
	expect(install([], { isRoot: true })).toEqual([]);
	expect(install(['strace'], { isRoot: true, fails: true }).at(-1)).toBe('The system packages could not be installed: no network');
});

test('nothing is installed if it is disabled, or without root', () => {
	const environment = { TOLLGATE_NO_SYSTEM_PACKAGES: '1' };
	expect(install(['strace'], { isRoot: true, environment })).toEqual([
		'System packages are missing and are not installed (TOLLGATE_NO_SYSTEM_PACKAGES=1): strace',
	]);
	expect(install(['strace'], { isRoot: false })).toEqual([
		'System packages are missing: run `apt-get install strace` as root, or set TOLLGATE_NO_SYSTEM_PACKAGES=1 to skip the tests that need them.',
	]);
});

/** Runs a test file without strace, through the script that `npm test` uses. */
function runWithoutPrograms(environment: Readonly<Record<string, string>>): unknown {
	const directory = temporaryDirectory();
	symlinkSync(join(packageRoot, 'node_modules'), join(directory, 'node_modules'));
	const support = JSON.stringify(join(packageRoot, 'test/support/system-programs.ts'));
	const imports = `import { afterAll, beforeAll, describe, expect, test } from 'vitest';\nimport { requireProgram } from ${support};\n`;
	const inTest = `test('needs it', () => { requireProgram('strace'); });\ntest('does not', () => undefined);`;
	const inHook = `describe('traced', () => {
	let folder;
	beforeAll(() => { folder = requireProgram('strace'); });
	afterAll(() => folder.length);
	test('one', () => undefined);
	test('two', () => undefined);
});
test('three', () => undefined);`;
	for (const [name, body] of Object.entries({ test: inTest, hook: inHook })) {
		writeFileSync(join(directory, `in-${name}.test.ts`), imports + body);
	}
	const script = `
		const { runTests } = await import(${JSON.stringify(join(packageRoot, 'scripts/run-tests.ts'))});
		console.log('\\n' + JSON.stringify(await runTests({ root: ${JSON.stringify(directory)} })));
		process.exit();`;
	const path = join(directory, 'bin');
	mkdirSync(path);
	symlinkSync(process.execPath, join(path, 'node'));
	const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
		cwd: directory,
		env: { PATH: path, HOME: dirname(directory), ...environment },
		encoding: 'utf8',
	});
	return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

const reason = 'the program `strace` is missing: install the package `strace`';

test('if installing is disabled, tests that lack a program are skipped and named', () => {
	expect(runWithoutPrograms({ TOLLGATE_NO_SYSTEM_PACKAGES: '1' })).toEqual({
		passed: 2,
		failed: 0,
		skipped: 3,
		unsteady: [],
		lacking: { [reason]: ['in-hook.test.ts > traced > one', 'in-hook.test.ts > traced > two', 'in-test.test.ts > needs it'] },
	});
});

test.each([
	['without the variable', {}],
	['in CI', { TOLLGATE_NO_SYSTEM_PACKAGES: '1', CI: 'true' }],
])('%s, tests that lack a program fail', (_, environment) => {
	expect(runWithoutPrograms(environment)).toMatchObject({ passed: 2, failed: 3, lacking: {} });
});
