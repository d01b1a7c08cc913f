/**
 * Compiles `src/`, the folders that it loads and their data files into `dist/` (or a given folder), without tests. Keeps `dist/console`,
 * which the console's own build writes.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? join(root, 'dist'));

for (const name of existsSync(target) ? readdirSync(target) : []) {
	if (name !== 'console') rmSync(join(target, name), { recursive: true });
}

const compiler = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', target];
const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
process.exitCode = status ?? 1;

// Data files that the program reads at run time.
for (const file of globSync('{src,simulator,content-filter}/**/*.{bin,html,css,json,lua,sql,svg,txt,yaml}', {
	cwd: root,
	exclude: ['**/golden/**', '**/fixtures/**'],
})) {
	const copy = join(target, file);
	mkdirSync(dirname(copy), { recursive: true });
	copyFileSync(join(root, file), copy);
}
