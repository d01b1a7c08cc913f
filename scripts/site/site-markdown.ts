import type { Page } from '@11ty/eleventy';
import type MarkdownIt from 'markdown-it';
import { resolveLink } from '../prose/links.ts';
import { createMarkdownParser, createSlugger, plainText } from '../prose/markdown.ts';

type Token = ReturnType<MarkdownIt['parse']>[number];

/** Renders pages: headings have their slugs as ids, and links point to pages of the site. */
export function createSiteMarkdown(): MarkdownIt {
	const markdown = createMarkdownParser();
	markdown.core.ruler.push('site', ({ tokens, env }) => {
		const file = fileOf((env as { page: Page }).page);
		const makeSlug = createSlugger();
		for (const [index, token] of tokens.entries()) {
			const next = tokens[index + 1];
			if (token.type === 'heading_open' && next !== undefined) token.attrSet('id', makeSlug(plainText(next)));
			rewriteLinks(file, token.children ?? []);
		}
	});
	return markdown;
}

/** Rewrites links, which do not nest. A file outside the site becomes plain text. */
function rewriteLinks(file: string, tokens: readonly Token[]): void {
	let isOutside = false;
	for (const token of tokens) {
		if (token.type === 'link_close' && isOutside) token.tag = 'span';
		if (token.type !== 'link_open') continue;
		const href = token.attrGet('href') ?? '';
		const target = resolveLink(file, href);
		isOutside = target !== undefined && !target.path.startsWith('docs/');
		if (isOutside && target !== undefined) {
			token.tag = 'span';
			token.attrs = [['title', target.path]];
		} else if (target !== undefined) {
			token.attrSet('href', href.replace(/(?<=^|\/)README\.md(?=#|$)/, 'index.html').replace(/\.md(?=#|$)/, '.html'));
		}
	}
}

/** Path of a page in the repository. */
export function fileOf({ inputPath }: Page): string {
	return inputPath.replace(/^\.\//, '');
}

/** Address of a page in the site, from its path in the repository. */
export function addressOf(file: string): string {
	return file
		.replace(/^docs\//, '')
		.replace(/(?<=^|\/)README\.md$/, 'index.html')
		.replace(/\.md$/, '.html');
}
