import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';

export interface ChatTool {
	readonly name: string;
	readonly description: string | undefined;
	/** A JSON schema; undefined: it takes no arguments. */
	readonly parameters: JsonObject | undefined;
	readonly isStrict: boolean;
	/** As the caller wrote it. */
	readonly source: JsonObject;
}

/** The tools of a request, and how they may be called. */
export interface ChatTools {
	/** All that the caller defined. */
	readonly defined: readonly ChatTool[];
	/** Those that may be called. */
	readonly allowed: readonly ChatTool[];
	readonly choice: 'none' | 'auto' | 'required';
	/** The only tool that may be called, and must be. */
	readonly named: string | undefined;
	/** One call at most. */
	readonly isSingle: boolean;
}

/** @returns undefined for a request without tools. @throws Refusal `field_invalid`. */
export function readTools(request: JsonObject): ChatTools | undefined {
	const isLegacy = speaksOfFunctions(request);
	const defined = isLegacy ? legacyTools(request.functions) : toolsOf(request.tools);
	if (defined.length === 0) return undefined;
	const path = isLegacy ? 'function_call' : 'tool_choice';
	const wanted = isLegacy ? legacyChoice(request.function_call) : request.tool_choice;
	const { choice, named, names } = readChoice(wanted ?? 'auto', path);
	const allowed = names === undefined ? defined : defined.filter((tool) => names.has(tool.name));
	const known = new Set<unknown>(defined.map((tool) => tool.name));
	if (allowed.length === 0 || [...(names ?? [])].some((name) => !known.has(name))) {
		refuseName(path);
	}
	// An old answer has room for one call.
	return { defined, allowed, choice, named, isSingle: isLegacy || request.parallel_tool_calls === false };
}

/** The deprecated pair `functions` and `function_call`: its caller expects the old shape of answer too. */
export function speaksOfFunctions({ tools, functions }: JsonObject): boolean {
	const hasTools = Array.isArray(tools) && tools.length > 0;
	return !hasTools && Array.isArray(functions) && functions.length > 0;
}

function toolsOf(tools: unknown): readonly ChatTool[] {
	if (tools === undefined || tools === null) return [];
	if (!Array.isArray(tools)) return refuseField('tools', 'must be an array');
	return tools.map((tool: unknown, index) => {
		const path = `tools[${index}]`;
		if (!isJsonObject(tool)) return refuseField(path, 'must be an object');
		if (tool.type !== 'function') refuseField(`${path}.type`, 'must be `function`: this model takes no others');
		return toolOf(tool.function, tool, `${path}.function`);
	});
}

function legacyTools(functions: unknown): readonly ChatTool[] {
	if (!Array.isArray(functions)) return [];
	return functions.map((one: unknown, index) => toolOf(one, isJsonObject(one) ? one : {}, `functions[${index}]`));
}

function toolOf(definition: unknown, source: JsonObject, path: string): ChatTool {
	const { name, description, parameters, strict } = isJsonObject(definition) ? definition : {};
	if (typeof name !== 'string' || name === '') return refuseField(`${path}.name`, 'must be a non-empty string');
	if (parameters !== undefined && parameters !== null && !isJsonObject(parameters)) {
		return refuseField(`${path}.parameters`, 'must be a JSON schema as an object');
	}
	return {
		name,
		description: typeof description === 'string' ? description : undefined,
		parameters: isJsonObject(parameters) ? parameters : undefined,
		isStrict: strict === true,
		source,
	};
}

interface ReadChoice {
	readonly choice: ChatTools['choice'];
	readonly named?: string;
	/** Undefined: all. */
	readonly names?: ReadonlySet<unknown>;
}

function readChoice(wanted: unknown, path: string): ReadChoice {
	if (wanted === 'auto' || wanted === 'none' || wanted === 'required') return { choice: wanted };
	if (isJsonObject(wanted) && wanted.type === 'function') {
		const name = isJsonObject(wanted.function) ? wanted.function.name : undefined;
		return typeof name === 'string' ? { choice: 'required', named: name, names: new Set([name]) } : refuseName(path);
	}
	if (isJsonObject(wanted) && wanted.type === 'allowed_tools' && isJsonObject(wanted.allowed_tools)) {
		return allowedTools(wanted.allowed_tools, `${path}.allowed_tools`);
	}
	return refuseField(path, 'must be `none`, `auto`, `required`, a function by name, or `allowed_tools`');
}

function refuseName(path: string): never {
	return refuseField(path, 'must name tools that the request defines');
}

function allowedTools({ mode, tools }: JsonObject, path: string): ReadChoice {
	if (mode !== 'auto' && mode !== 'required') return refuseField(`${path}.mode`, 'must be `auto` or `required`');
	if (!Array.isArray(tools)) return refuseField(`${path}.tools`, 'must be an array');
	const names = tools.map((tool: unknown) => (isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined));
	return { choice: mode, names: new Set(names) };
}

function legacyChoice(choice: unknown): unknown {
	return isJsonObject(choice) ? { type: 'function', function: { name: choice.name } } : choice;
}
