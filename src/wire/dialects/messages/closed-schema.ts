import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

const schemaMaps = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemas = ['items', 'not', 'if', 'then', 'else', 'contains'];

/**
 * A JSON schema whose objects say that they take no further properties, as the provider demands of schemas that it enforces.
 * What a schema says of it already stays, and so does everything else.
 */
export function closedSchema(schema: unknown): unknown {
	if (!isJsonObject(schema)) return schema;
	const closed: Record<string, unknown> = { ...schema };
	for (const name of schemaMaps) {
		const map = schema[name];
		if (isJsonObject(map)) closed[name] = Object.fromEntries(Object.entries(map).map(([key, value]) => [key, closedSchema(value)]));
	}
	for (const name of schemaLists) {
		const list = schema[name];
		if (Array.isArray(list)) closed[name] = list.map(closedSchema);
	}
	for (const name of schemas) {
		const inner = schema[name];
		if (isJsonObject(inner)) closed[name] = closedSchema(inner);
	}
	if (isObjectSchema(schema) && schema.additionalProperties === undefined) closed.additionalProperties = false;
	return closed;
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
	if (type === undefined) return isJsonObject(properties);
	return type === 'object' || (Array.isArray(type) && type.includes('object'));
}
