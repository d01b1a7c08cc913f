import type { Capability, CustomTool, Tool, ToolChoice } from '../../conversation/conversation.ts';
import { cacheMarkOf } from '../../conversation/extensions.ts';
import { isTrue, type JsonView, objectIn, rejectField, requireObject, requireTextOf } from '../../conversation/json-view.ts';

/** The deprecated pair `functions` and `function_call`: its client expects the old shape of response too. */
export function usesFunctions(request: JsonView): boolean {
	return request.member('tools').items().length === 0 && request.member('functions').items().length > 0;
}

/** @throws `Rejection` `field_invalid`. */
export function readTools(request: JsonView, takes: ReadonlySet<Capability>): readonly Tool[] {
	if (usesFunctions(request)) {
		const functions = request.member('functions').items();
		return functions.map((definition) => functionTool(definition, definition));
	}
	const tools = request.member('tools');
	if (tools.isGiven && tools.kind !== 'array') rejectField(tools.path, 'must be an array');
	return tools.items().map((tool) => {
		const type = requireObject(tool).member('type');
		if (type.text() === 'function') return functionTool(tool.member('function'), tool);
		const cure = 'must be `function`: this model supports no other type';
		const custom = type.text() === 'custom' && takes.has('customTools') ? { custom: customTool(tool.member('custom')) } : {};
		return { kind: 'vendor', at: type, cure, ...custom };
	});
}

/** @param tool the object that carries vendor-specific fields. */
function functionTool(definition: JsonView, tool: JsonView): Tool {
	const name = definition.textOf('name');
	if (name === undefined || name === '') return rejectField(`${definition.path}.name`, 'must be a non-empty string');
	const schema = definition.member('parameters');
	if (schema.isGiven && schema.kind !== 'object') rejectField(schema.path, 'must be a JSON schema as an object');
	return {
		kind: 'function',
		at: definition,
		name,
		description: definition.textOf('description'),
		parameters: objectIn(schema),
		isStrict: isTrue(definition.member('strict')),
		cacheMark: cacheMarkOf(tool),
	};
}

function customTool(definition: JsonView): CustomTool {
	const grammar = objectIn(definition.member('format').member('grammar'));
	return { name: requireTextOf(definition, 'name'), description: definition.textOf('description'), grammar };
}

/** @param tools those of the request. @throws `Rejection` `field_invalid`. */
export function readToolChoice(request: JsonView, tools: readonly Tool[]): ToolChoice {
	const isLegacy = usesFunctions(request);
	const choice = isLegacy ? legacyChoice(request.member('function_call')) : readChoice(request.member('tool_choice'));
	const defined = tools.flatMap((tool) => (tool.kind === 'function' ? tool.name : (tool.custom?.name ?? [])));
	const { mode, named, names } = choice;
	const allowed = names === undefined ? defined : defined.filter((name) => names.has(name));
	const known: ReadonlySet<unknown> | undefined = names && new Set(defined);
	const namesUnknown = [...(names ?? [])].some((name) => known?.has(name) !== true);
	if (allowed.length === 0 || namesUnknown) rejectName(isLegacy ? 'function_call' : 'tool_choice');
	return {
		mode,
		named,
		allowed: allowed.length === defined.length ? undefined : allowed,
		// A response of the old shape can contain one call only.
		isSingle: mode !== 'none' && (isLegacy || request.member('parallel_tool_calls').value() === false),
		singleField: 'parallel_tool_calls',
	};
}

interface ReadChoice {
	readonly mode: 'none' | 'auto' | 'required';
	readonly named: string | undefined;
	/** Undefined for all. */
	readonly names: ReadonlySet<unknown> | undefined;
}

function readChoice(choice: JsonView): ReadChoice {
	if (!choice.isGiven) return plainChoice('auto');
	const word = choice.text();
	if (word === 'auto' || word === 'none' || word === 'required') return plainChoice(word);
	const type = choice.textOf('type');
	if (type === 'function' || type === 'custom') return namedChoice(choice.member(type).member('name'), choice);
	const allowed = choice.member('allowed_tools');
	if (type === 'allowed_tools' && allowed.kind === 'object') return allowedTools(allowed);
	return rejectField(choice.path, 'must be `none`, `auto`, `required`, a function by name, or `allowed_tools`');
}

function legacyChoice(choice: JsonView): ReadChoice {
	return choice.kind === 'object' ? namedChoice(choice.member('name'), choice) : readChoice(choice);
}

function plainChoice(mode: ReadChoice['mode']): ReadChoice {
	return { mode, named: undefined, names: undefined };
}

function namedChoice(view: JsonView, choice: JsonView): ReadChoice {
	const name = view.text() ?? rejectName(choice.path);
	return { mode: 'required', named: name, names: new Set([name]) };
}

function allowedTools(allowed: JsonView): ReadChoice {
	const mode = allowed.textOf('mode');
	if (mode !== 'auto' && mode !== 'required') return rejectField(`${allowed.path}.mode`, 'must be `auto` or `required`');
	const tools = allowed.member('tools');
	if (tools.kind !== 'array') return rejectField(tools.path, 'must be an array');
	const names = tools.items().map((tool) =>
		tool
			.member(tool.textOf('type') === 'custom' ? 'custom' : 'function')
			.member('name')
			.value(),
	);
	return { mode, named: undefined, names: new Set(names) };
}

function rejectName(path: string): never {
	return rejectField(path, 'must reference tools that the request defines');
}
