import { isObject, type JsonObject } from '../../json-value.ts';

/** Objects whose keys the client defines, not the API; they stay unchanged. */
const callersOwn = new Set([
	'args',
	'response',
	'properties',
	'parametersJsonSchema',
	'responseJsonSchema',
	'responseSchema',
	'parameters',
	'labels',
]);

/** Converts keys to camel case, because the API accepts `generation_config` for `generationConfig` everywhere. */
export function camelCaseKeys(value: JsonObject): JsonObject {
	const renamed: Record<string, unknown> = {};
	for (const [key, inner] of Object.entries(value)) {
		const name = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
		renamed[name] = callersOwn.has(name) ? inner : camelCaseWithin(inner);
	}
	return renamed;
}

function camelCaseWithin(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(camelCaseWithin);
	return isObject(value) ? camelCaseKeys(value) : value;
}
