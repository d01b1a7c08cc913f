/** A web page as the source of text, which OpenAI's formats and Anthropic's have. */
import { isJsonObject } from '../json/parse-body.ts';

/** The range counts the characters of all text of the choice. */
export interface Citation {
	readonly url: string;
	readonly title: string;
	readonly start: number;
	readonly end: number;
}

/** Reads the members of a `url_citation`. Undefined for any other annotation. */
export function citationOf(annotation: unknown): Citation | undefined {
	const { url, title, start_index: start, end_index: end } = isJsonObject(annotation) ? annotation : {};
	if (typeof url !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
	return { url, title: typeof title === 'string' ? title : '', start, end };
}

/** Returns the members of a `url_citation`. @param offset number of characters before the text that contains the range. */
export function citationMembers(
	{ url, title, start, end }: Citation,
	offset = 0,
): {
	readonly url: string;
	readonly title: string;
	readonly start_index: number;
	readonly end_index: number;
} {
	return { url, title, start_index: start - offset, end_index: end - offset };
}

/** Returns the number of characters as OpenAI counts them in ranges of citations: a surrogate pair is one. */
export function characterCount(text: string): number {
	return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}
