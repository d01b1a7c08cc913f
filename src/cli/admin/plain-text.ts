/** Returns the text of a response's member: unchanged, or as JSON if it is not a single value. */
export function plainText(value: unknown): string {
	if (typeof value === 'string') return value;
	return typeof value === 'object' || value === undefined ? JSON.stringify(value ?? null) : `${value as number | boolean}`;
}
