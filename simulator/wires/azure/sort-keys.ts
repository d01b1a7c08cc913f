import { isObject } from '../../json-value.ts';

/** The same JSON with each object's keys in alphabetical order, as Azure writes them. */
export function sortKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sortKeys);
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.keys(value)
			.toSorted()
			.map((key) => [key, sortKeys(value[key])]),
	);
}
