import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { runInNewContext } from 'node:vm';
import type MiniSearch from 'minisearch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/prose/files.ts';
import { findDeadLinks } from '../../scripts/prose/links.ts';
import { buildSite } from '../../scripts/site/build-site.ts';
import { resolveSections } from '../../scripts/site/navigation.ts';

describe('the site', () => {
	const site = mkdtempSync(join(tmpdir(), 'tollgate-site-'));
	afterAll(() => rmSync(site, { recursive: true }));
	beforeAll(() => buildSite(site));

	const read = (file: string): string => readFileSync(join(site, file), 'utf8');
	const html = (): string[] => globSync('**/*.html', { cwd: site });

	test('has a page for each page of `docs`, and an index', () => {
		expect(html()).toContain('index.html');
		expect(html()).toHaveLength(globSync('docs/**/*.md', { cwd: root }).length);
	});

	test('links only to pages and headings that it has', () => {
		const files = new Set(globSync('**/*.*', { cwd: site }));
		const hrefs = html().flatMap((file) =>
			[...read(file).matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href = '']) => ({ file, href: decodeURI(href) })),
		);
		const dead = hrefs.filter(({ file, href }) => {
			if (/^(https?|mailto):/.test(href)) return false;
			const [path = '', fragment = ''] = href.split('#');
			const target = path === '' ? file : posix.join(posix.dirname(file), path);
			return !files.has(target) || (fragment !== '' && !read(target).includes(` id="${fragment}"`));
		});
		expect(hrefs.length).toBeGreaterThan(1000);
		expect(dead).toEqual([]);
	});

	test('loads nothing from elsewhere, and tells the browser not to', () => {
		for (const file of html()) {
			const text = read(file);
			expect(text).toContain(`content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';`);
			const loads = [
				...text.matchAll(/<(?:link|script|img|iframe|source|object|embed|video|audio)\b[^>]*?(?:href|src|srcset|data)="([^"]*)"/g),
			];
			expect(loads.map(([, address]) => address).filter((address) => /^([a-z]+:|\/\/)/i.test(address ?? ''))).toEqual([]);
			expect(text).not.toMatch(/<(style|base|script)>| style="| on[a-z]+="/);
		}
		for (const file of globSync('theme/*.css', { cwd: site })) expect(read(file)).not.toMatch(/url\(|@import/);
		for (const file of ['theme/search.js', 'theme/minisearch.js']) {
			expect(read(file)).not.toMatch(/\b(?:XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|await fetch)\b/);
		}
	});

	test('finds headings and settings', () => {
		const context: { searchSections?: { id: string }[]; MiniSearch?: typeof MiniSearch } = {};
		for (const file of ['theme/minisearch.js', 'theme/search-sections.js']) runInNewContext(read(file), context);
		const { searchSections = [], MiniSearch: Search } = context;
		if (Search === undefined) throw new Error('The search is not loaded.');
		const index = new Search({ fields: ['heading', 'page', 'text'] });
		index.addAll(searchSections);
		expect(searchSections.length).toBeGreaterThan(300);
		const find = (query: string): string[] => index.search(query, { combineWith: 'AND' }).map(({ id }) => String(id));
		expect(find('mutants sample').some((id) => id.startsWith('reference/mutation-measurements.html'))).toBe(true);
		expect(find('enable_budgets').some((id) => id.startsWith('reference/configuration.html'))).toBe(true);
	});
});

test('dead links are found: files, headings and fragments of other files', () => {
	const pages = new Map([
		['README.md', '# Top\n\n[page](docs/a.md) [heading](docs/a.md#one-two) [gone](docs/gone.md)\n[elsewhere](https://example.com/x)'],
		[
			'docs/a.md',
			'# One `two`\n\n[up](../README.md#top) [here](#one-two) [source](../package.json)\n\n* [gone](#three)\n* [no page](../package.json#x)',
		],
	]);
	expect(findDeadLinks(pages)).toEqual([
		{ file: 'README.md', line: 3, href: 'docs/gone.md' },
		{ file: 'docs/a.md', line: 5, href: '#three' },
		{ file: 'docs/a.md', line: 6, href: '../package.json#x' },
	]);
});

describe('the sidebar', () => {
	const sections = [
		{ title: 'A', pages: ['index', 'a/second', 'a/*'] },
		{ title: 'B', pages: ['b/*'] },
	];

	test('lists named pages first, and no empty section', () => {
		expect(resolveSections(sections, ['docs/index.md', 'docs/a/first.md', 'docs/a/second.md'])).toEqual([
			{ title: 'A', files: ['docs/index.md', 'docs/a/second.md', 'docs/a/first.md'] },
		]);
	});

	test('names pages that are nowhere, twice or gone', () => {
		expect(() => resolveSections([...sections, { title: 'C', pages: ['index'] }], ['docs/index.md', 'docs/c.md'])).toThrow(
			'docs/c.md is in no section; docs/index.md is in two sections; docs/a/second.md does not exist',
		);
	});
});
