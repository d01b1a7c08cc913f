/** Fields of a messages request that a translation may send, at any depth. Other fields are a leak. */
import { isJsonObject, type JsonObject } from '../../src/wire/json/parse-body.ts';

type Shape = readonly string[];

const requestFields: Shape =
	'model max_tokens messages system stop_sequences stream temperature top_p tools tool_choice thinking output_config metadata service_tier'.split(
		' ',
	);

const blockFields: Readonly<Record<string, Shape>> = {
	text: ['text', 'cache_control'],
	image: ['source', 'cache_control'],
	document: ['source', 'title', 'cache_control'],
	thinking: ['thinking', 'signature'],
	redacted_thinking: ['data'],
	tool_use: ['id', 'name', 'input'],
	tool_result: ['tool_use_id', 'content'],
};

const typedFields: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
	source: { base64: ['media_type', 'data'], url: ['url'], text: ['media_type', 'data'] },
	cache_control: { ephemeral: ['ttl'] },
	tool_choice: {
		auto: ['disable_parallel_tool_use'],
		any: ['disable_parallel_tool_use'],
		tool: ['name', 'disable_parallel_tool_use'],
		none: [],
	},
	thinking: { adaptive: ['display'], enabled: ['budget_tokens'], disabled: [] },
	format: { json_schema: ['schema'] },
};

/** @returns paths of unknown fields. */
export function unknownWireFields(body: JsonObject): string[] {
	const messages = listOf(body.messages).flatMap((message, index) => {
		const path = `messages[${index}]`;
		return [
			...extra(message, ['role', 'content'], path),
			...blocks(isJsonObject(message) ? message.content : undefined, `${path}.content`),
		];
	});
	const tools = listOf(body.tools).flatMap((tool, index) => [
		...extra(tool, ['name', 'description', 'input_schema', 'strict', 'cache_control'], `tools[${index}]`),
		...typed(tool, 'cache_control', `tools[${index}]`),
	]);
	const output = body.output_config;
	return [
		...extra(body, requestFields, ''),
		...messages,
		...tools,
		...blocks(body.system, 'system'),
		...typed(body, 'tool_choice', ''),
		...typed(body, 'thinking', ''),
		...(output === undefined ? [] : [...extra(output, ['effort', 'format'], 'output_config'), ...typed(output, 'format', 'output_config')]),
		...(body.metadata === undefined ? [] : extra(body.metadata, ['user_id'], 'metadata')),
	];
}

function blocks(content: unknown, path: string): string[] {
	return listOf(content).flatMap((block, index) => {
		const at = `${path}[${index}]`;
		const fields = isJsonObject(block) ? blockFields[String(block.type)] : undefined;
		if (fields === undefined || !isJsonObject(block)) return [at];
		return [
			...extra(block, ['type', ...fields], at),
			...typed(block, 'source', at),
			...typed(block, 'cache_control', at),
			...(Array.isArray(block.content) ? blocks(block.content, `${at}.content`) : []),
		];
	});
}

/** Member whose own `type` determines its other members. */
function typed(parent: unknown, name: string, path: string): string[] {
	const value = isJsonObject(parent) ? parent[name] : undefined;
	if (value === undefined) return [];
	const fields = isJsonObject(value) ? typedFields[name]?.[String(value.type)] : undefined;
	return fields === undefined ? [`${path}.${name}`] : extra(value, ['type', ...fields], `${path}.${name}`);
}

function extra(value: unknown, known: Shape, path: string): string[] {
	if (!isJsonObject(value)) return [path];
	// Undefined members are not serialized.
	const names = Object.keys(value).filter((name) => value[name] !== undefined);
	return names.flatMap((name) => (known.includes(name) ? [] : [`${path}.${name}`]));
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
