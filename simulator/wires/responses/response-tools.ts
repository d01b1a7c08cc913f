/** Reads and repeats the tools of a Responses request, which can be in the list of tools, in namespaces and in input items. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import type { OfferedTool, ToolOrigin } from '../../plan/prompt.ts';

const searchTools = new Set(['web_search', 'web_search_preview', 'web_search_2025_08_26', 'web_search_preview_2025_03_11']);

/** Lists the definitions of `tools`, of `additional_tools` items and of the results of tool searches. */
export function toolDefinitions(body: JsonObject): readonly unknown[] {
	const items = Array.isArray(body['input']) ? body['input'].map(objectOf) : [];
	const added = items.filter(({ type }) => type === 'additional_tools' || type === 'tool_search_output');
	return [...listOf(body['tools']), ...added.flatMap(({ tools }) => listOf(tools))];
}

/** Lists what the model can call. A definition that a tool search has loaded replaces the deferred one. */
export function offeredTools(body: JsonObject): OfferedTool[] {
	const offered = new Map<string, OfferedTool>();
	for (const tool of listOf(body['tools']).flatMap((definition) => readTool(definition, {}, false))) add(offered, tool);
	for (const tool of toolDefinitions({ input: body['input'] }).flatMap((definition) => readTool(definition, {}, true))) add(offered, tool);
	return [...offered.values()];
}

function add(offered: Map<string, OfferedTool>, tool: OfferedTool): void {
	offered.set(`${tool.origin?.namespace ?? ''} ${tool.name}`, tool);
}

function readTool(definition: unknown, origin: ToolOrigin, isLoaded: boolean): OfferedTool[] {
	const tool = objectOf(definition);
	const type = textOf(tool['type']);
	const name = textOf(tool['name']);
	const place: ToolOrigin = tool['defer_loading'] === true && !isLoaded ? { ...origin, isDeferred: true } : origin;
	const withOrigin = Object.keys(place).length === 0 ? {} : { origin: place };
	switch (type) {
		case 'function':
			return [{ name, schema: objectOf(tool['parameters']), isFreeText: false, ...withOrigin }];
		case 'custom':
			return [{ name, schema: {}, isFreeText: true, ...withOrigin }];
		case 'namespace':
			return listOf(tool['tools']).flatMap((inner) => readTool(inner, { ...origin, namespace: name }, isLoaded));
		case 'tool_search':
			if (tool['execution'] !== 'client') return [];
			return [{ name: type, schema: objectOf(tool['parameters']), isFreeText: false, origin: { kind: 'search' } }];
		default:
			return searchTools.has(type) ? [{ name: 'web_search', schema: {}, isFreeText: false, origin: { kind: 'hosted' } }] : [];
	}
}

export function isHostedSearch(type: string): boolean {
	return searchTools.has(type);
}

/** Repeats the tools as the vendor does: with defaults, and functions in strict form unless the request says otherwise. */
export function echoTools(tools: unknown): JsonObject[] {
	return listOf(tools).map((tool) => echoTool(objectOf(tool)));
}

function echoTool(tool: JsonObject): JsonObject {
	const { type, name, description, defer_loading: deferred, ...rest } = tool;
	const start = { type, ...(isGiven(deferred) && { defer_loading: deferred }), description: description ?? null };
	switch (type) {
		case 'function': {
			const { parameters, strict, ...others } = rest;
			const strictSchema = strict === false ? undefined : strictForm(parameters ?? { type: 'object', properties: {} });
			return { ...start, name, parameters: strictSchema ?? parameters ?? null, ...others, strict: strictSchema !== undefined };
		}
		case 'custom':
			return { type, name, description: description ?? null, format: rest['format'] ?? { type: 'text' } };
		case 'namespace':
			return { type, name, description: description ?? null, tools: echoTools(rest['tools']) };
		case 'tool_search':
			return { type, description: description ?? null, ...rest, parameters: rest['parameters'] ?? null };
		default:
			if (!searchTools.has(textOf(type))) return tool;
			return {
				type,
				filters: rest['filters'] ?? null,
				search_context_size: rest['search_context_size'] ?? 'medium',
				user_location: rest['user_location'] ?? { type: 'approximate', city: null, country: 'US', region: null, timezone: null },
			};
	}
}

/** Closes all objects of a schema and requires all their properties; undefined for a schema that has no strict form. */
function strictForm(schema: unknown): JsonObject | undefined {
	if (!isObject(schema)) return undefined;
	const closed: Record<string, unknown> = { ...schema };
	if (schema['type'] === 'object' || isObject(schema['properties'])) {
		if (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false) return undefined;
		const properties = Object.entries(objectOf(schema['properties'])).map(([name, property]) => [name, strictForm(property)] as const);
		if (properties.some(([, property]) => property === undefined)) return undefined;
		if (isObject(schema['properties'])) closed['properties'] = Object.fromEntries(properties);
		const required = listOf(schema['required']);
		const missing = properties.map(([name]) => name).filter((name) => !required.includes(name));
		if ('required' in schema || missing.length > 0) closed['required'] = [...required, ...missing];
		closed['additionalProperties'] = false;
	}
	if (isObject(schema['items'])) {
		const items = strictForm(schema['items']);
		if (items === undefined) return undefined;
		closed['items'] = items;
	}
	const anyOf = listOf(schema['anyOf']).map(strictForm);
	const definitions = Object.entries(objectOf(schema['$defs'])).map(([name, definition]) => [name, strictForm(definition)] as const);
	if (anyOf.includes(undefined) || definitions.some(([, definition]) => definition === undefined)) return undefined;
	if (anyOf.length > 0) closed['anyOf'] = anyOf;
	if (definitions.length > 0) closed['$defs'] = Object.fromEntries(definitions);
	return closed;
}
