/** @param lines words with spaces between them, as the lists beside this file keep them. */
export function wordsOf(lines: readonly string[]): ReadonlySet<string> {
	return new Set(lines.flatMap((line) => line.split(' ')));
}
