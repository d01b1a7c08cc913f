/** Distinguishes characters of words and numbers from separators. */

const letter = /[\p{L}\p{N}\p{M}]/u;
const underscore = 0x5f;

export function isAlphanumeric(code: number): boolean {
	return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
}

/** Matches the same characters as `\w`. */
export function isNameCode(code: number): boolean {
	return isAlphanumeric(code) || code === underscore;
}

/** Matches white space, punctuation, pictures. */
export function isSignAt(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	if (code < 0x80) return !isAlphanumeric(code);
	return (code >= 0xd800 && code <= 0xdfff) || !letter.test(text.charAt(at));
}

/**
 * Tells whether a name, or a number in it, continues to the left of `start`. One or two `_` at the start of a word are Markdown emphasis.
 */
export function isGluedBefore(text: string, start: number): boolean {
	let at = start - 1;
	while (start - at < 3 && text.charCodeAt(at) === underscore) at--;
	return isNameCode(text.charCodeAt(at));
}

/** Tells the same to the right of `end`. */
export function isGluedAfter(text: string, end: number): boolean {
	let at = end;
	while (at - end < 2 && text.charCodeAt(at) === underscore) at++;
	return isNameCode(text.charCodeAt(at));
}
