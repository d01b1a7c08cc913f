import { isObject, objectOf } from '../json-value.ts';

/** Returns the path of the first object that allows more properties than it names; undefined when there is none. */
export function openObjectPath(schema: unknown, path: readonly string[]): readonly string[] | undefined {
	if (!isObject(schema)) return undefined;
	if (schema['type'] === 'object' && schema['additionalProperties'] !== false) return path;
	for (const [name, property] of Object.entries(objectOf(schema['properties']))) {
		const found = openObjectPath(property, [...path, 'properties', name]);
		if (found !== undefined) return found;
	}
	return isObject(schema['items']) ? openObjectPath(schema['items'], [...path, 'items']) : undefined;
}
