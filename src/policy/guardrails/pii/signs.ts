/** What is part of a word or number, and what only stands between. */

const letter = /[\p{L}\p{N}\p{M}]/u;
const underscore = 0x5f;

export function isAlphanumeric(code: number): boolean {
	return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
}

/** What `\w` is. */
export function isNameCode(code: number): boolean {
	return isAlphanumeric(code) || code === underscore;
}

/** White space, punctuation, pictures. */
export function isSignAt(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	if (code < 0x80) return !isAlphanumeric(code);
	return (code >= 0xd800 && code <= 0xdfff) || !letter.test(text.charAt(at));
}

/** Whether a name, or a number in it, goes on to the left of `start`. One `_` or two that begin a word are the emphasis of Markdown. */
export function isGluedBefore(text: string, start: number): boolean {
	let at = start - 1;
	while (start - at < 3 && text.charCodeAt(at) === underscore) at--;
	return isNameCode(text.charCodeAt(at));
}

/** As before, to the right of `end`. */
export function isGluedAfter(text: string, end: number): boolean {
	let at = end;
	while (at - end < 2 && text.charCodeAt(at) === underscore) at++;
	return isNameCode(text.charCodeAt(at));
}
