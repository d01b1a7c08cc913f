/** One block of prose: a paragraph, list item, table cell, heading, comment paragraph or title of a test, with code spans replaced by `…`. */
export interface Passage {
	readonly kind: 'paragraph' | 'cell' | 'heading' | 'title';
	readonly text: string;
	/** Offsets in `text` at which a line of the file begins, ascending; the first is 0. */
	readonly lines: readonly { readonly offset: number; readonly line: number }[];
}

export interface Sentence {
	readonly text: string;
	readonly line: number;
	readonly wordCount: number;
}

/** Line of the file that holds the character at `offset`. */
export function lineAt(passage: Passage, offset: number): number {
	return passage.lines.findLast((one) => one.offset <= offset)?.line ?? 1;
}

const sentenceEnd = /[.!?]["')\]”’*]*\s+(?=["'(“‘*[]*[A-Z0-9`])/g;
const abbreviation = /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl)\.|\b[A-Z]\.)$/;

export function sentencesOf(passage: Passage): Sentence[] {
	const sentences: Sentence[] = [];
	let start = 0;
	const add = (end: number): void => {
		const text = passage.text.slice(start, end).trim();
		if (text !== '') sentences.push({ text, line: lineAt(passage, start), wordCount: countWords(text) });
		start = end;
	};
	for (const { 0: match, index } of passage.text.matchAll(sentenceEnd)) {
		if (!abbreviation.test(passage.text.slice(start, index + 1))) add(index + match.length);
	}
	add(passage.text.length);
	return sentences;
}

/** A code span is one word. */
export function countWords(text: string): number {
	return text.split(/\s+/).filter((word) => /[\p{L}\p{N}…]/u.test(word)).length;
}
