import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import { cacheMark } from './cache-mark.ts';
import { closedSchema } from './closed-schema.ts';
import type { Conversation } from './conversation.ts';

export interface TranslatedTools {
	/** To be spread into the request. */
	readonly members: JsonObject;
	/** The model may not answer without a call. */
	readonly isForced: boolean;
}

const noTools: TranslatedTools = { members: {}, isForced: false };

/** @throws Refusal `field_invalid`. */
export function translateTools(request: JsonObject, conversation: Conversation): TranslatedTools {
	const isLegacy = speaksOfFunctions(request);
	const tools = isLegacy ? legacyTools(request.functions) : toolsOf(request.tools);
	if (tools.length === 0) return toolsOfHistory(conversation);
	const wanted = isLegacy ? legacyChoice(request.function_call) : request.tool_choice;
	const { choice, names } = toolChoice(wanted ?? 'auto', isLegacy ? 'function_call' : 'tool_choice');
	const kept = names === undefined ? tools : tools.filter((tool) => names.has(tool.name));
	const known = new Set(tools.map((tool) => tool.name));
	if (kept.length === 0 || [...(names ?? [])].some((name) => !known.has(name))) {
		refuseField(isLegacy ? 'function_call' : 'tool_choice', 'must name tools that the request defines');
	}
	const offered = choice.type === 'tool' ? tools : kept;
	// An old answer has room for one call.
	const isSingle = isLegacy || request.parallel_tool_calls === false;
	const isPlain = choice.type === 'auto' && !isSingle;
	return {
		members: {
			tools: offered,
			...(!isPlain && { tool_choice: isSingle && choice.type !== 'none' ? { ...choice, disable_parallel_tool_use: true } : choice }),
		},
		isForced: choice.type === 'any' || choice.type === 'tool',
	};
}

/** The deprecated pair `functions` and `function_call`: its caller expects the old shape of answer too. */
export function speaksOfFunctions({ tools, functions }: JsonObject): boolean {
	const hasTools = Array.isArray(tools) && tools.length > 0;
	return !hasTools && Array.isArray(functions) && functions.length > 0;
}

/** A history of calls without a definition is refused; those made up for it must not be called. */
function toolsOfHistory(conversation: Conversation): TranslatedTools {
	const names = conversation.calledTools;
	if (names.length === 0) return noTools;
	const tools = names.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
	return { members: { tools, tool_choice: { type: 'none' } }, isForced: false };
}

function toolsOf(tools: unknown): readonly JsonObject[] {
	if (tools === undefined || tools === null) return [];
	if (!Array.isArray(tools)) return refuseField('tools', 'must be an array');
	return tools.map((tool: unknown, index) => {
		const path = `tools[${index}]`;
		if (!isJsonObject(tool)) return refuseField(path, 'must be an object');
		if (tool.type !== 'function') refuseField(`${path}.type`, 'must be `function`: this model takes no others');
		return { ...toolOf(tool.function, `${path}.function`), ...cacheMark(tool) };
	});
}

function legacyTools(functions: unknown): readonly JsonObject[] {
	return Array.isArray(functions) ? functions.map((one: unknown, index) => toolOf(one, `functions[${index}]`)) : [];
}

function toolOf(definition: unknown, path: string): JsonObject {
	const { name, description, parameters, strict } = isJsonObject(definition) ? definition : {};
	if (typeof name !== 'string' || name === '') return refuseField(`${path}.name`, 'must be a non-empty string');
	if (parameters !== undefined && parameters !== null && !isJsonObject(parameters)) {
		return refuseField(`${path}.parameters`, 'must be a JSON schema as an object');
	}
	const schema = objectSchema(isJsonObject(parameters) ? parameters : { type: 'object', properties: {} });
	return {
		name,
		...(typeof description === 'string' && { description }),
		input_schema: strict === true ? closedSchema(schema) : schema,
		...(strict === true && { strict }),
	};
}

/** The provider demands that the root says what it is. */
function objectSchema(schema: JsonObject): JsonObject {
	return schema.type === 'object' ? schema : { ...schema, type: 'object' };
}

interface ToolChoice {
	readonly choice: JsonObject;
	/** The tools that may be called; undefined: all. */
	readonly names: ReadonlySet<unknown> | undefined;
}

function toolChoice(wanted: unknown, path: string): ToolChoice {
	if (wanted === 'auto' || wanted === 'none') return { choice: { type: wanted }, names: undefined };
	if (wanted === 'required') return { choice: { type: 'any' }, names: undefined };
	if (isJsonObject(wanted) && wanted.type === 'function') {
		const name = isJsonObject(wanted.function) ? wanted.function.name : undefined;
		return { choice: { type: 'tool', name }, names: new Set([name]) };
	}
	if (isJsonObject(wanted) && wanted.type === 'allowed_tools' && isJsonObject(wanted.allowed_tools)) {
		return allowedTools(wanted.allowed_tools, `${path}.allowed_tools`);
	}
	return refuseField(path, 'must be `none`, `auto`, `required`, a function by name, or `allowed_tools`');
}

function allowedTools({ mode, tools }: JsonObject, path: string): ToolChoice {
	if (mode !== 'auto' && mode !== 'required') refuseField(`${path}.mode`, 'must be `auto` or `required`');
	if (!Array.isArray(tools)) return refuseField(`${path}.tools`, 'must be an array');
	const names = tools.map((tool: unknown) => (isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined));
	return { choice: { type: mode === 'required' ? 'any' : 'auto' }, names: new Set(names) };
}

function legacyChoice(choice: unknown): unknown {
	return isJsonObject(choice) ? { type: 'function', function: { name: choice.name } } : choice;
}
