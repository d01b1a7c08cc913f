import { accepts, type SchemaNode, schemaTree } from './schema-tree.ts';

/** Returns the published JSON Schema (draft 2020-12): the settings, each of which may also be written with a variable. */
export function jsonSchema(): SchemaNode {
	return {
		...published(schemaTree),
		...{ title: 'Tollgate configuration', description: 'The configuration file of Tollgate, an LLM gateway.' },
	};
}

/** Settings that an editor must not require: the gateway fills them in. Empty sections are optional for the same reason. */
const canBeAbsent = new Set(['kind', 'rpm', 'daily_tokens', 'monthly_budget_usd']);

function published(node: SchemaNode): SchemaNode {
	const { properties, additionalProperties, items, anyOf, required, ...own } = node;
	const demanded = required?.filter((key) => !canBeAbsent.has(key)) ?? [];
	const walked: SchemaNode = {
		...own,
		...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, published(child)])) }),
		...(additionalProperties !== undefined && {
			additionalProperties: typeof additionalProperties === 'object' ? published(additionalProperties) : additionalProperties,
		}),
		...(items && { items: published(items) }),
		...(anyOf && { anyOf: anyOf.map(published) }),
		...(demanded.length > 0 && { required: demanded }),
	};
	return withVariable(walked);
}

const variable: SchemaNode = { type: 'string', pattern: '\\$\\{' };

/** Allows `${VAR}` for a value that is not free text, and no value for an empty section. */
function withVariable(node: SchemaNode): SchemaNode {
	const { description, default: value, 'x-restart': restart, 'x-secret': secret, ...shape } = node;
	const isFreeText = accepts([node], 'string') && node.pattern === undefined && node.enum === undefined && node.const === undefined;
	if (isFreeText || node.anyOf !== undefined || node.type === undefined) return node;
	if (node.type === 'object' || node.type === 'array') return { ...node, type: [node.type, 'null'] };
	return {
		...(description !== undefined && { description }),
		...(value !== undefined && { default: value }),
		...(restart && { 'x-restart': restart }),
		...(secret && { 'x-secret': secret }),
		anyOf: [shape, variable],
	};
}
