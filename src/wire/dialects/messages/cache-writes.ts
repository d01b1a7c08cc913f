import type { CacheWrites } from '../../../core/cost-factors.ts';

/**
 * Read from the bytes, because a mark may stand in any part, tool or member. A text that only mentions the field counts as asking: the
 * bound holds all the same.
 */
export function markedCacheWrites(bytes: Buffer): CacheWrites {
	const hasEscapes = hasEscapedLetters(bytes);
	if (!hasEscapes && !bytes.includes('cache_control')) return 'none';
	return hasEscapes || bytes.includes('"1h"') ? 'hour' : 'short';
}

const escape = Buffer.from('\\u00');
/** The characters of `cache_control` and `1h`, each as the last two digits of its JSON escape. */
const escapedLetters: ReadonlySet<string> = new Set(Array.from(Buffer.from('cache_control1h'), (byte) => byte.toString(16)));
/** Writers of JSON escape none of these letters: a body with so many escapes is not searched to its end. */
const mostEscapes = 10_000;

/** Whether the field's name or its value may be written in escapes, which a search for their bytes would miss. */
function hasEscapedLetters(bytes: Buffer): boolean {
	let at = bytes.indexOf(escape);
	for (let seen = 0; at !== -1; seen++) {
		const digits = at + escape.length;
		if (seen === mostEscapes || escapedLetters.has(bytes.toString('latin1', digits, digits + 2).toLowerCase())) return true;
		at = bytes.indexOf(escape, digits);
	}
	return false;
}
