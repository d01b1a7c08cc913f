import MarkdownIt from 'markdown-it';
import type { Passage } from './passage.ts';

type Token = ReturnType<MarkdownIt['parse']>[number];

export interface Heading {
	readonly level: number;
	readonly text: string;
	readonly line: number;
	/** Fragment of the heading's address, as GitHub makes it. */
	readonly slug: string;
}

export interface Link {
	readonly href: string;
	readonly line: number;
}

export interface MarkdownFile {
	readonly passages: readonly Passage[];
	readonly headings: readonly Heading[];
	readonly links: readonly Link[];
	/** Lines of paragraphs and lists: no headings, tables or code blocks. */
	readonly proseLines: readonly number[];
}

/** Every page and comment is read with this parser, and the site is rendered with it. */
export function createMarkdownParser(): MarkdownIt {
	return new MarkdownIt({ html: true });
}

const parser = createMarkdownParser();

export function readMarkdown(text: string): MarkdownFile {
	const passages: Passage[] = [];
	const headings: Heading[] = [];
	const links: Link[] = [];
	const proseLines: number[] = [];
	const makeSlug = createSlugger();
	const open: Token[] = [];
	let line = 1;
	for (const token of parser.parse(text, {})) {
		if (token.nesting === 1) open.push(token);
		if (token.nesting === -1) open.pop();
		if (token.map !== null) line = token.map[0] + 1;
		if (token.type !== 'inline') continue;
		const parent = open.at(-1);
		const kind = kindOf(parent?.type);
		const { passage, found } = readInline(token, kind, line);
		passages.push(passage);
		links.push(...found);
		if (parent !== undefined && kind === 'heading') {
			headings.push({ level: Number(parent.tag.slice(1)), text: token.content, line, slug: makeSlug(plainText(token)) });
		}
		if (kind === 'paragraph') proseLines.push(...passage.lines.map((one) => one.line));
	}
	return { passages, headings, links, proseLines };
}

function kindOf(parentType: string | undefined): Passage['kind'] {
	if (parentType === 'heading_open') return 'heading';
	return parentType === 'td_open' || parentType === 'th_open' ? 'cell' : 'paragraph';
}

function readInline(token: Token, kind: Passage['kind'], firstLine: number): { passage: Passage; found: Link[] } {
	const found: Link[] = [];
	const lines = [{ offset: 0, line: firstLine }];
	let text = '';
	for (const child of token.children ?? []) {
		if (child.type === 'softbreak' || child.type === 'hardbreak') {
			text += ' ';
			lines.push({ offset: text.length, line: firstLine + lines.length });
		} else if (child.type === 'code_inline') {
			text += '`…`';
		} else if (child.type === 'link_open') {
			found.push({ href: child.attrGet('href') ?? '', line: firstLine + lines.length - 1 });
		} else if (child.type === 'text') {
			text += child.content;
		}
	}
	return { passage: { kind, text, lines }, found };
}

/** Text of a block without its markup. */
export function plainText(token: Token): string {
	return (token.children ?? [])
		.map(({ type, content }) => {
			if (type === 'softbreak' || type === 'hardbreak') return ' ';
			return type === 'text' || type === 'code_inline' ? content : '';
		})
		.join('');
}

/** Makes the slugs of one page: a repeated heading gets a number, as on GitHub. */
export function createSlugger(): (heading: string) => string {
	const uses = new Map<string, number>();
	return (heading) => {
		const slug = heading
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
			.replaceAll(' ', '-');
		const count = uses.get(slug) ?? 0;
		uses.set(slug, count + 1);
		return count === 0 ? slug : `${slug}-${count}`;
	};
}
