import { createMarkdownParser, createSlugger, plainText } from '../prose/markdown.ts';

/** Heading and the text under it: one result of the search. */
export interface SearchSection {
	/** Address in the site, with the heading's fragment. */
	readonly id: string;
	readonly page: string;
	readonly heading: string;
	readonly text: string;
}

const parser = createMarkdownParser();

/** Sections of a page. Code is searched too, because it contains the names of settings. */
export function searchSectionsOf(address: string, text: string): SearchSection[] {
	const sections: { id: string; heading: string; texts: string[] }[] = [];
	const makeSlug = createSlugger();
	let isHeading = false;
	for (const token of parser.parse(text, {})) {
		if (token.type === 'heading_open') isHeading = true;
		else if (token.type === 'inline' && isHeading) {
			const heading = plainText(token);
			const slug = makeSlug(heading);
			sections.push({ id: sections.length === 0 ? address : `${address}#${slug}`, heading, texts: [] });
			isHeading = false;
		} else if (token.type === 'inline') sections.at(-1)?.texts.push(plainText(token));
		else if (token.type === 'fence') sections.at(-1)?.texts.push(token.content);
	}
	const page = sections[0]?.heading ?? '';
	return sections.map(({ id, heading, texts }) => ({ id, page, heading, text: texts.join(' ').replaceAll(/\s+/g, ' ') }));
}
