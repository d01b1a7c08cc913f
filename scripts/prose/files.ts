import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export const pages = ['docs/**/*.md', '*.md', 'deploy/**/*.md'];
export const sources = [
	'{src,simulator,content-filter,test,scripts,bench}/**/*.{ts,cjs,js,sql,lua}',
	'*.ts',
	'bin/*.cjs',
	'*.yaml',
	'deploy/**/*.{yaml,conf,cfg}',
];

/** Files of the repository that match, sorted, without third-party data. */
export function listFiles(patterns: readonly string[]): string[] {
	return globSync([...patterns], {
		cwd: root,
		exclude: ['**/node_modules/**', '**/fixtures/**', '**/golden/**', 'test/suites/**'],
	}).toSorted();
}

export function read(file: string): string {
	return readFileSync(join(root, file), 'utf8');
}
