import { posix } from 'node:path';
import type { Heading } from '../prose/markdown.ts';

export interface SitePage {
	readonly address: string;
	readonly title: string;
	readonly headings: readonly Heading[];
}

export interface SiteSection {
	readonly title: string;
	readonly pages: readonly SitePage[];
}

/** Security policy: the browser loads nothing from another origin. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

/** Wraps rendered text into a complete page. All links are relative, so the site works in any folder, and without a server. */
export function renderPage(page: SitePage, content: string, sections: readonly SiteSection[]): string {
	const base = '../'.repeat(page.address.split('/').length - 1) || './';
	const title = page.title === 'Tollgate' ? 'Tollgate' : `${page.title} · Tollgate`;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${base}theme/site.css">
<script src="${base}theme/search.js" data-base="${base}" defer></script>
</head>
<body>
<header>
<a class="name" href="${base}index.html">Tollgate</a>
<div class="search" role="search">
<input type="search" placeholder="Search (press /)" aria-label="Search" autocomplete="off">
<ol hidden></ol>
</div>
</header>
<div class="columns">
<nav class="sidebar" aria-label="Pages">
${sections.map((section) => renderSection(section, page)).join('\n')}
</nav>
<main>
${content}
</main>
<nav class="contents" aria-label="On this page">
${renderContents(page)}
</nav>
</div>
</body>
</html>
`;
}

function renderSection({ title, pages }: SiteSection, current: SitePage): string {
	const links = pages.map((page) => {
		const mark = page.address === current.address ? ' aria-current="page"' : '';
		return `<li><a href="${posix.relative(posix.dirname(current.address), page.address)}"${mark}>${escapeHtml(page.title)}</a></li>`;
	});
	const isOpen = pages.some(({ address }) => address === current.address) || current.address === 'index.html';
	return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${links.join('')}</ul></details>`;
}

function renderContents({ headings }: SitePage): string {
	const shown = headings.filter(({ level }) => level === 2);
	if (shown.length < 2) return '';
	const links = shown.map(({ slug, text }) => `<li><a href="#${slug}">${escapeHtml(text.replaceAll('`', ''))}</a></li>`);
	return `<p>On this page</p><ul>${links.join('')}</ul>`;
}

export function escapeHtml(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
