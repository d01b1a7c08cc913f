import type { FunctionTool, ToolChoice } from '../../conversation/conversation.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import { isTrue, type JsonView, objectIn, rejectField, requireObject, requireTextOf, viewOf } from '../../conversation/json-view.ts';
import type { RequestWarnings } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';

/** A tool under the name that a provider of another dialect receives. */
export interface OfferedTool {
	readonly kind: 'function' | 'custom' | 'tool_search';
	/** Its own name, without the namespace. */
	readonly name: string;
	readonly namespace?: string;
}

/** Name of the function that stands for a client-side `tool_search`. */
export const toolSearchName = 'tool_search';

/** Returns the tools of a request by their flat names. Of two with one name, the last is returned. */
export function offeredTools(request: JsonObject): ReadonlyMap<string, OfferedTool> {
	return new Map(definitions(viewOf(request)).flatMap(({ offered }) => (offered === undefined ? [] : [[flatName(offered), offered]])));
}

/** Converts the name of a tool in a namespace into one that providers without namespaces accept. */
export function flatName({ name, namespace }: { readonly name: string; readonly namespace?: string | undefined }): string {
	return namespace === undefined ? name : fitName(`${namespace}__${name}`, maxToolNameLength);
}

interface Definition {
	readonly tool: JsonView;
	/** Undefined for a tool that the client's vendor runs, or that has no name. */
	readonly offered: OfferedTool | undefined;
}

/** Returns the tools of `tools`, of their namespaces, and of the items that add tools within the conversation. */
function definitions(request: JsonView): readonly Definition[] {
	const added = request.member('input').items().filter(addsTools);
	return [request, ...added].flatMap((holder) => definitionsIn(holder, undefined));
}

function addsTools(item: JsonView): boolean {
	const type = item.textOf('type');
	return type === 'additional_tools' || type === 'tool_search_output';
}

function definitionsIn(holder: JsonView, namespace: string | undefined): readonly Definition[] {
	const tools = holder.member('tools').items();
	return tools.flatMap((tool) => {
		const isNamespace = namespace === undefined && tool.textOf('type') === 'namespace';
		return isNamespace ? definitionsIn(tool, tool.textOf('name') ?? '') : [{ tool, offered: offeredOf(tool, namespace) }];
	});
}

function offeredOf(tool: JsonView, namespace: string | undefined): OfferedTool | undefined {
	const kind = tool.textOf('type');
	if (kind === 'tool_search') return isClientSearch(tool) ? { kind, name: toolSearchName } : undefined;
	const name = tool.textOf('name');
	if ((kind !== 'function' && kind !== 'custom') || name === undefined || name === '') return undefined;
	return namespace === undefined ? { kind, name } : { kind, name, namespace };
}

/** @param search a tool, its call or its output. */
export function isClientSearch(search: JsonView): boolean {
	return search.textOf('execution') === 'client';
}

/** @param output a `tool_search_output`. */
export function toolNamesIn(output: JsonView): readonly string[] {
	return definitionsIn(output, undefined).flatMap(({ offered }) => (offered === undefined ? [] : flatName(offered)));
}

export interface ReadTools {
	readonly tools: readonly FunctionTool[];
	/** By flat name. */
	readonly offered: ReadonlyMap<string, OfferedTool>;
}

/** Reads all tools as functions; the last definition of a tool is valid. @throws `Rejection` `field_invalid`. */
export function readTools(request: JsonView, warnings: RequestWarnings): ReadTools {
	const { kind, path } = request.member('tools');
	if (kind !== 'array' && kind !== 'absent' && kind !== 'null') rejectField(path, 'must be an array');
	const tools = new Map<string, FunctionTool>();
	const names = new Map<string, OfferedTool>();
	for (const { tool, offered } of definitions(request)) {
		if (offered === undefined) {
			judgeOther(requireObject(tool), warnings);
			continue;
		}
		const name = flatName(offered);
		const earlier = names.get(name);
		if (earlier !== undefined && (earlier.name !== offered.name || earlier.kind !== offered.kind)) {
			rejectField(`${tool.path}.name`, `is ${name} without namespaces, as is another tool: rename one of them`);
		}
		names.set(name, offered);
		tools.set(name, functionTool(tool, offered, name, warnings));
	}
	return { tools: [...tools.values()], offered: names };
}

/** Drops web search, which clients offer always. @throws `Rejection` `field_invalid` for any other tool. */
function judgeOther(tool: JsonView, warnings: RequestWarnings): void {
	const type = tool.textOf('type') ?? '';
	if (type === 'function' || type === 'custom') rejectField(`${tool.path}.name`, 'must be a non-empty string');
	if (!isWebSearch(type)) rejectField(`${tool.path}.type`, 'is a tool of another vendor: send `function`, `custom` or `namespace`');
	warnings.add(`${tool.path}.type`, 'dropped because this model has no built-in web search');
}

function isWebSearch(type: string): boolean {
	return type.startsWith('web_search');
}

/** Free text as the arguments of a function. */
const inputSchema: JsonObject = {
	type: 'object',
	properties: { input: { type: 'string' } },
	required: ['input'],
	additionalProperties: false,
};

function functionTool(tool: JsonView, { kind }: OfferedTool, name: string, warnings: RequestWarnings): FunctionTool {
	const common = { kind: 'function', at: tool, name, description: tool.textOf('description') } as const;
	if (kind === 'custom') {
		const format = tool.member('format');
		if (format.textOf('type') === 'grammar') warnings.add(format.path, 'grammar dropped');
		return { ...common, parameters: inputSchema, isStrict: undefined };
	}
	const [schema, strict] = [tool.member('parameters'), tool.member('strict')];
	if (schema.isGiven && schema.kind !== 'object') rejectField(schema.path, 'must be a JSON schema as an object');
	return { ...common, parameters: objectIn(schema), isStrict: strict.kind === 'boolean' ? isTrue(strict) : undefined };
}

/** @throws `Rejection` `field_invalid`, also for the choice of a dropped tool. */
export function readToolChoice(request: JsonView, { offered }: ReadTools): ToolChoice {
	const choice = request.member('tool_choice');
	const field = 'parallel_tool_calls';
	const common = { named: undefined, allowed: undefined, isSingle: request.member(field).value() === false, singleField: field };
	if (!choice.isGiven) return { ...common, mode: 'auto' };
	const word = choice.text();
	if (word === 'required' && offered.size === 0) rejectField(choice.path, 'must not be `required` without tools of the client');
	if (word === 'auto' || word === 'required') return { ...common, mode: word };
	if (word === 'none') return { ...common, mode: word, isSingle: false };
	if (choice.kind !== 'object') rejectField(choice.path, 'must be `none`, `auto`, `required` or an object');
	const type = choice.textOf('type');
	if (type === 'allowed_tools') {
		const mode = choice.textOf('mode');
		if (mode !== 'auto' && mode !== 'required') return rejectField(`${choice.path}.mode`, 'must be `auto` or `required`');
		const chosen = choice
			.member('tools')
			.items()
			.filter((tool) => !isWebSearch(tool.textOf('type') ?? ''));
		const allowed = new Set(chosen.map((tool) => chosenName(tool, offered)));
		if (allowed.size === 0) rejectField(`${choice.path}.tools`, 'must contain tools of the client');
		return { ...common, mode, allowed: [...allowed] };
	}
	const name = chosenName(choice, offered);
	return { ...common, mode: 'required', named: name, allowed: [name] };
}

/** Finds a tool by its flat name, or by its own. */
function chosenName(choice: JsonView, offered: ReadonlyMap<string, OfferedTool>): string {
	const type = requireObject(choice).textOf('type');
	if (type !== 'function' && type !== 'custom' && type !== 'tool_search') {
		return rejectField(`${choice.path}.type`, 'must be a tool of the client: this model’s provider has no others');
	}
	const name = type === 'tool_search' ? toolSearchName : requireTextOf(choice, 'name');
	const namespace = choice.textOf('namespace');
	if (namespace === undefined && offered.has(name)) return name;
	const isChosen = (tool: OfferedTool): boolean => tool.name === name && (namespace === undefined || tool.namespace === namespace);
	const found = [...offered].find(([, tool]) => isChosen(tool));
	return found?.[0] ?? rejectField(`${choice.path}.name`, 'must be a tool that the request defines');
}
