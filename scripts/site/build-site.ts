import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import Eleventy, { type Page, type UserConfig } from '@11ty/eleventy';
import { read, root } from '../prose/files.ts';
import { findDeadLinks, readPages } from '../prose/links.ts';
import { readMarkdown } from '../prose/markdown.ts';
import { resolveSections } from './navigation.ts';
import { renderPage, type SitePage, type SiteSection } from './render-page.ts';
import { searchSectionsOf } from './search-sections.ts';
import { addressOf, createSiteMarkdown, fileOf } from './site-markdown.ts';

/**
 * Builds the site from `docs/` into a folder, which is emptied first. Returns the number of pages.
 * @throws Error if a link is dead or a page belongs to no section.
 */
export async function buildSite(output: string): Promise<number> {
	const dead = findDeadLinks(readPages()).map(({ file, line, href }) => `${file}:${line} ${href}`);
	if (dead.length > 0) throw new Error(`Dead links:\n${dead.join('\n')}`);
	const resolved = resolveSections();
	const sections: SiteSection[] = resolved.map(({ title, files }) => ({ title, pages: files.map(describePage) }));
	const pages = new Map(sections.flatMap((section) => section.pages).map((page) => [page.address, page]));
	rmSync(output, { recursive: true, force: true });
	// The generator resolves paths from the working directory, which is the root of the repository.
	const generator = new Eleventy('docs', relative(root, output), {
		configPath: null,
		config: (config) => configure(config, sections, pages),
	});
	await generator.write();
	writeTheme(
		output,
		resolved.flatMap(({ files }) => files),
	);
	return pages.size;
}

function configure(config: UserConfig, sections: readonly SiteSection[], pages: ReadonlyMap<string, SitePage>): object {
	config.setQuietMode(true);
	config.setTemplateFormats(['md']);
	config.setLibrary('md', createSiteMarkdown());
	config.addGlobalData('permalink', () => (data: { page: Page }) => addressOf(fileOf(data.page)));
	config.addPassthroughCopy({ 'docs/reference/*.json': 'reference' });
	config.addTransform('page', function (content) {
		const page = pages.get(addressOf(fileOf(this.page)));
		if (page === undefined) throw new Error(`${fileOf(this.page)} is in no section`);
		return renderPage(page, content, sections);
	});
	// Pages are plain Markdown: braces in them are text.
	return { markdownTemplateEngine: false };
}

function describePage(file: string): SitePage {
	const { headings } = readMarkdown(read(file));
	return { address: addressOf(file), title: (headings[0]?.text ?? file).replaceAll('`', ''), headings };
}

function writeTheme(output: string, files: readonly string[]): void {
	const theme = join(output, 'theme');
	mkdirSync(theme, { recursive: true });
	cpSync(join(import.meta.dirname, 'theme'), theme, { recursive: true });
	const search = readFileSync(new URL('../umd/index.js', import.meta.resolve('minisearch')), 'utf8');
	writeFileSync(join(theme, 'minisearch.js'), search.replace(/^\/\/# sourceMappingURL.*$/m, ''));
	const sections = files.flatMap((file) => searchSectionsOf(addressOf(file), read(file)));
	writeFileSync(join(theme, 'search-sections.js'), `globalThis.searchSections = ${JSON.stringify(sections)};\n`);
}
