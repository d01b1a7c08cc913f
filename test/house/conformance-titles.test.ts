import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../conformance');

/** Titles at the top level of a file. A table's title follows the end of the table. */
const outerTitles = /^(?:(?:describe|it|test)(?:Own)?(?:\.\w+\(.*\))?|\]\))\(\s*['"`]([^'"`]*)/gm;

const namesSection = /^(?:Spec: [A-Z]|contract \d|guarantees (?:\d|A1)|wire formats \d)/;

test('each conformance test is under the section that it tests', () => {
	const titles = globSync('*.test.ts', { cwd: folder })
		.toSorted()
		.flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(outerTitles)].map(([, title = '']) => ({ file, title })));
	expect(new Set(titles.map(({ file }) => file))).toEqual(new Set(globSync('*.test.ts', { cwd: folder })));
	expect(titles.filter(({ title }) => !namesSection.test(title))).toEqual([]);
});
