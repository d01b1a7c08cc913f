/** Of a member of an answer: as it is, or as JSON where it is more than a word. */
export function plainText(value: unknown): string {
	if (typeof value === 'string') return value;
	return typeof value === 'object' || value === undefined ? JSON.stringify(value ?? null) : `${value as number | boolean}`;
}
