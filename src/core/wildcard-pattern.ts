/**
 * Returns whether the whole text matches the pattern, in which `*` stands for any characters, also none. Case-sensitive, and linear in the
 * length of the text.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
	const [first = '', ...rest] = pattern.split('*');
	const last = rest.pop();
	if (last === undefined) return pattern === text;
	if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
	const end = text.length - last.length;
	let at = first.length;
	for (const piece of rest) {
		const found = text.indexOf(piece, at);
		if (found === -1 || found + piece.length > end) return false;
		at = found + piece.length;
	}
	return true;
}
