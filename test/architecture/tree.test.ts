import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const sources = globSync('{src,simulator,content-filter,test,bench,scripts,bin}/**/*.{ts,cjs}', {
	cwd: root,
	exclude: ['**/node_modules/**'],
});
const product = sources.filter((path) => /^(src|simulator|content-filter)\//.test(path) && !path.endsWith('.test.ts'));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('no file or folder has a name that says nothing', () => {
	const vague = /(^|[/-])(utils?|helpers?|common|misc|managers?|services?)([/.-]|$)/;
	expect(product.length).toBeGreaterThan(20);
	expect(sources.filter((path) => vague.test(path))).toEqual([]);
});

test('nothing silences a checker', () => {
	const silencer = /(eslint|oxlint)-disable|biome-ignore|@ts-(ignore|nocheck|expect)/;
	const isPlanting = (path: string): boolean => /^(lint|tree)\.test\.ts$/.test(basename(path));
	expect(sources.filter((path) => !isPlanting(path) && silencer.test(read(path)))).toEqual([]);
});
