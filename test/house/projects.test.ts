import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { projects } from '../projects.ts';

const root = join(import.meta.dirname, '../..');
const files = globSync('{src,simulator,content-filter,test,bench,scripts}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] });

function namesOfProjects(file: string): string[] {
	const isAmong = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesGlob(file, pattern));
	return projects.filter(({ include, exclude }) => isAmong(include) && !isAmong(exclude)).map(({ name }) => name);
}

test('every test file belongs to exactly one project of the test runner', () => {
	expect(files.length).toBeGreaterThan(300);
	const owned = files.map((file) => ({ file, projects: namesOfProjects(file) }));
	expect(owned.filter((each) => each.projects.length !== 1)).toEqual([]);
});

test('no project is empty, and no pattern of one matches nothing', () => {
	const owners = new Set(files.flatMap(namesOfProjects));
	expect([...owners].toSorted()).toEqual(projects.map(({ name }) => name).toSorted());
	const patterns = projects.flatMap(({ include, exclude }) => [...include, ...exclude]);
	expect(patterns.filter((pattern) => !files.some((file) => matchesGlob(file, pattern)))).toEqual([]);
});

test('tests of minutes are left out of every project but `long`', () => {
	const long = files.filter((file) => file.endsWith('.long.test.ts'));
	expect(new Set(long.flatMap(namesOfProjects))).toEqual(new Set(['long']));
});

test('`npm test` runs the quick projects, and CI and the README run all of them', () => {
	expect(projects.filter(({ runs }) => runs === 'quick').map(({ name }) => name)).toEqual(['unit', 'stores', 'conformance']);
	const commandsOf = (file: string): string[] => [
		...(readFileSync(join(root, file), 'utf8').match(/^(exec )?npm (run )?test\S*$/gm) ?? []),
	];
	expect(commandsOf('.ci/run')).toEqual(['exec npm run test:all']);
	expect(commandsOf('README.md')).toEqual(['npm run test:all']);
});
