/** Reads parsed JSON that no schema has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
	return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | undefined {
	return typeof value === 'number' ? value : undefined;
}

/** Tells whether a field is set. APIs treat a field that is null as absent. */
export function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** Returns a JSON type's name as vendors write it in their messages. */
export function typeName(value: unknown): string {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'array';
	if (Number.isInteger(value)) return 'integer';
	return typeof value;
}
