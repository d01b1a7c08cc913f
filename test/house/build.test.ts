import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProcess } from '../support/processes.ts';

const root = join(import.meta.dirname, '../..');
const published = mkdtempSync(join(tmpdir(), 'tollgate-published-'));

function run(...command: [program: string, ...args: string[]]): string {
	const [program, ...args] = command;
	return execFileSync(program, args, { cwd: published, encoding: 'utf8', env: { ...process.env, npm_config_loglevel: 'error' } });
}

beforeAll(() => {
	for (const file of ['package.json', 'bin', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md']) {
		cpSync(join(root, file), join(published, file), { recursive: true });
	}
	symlinkSync(join(root, 'node_modules'), join(published, 'node_modules'));
	run(process.execPath, join(root, 'scripts/build.ts'), join(published, 'dist'));
});
afterAll(() => rmSync(published, { recursive: true }));

test('the built program starts', () => {
	expect(run(process.execPath, 'dist/src/main.js', '--help')).toMatch(/^Usage: tollgate /m);
	expect(run('bin/tollgate', '--help')).toBe(run(process.execPath, 'dist/src/main.js', '--help'));
});

test('the published package simulates providers', async () => {
	const simulator = startProcess(join(published, 'bin/tollgate'), ['simulate', '--listen', '127.0.0.1:0'], { cwd: published });
	expect(await simulator.logged('started')).toMatchObject({ roles: ['simulator'] });
});

test('the package exports its client, with types', () => {
	const names = run(process.execPath, '-p', `import('tollgate/client').then((client) => console.log(Object.keys(client).length > 0)), ''`);
	expect(names.trim()).toBe('true');
	expect(existsSync(join(published, 'dist/src/client/index.d.ts'))).toBe(true);
});

test('built and packed again, the package is the same to the byte', () => {
	const integrity = (): string | undefined => {
		const [packed] = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts')) as [{ integrity?: string }];
		return packed.integrity;
	};
	const first = integrity();
	expect(first).toMatch(/^sha512-/);
	rmSync(join(published, 'dist'), { recursive: true });
	run(process.execPath, join(root, 'scripts/build.ts'), join(published, 'dist'));
	expect(integrity()).toBe(first);
}, 60_000);

test('the published package contains the program, and neither tests nor sources', () => {
	const [packed] = JSON.parse(run('npm', 'pack', '--dry-run', '--json', '--ignore-scripts')) as [{ files: { path: string }[] }];
	const paths = packed.files.map(({ path }) => path);
	expect(paths).toEqual(
		expect.arrayContaining([
			'LICENSE',
			'bin/tollgate',
			'bin/gateway-token',
			'bin/launch.cjs',
			'bin/package.json',
			'dist/content-filter/weights/NOTICE.txt',
			'dist/content-filter/weights/weights.bin',
			'dist/simulator/simulator.js',
			'dist/src/client/index.js',
			'package.json',
		]),
	);
	expect(paths.filter((path) => path.includes('/training/'))).toEqual([]);
	const readByTheProgram = globSync('{src,simulator,content-filter}/**/*.{bin,json,lua,sql}', {
		cwd: root,
		exclude: ['**/golden/**', '**/fixtures/**'],
	});
	expect(new Set(readByTheProgram.map((path) => extname(path)))).toEqual(new Set(['.bin', '.json', '.lua', '.sql']));
	expect(paths).toEqual(expect.arrayContaining(readByTheProgram.map((path) => `dist/${path}`)));
	expect(
		paths.filter(
			(path) => /\.(test|contract|long)\.|^(src|simulator|content-filter|test|bench|scripts)\//.test(path) || /(?<!\.d)\.ts$/.test(path),
		),
	).toEqual([]);
});
