import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { generatedDocs } from '../../scripts/generated-docs.ts';
import { listFiles, pages, sources } from '../../scripts/prose/files.ts';
import { rejections } from '../../src/core/rejection.ts';
import { upstreamErrors } from '../../src/core/upstream-error.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test.each(generatedDocs)('%s is what `npm run docs` writes', async (path, generate) => {
	expect(read(path)).toBe(await generate());
});

test('the table of decisions lists each record by its title, in order and without gaps', () => {
	const rows = read('docs/decisions/README.md').matchAll(/^\| \[(\d{4})\]\((\1-[\w-]+\.md)\) \| (.+?) \|/gm);
	const listed = [...rows].map(([, number, file, title]) => `${file}: # ${number}: ${title}`);
	const files = globSync('[0-9]*.md', { cwd: join(root, 'docs/decisions') }).toSorted();
	expect(listed).toEqual(files.map((file) => `${file}: ${read(`docs/decisions/${file}`).split('\n', 1)[0]}`));
	expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
});

test('paths that pages and comments name in code spans exist', () => {
	const missing = listFiles([...pages, ...sources]).flatMap((file) => {
		const lines = read(file).split('\n');
		const prose = file.endsWith('.md') ? lines : lines.filter((line) => /^\s*(?:\/?\*|\/\/)/.test(line));
		const paths = prose.flatMap((line) => [
			...line.matchAll(/`((?:bench|bin|content-filter|deploy|docs|scripts|simulator|src|test)\/[\w./-]+)`/g),
		]);
		return paths.filter(([, path = '']) => !path.includes('NAME') && !existsSync(join(root, path))).map(([, path]) => `${file}: ${path}`);
	});
	expect(missing).toEqual([]);
});

describe('the error reference', () => {
	const documented = [...read('docs/reference/errors.md').matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(
		([, code, status]) => `${code} ${status}`,
	);

	test('names the codes of the catalogues, each once, and no other', () => {
		const catalogued = [...Object.entries(rejections), ...Object.entries(upstreamErrors)].map(([code, { status }]) => `${code} ${status}`);
		expect(documented.toSorted()).toEqual(catalogued.toSorted());
		expect(new Set(documented).size).toBeGreaterThan(20);
	});

	test('names no code that nothing raises', () => {
		const product = globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts', 'src/core/{rejection,upstream-error}.ts'] })
			.map(read)
			.join('\n');
		// Searches for quoted codes, because a table or a variable can also select a code.
		const unused = [...Object.keys(rejections), ...Object.keys(upstreamErrors)].filter((code) => !product.includes(`'${code}'`));
		expect(unused).toEqual([]);
	});
});

test('the tests that the page about Claude Code names exist', () => {
	const page = read('docs/reference/claude-code.md');
	const files = new Map(
		[...page.matchAll(/^\* ([A-Z]): `(test\/conformance\/[\w.-]+)`/gm)].map(([, letter = '', path = '']) => [letter, read(path)]),
	);
	const named = [...page.matchAll(/\| ([A-Z]): (.+) \|$/gm)].map(([, letter = '', title = '']) => ({ letter, title }));
	expect(named.length).toBeGreaterThan(20);
	expect(named.filter(({ letter, title }) => files.get(letter)?.includes(title) !== true)).toEqual([]);
});
