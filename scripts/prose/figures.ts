import { readComments } from './comments.ts';
import { listFiles, pages, read, sources } from './files.ts';
import { guideFolders, isHeadless } from './findings.ts';
import { identifiers } from './glossary.ts';
import { findRetiredIdentifiers } from './identifiers.ts';
import { readMarkdown } from './markdown.ts';
import { sentencesOf } from './passage.ts';

export interface Figures {
	readonly guideSentences: number;
	readonly meanWords: number;
	readonly maxWords: number;
	readonly comments: number;
	/** Number of comments whose first sentence is headless. */
	readonly headlessComments: number;
	/** Number of different names in `src` that contain the word `told`. */
	readonly retiredIdentifiers: number;
}

/** Counts over sentences of paragraphs and lists in guides, and over the comments and identifiers of the sources. */
export function measure(): Figures {
	const lengths = listFiles(pages)
		.filter((file) => guideFolders.test(file))
		.flatMap((file) => readMarkdown(read(file)).passages)
		.filter(({ kind }) => kind === 'paragraph')
		.flatMap(sentencesOf)
		.map(({ wordCount }) => wordCount);
	const comments = listFiles(sources).flatMap((file) => readComments(file, read(file)));
	const headless = comments.filter(([first]) => {
		const [sentence] = first === undefined ? [] : sentencesOf(first);
		return first !== undefined && sentence !== undefined && isHeadless(sentence, first.kind);
	});
	const retired = listFiles(['src/**/*.ts'])
		.flatMap((file) => findRetiredIdentifiers(file, read(file), identifiers))
		.filter(({ name }) => /told/i.test(name));
	return {
		guideSentences: lengths.length,
		meanWords: lengths.reduce((sum, one) => sum + one, 0) / Math.max(1, lengths.length),
		maxWords: Math.max(0, ...lengths),
		comments: comments.length,
		headlessComments: headless.length,
		retiredIdentifiers: new Set(retired.map(({ name }) => name)).size,
	};
}
