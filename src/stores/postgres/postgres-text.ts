/**
 * Escapes a text for PostgreSQL, which stores every character except U+0000. U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001
 * U+0002. All other texts are stored unchanged, and the sort order is preserved.
 */

export function toPostgresText(text: string): string {
	return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
}

export function fromPostgresText(text: string): string {
	return text.replaceAll('\u0001\u0001', '\u0000').replaceAll('\u0001\u0002', '\u0001');
}

/** Escapes a parameter of a statement, including lists. */
export function toPostgresValue(value: unknown): unknown {
	if (typeof value === 'string') return toPostgresText(value);
	return Array.isArray(value) ? value.map(toPostgresValue) : value;
}
