import { isObject, type JsonObject, listOf, numberOf } from '../json-value.ts';

/** Merges two schemas of the same value, for `allOf` and for a union's option next to other keywords. */
export function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
	const merged = new Map<string, unknown>(Object.entries(one));
	for (const [keyword, value] of Object.entries(other)) {
		merged.set(keyword, merged.has(keyword) ? mergeKeyword(keyword, merged.get(keyword), value) : value);
	}
	return Object.fromEntries(merged);
}

const largerWins = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains']);
const smallerWins = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains']);

function mergeKeyword(keyword: string, one: unknown, other: unknown): unknown {
	if (largerWins.has(keyword)) return numberOf(one) === undefined ? other : Math.max(Number(one), numberOf(other) ?? Number(one));
	if (smallerWins.has(keyword)) return numberOf(one) === undefined ? other : Math.min(Number(one), numberOf(other) ?? Number(one));
	switch (keyword) {
		case 'type':
			return mergeTypes(one, other);
		case 'required':
			return [...new Set([...listOf(one), ...listOf(other)])];
		case 'enum': {
			const wanted = new Set(listOf(other).map((value) => JSON.stringify(value)));
			const both = listOf(one).filter((value) => wanted.has(JSON.stringify(value)));
			return both.length > 0 ? both : other;
		}
		case 'properties':
		case 'patternProperties':
		case '$defs':
		case 'definitions':
			return isObject(one) && isObject(other) ? mergeProperties(one, other) : other;
		case 'additionalProperties':
		case 'items':
			if (one === false || other === false) return false;
			return isObject(one) && isObject(other) ? { allOf: [one, other] } : isObject(other) ? other : one;
		case 'allOf':
			return [...listOf(one), ...listOf(other)];
		default:
			return other;
	}
}

function mergeProperties(one: JsonObject, other: JsonObject): JsonObject {
	const merged = new Map<string, unknown>(Object.entries(one));
	for (const [name, schema] of Object.entries(other)) merged.set(name, merged.has(name) ? { allOf: [merged.get(name), schema] } : schema);
	return Object.fromEntries(merged);
}

function mergeTypes(one: unknown, other: unknown): unknown {
	const wanted = typesOf(other);
	const both = typesOf(one).flatMap((type) => {
		if (wanted.includes(type)) return [type];
		if (type === 'number' && wanted.includes('integer')) return ['integer'];
		return type === 'integer' && wanted.includes('number') ? ['integer'] : [];
	});
	return both.length > 0 ? both : other;
}

export function typesOf(type: unknown): string[] {
	return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string').map((name) => name.toLowerCase());
}
