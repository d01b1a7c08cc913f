import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import { type JsonView, viewOf } from '../../conversation/json-view.ts';
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
export function flatName({ name, namespace }: Pick<OfferedTool, 'name' | 'namespace'>): string {
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
	if (kind === 'tool_search') return tool.textOf('execution') === 'client' ? { kind, name: toolSearchName } : undefined;
	const name = tool.textOf('name');
	if ((kind !== 'function' && kind !== 'custom') || name === undefined || name === '') return undefined;
	return namespace === undefined ? { kind, name } : { kind, name, namespace };
}
