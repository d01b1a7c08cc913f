/**
 * PostgreSQL keeps every character in a text but U+0000, so that one travels as U+0001 U+0001, and U+0001 itself as
 * U+0001 U+0002: all other texts are stored as they are, and the order of texts stays what it was.
 */

export function toPostgresText(text: string): string {
	return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
}

export function fromPostgresText(text: string): string {
	return text.replaceAll('\u0001\u0001', '\u0000').replaceAll('\u0001\u0002', '\u0001');
}

/** A parameter of a statement, lists included. */
export function toPostgresValue(value: unknown): unknown {
	if (typeof value === 'string') return toPostgresText(value);
	return Array.isArray(value) ? value.map(toPostgresValue) : value;
}
