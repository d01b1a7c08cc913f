import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { listFiles, pages, read, root } from './files.ts';
import { type MarkdownFile, readMarkdown } from './markdown.ts';

export interface DeadLink {
	readonly file: string;
	readonly line: number;
	readonly href: string;
}

export interface LinkTarget {
	/** Path from the root of the repository. */
	readonly path: string;
	readonly fragment: string;
}

/** Resolves the target of a link in a page; undefined for a URL outside the repository. */
export function resolveLink(file: string, href: string): LinkTarget | undefined {
	if (/^[a-z][a-z\d+.-]*:/i.test(href)) return undefined;
	const [path = '', fragment = ''] = decodeURI(href).split('#');
	return { path: path === '' ? file : posix.join(posix.dirname(file), path), fragment };
}

/** Text of every page of the repository, by its path. */
export function readPages(): Map<string, string> {
	return new Map(listFiles(pages).map((file) => [file, read(file)]));
}

/** Links between pages whose file or heading does not exist. */
export function findDeadLinks(texts: ReadonlyMap<string, string>): DeadLink[] {
	const markdown = new Map([...texts].map(([file, text]) => [file, readMarkdown(text)]));
	return [...markdown].flatMap(([file, { links }]) =>
		links.filter(({ href }) => isDead(file, href, markdown)).map(({ href, line }) => ({ file, line, href })),
	);
}

function isDead(file: string, href: string, markdown: ReadonlyMap<string, MarkdownFile>): boolean {
	const target = resolveLink(file, href);
	if (target === undefined) return false;
	const page = markdown.get(target.path);
	if (page === undefined) return target.fragment !== '' || !existsSync(posix.join(root, target.path));
	return target.fragment !== '' && page.headings.every(({ slug }) => slug !== target.fragment);
}
