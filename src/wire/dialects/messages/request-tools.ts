import type { Tool, ToolChoice } from '../../conversation/conversation.ts';
import { cacheMarkOf } from '../../conversation/extensions.ts';
import { isTrue, type JsonView, objectIn, rejectField, requireObject, requireTextOf } from '../../conversation/json-view.ts';

/**
 * Returns the tools offered at the end of the conversation: those of `tools`, as system messages changed them. Rejects tools that the
 * vendor runs itself or trained its own models for: they exist only there. @throws `Rejection` `field_invalid`.
 */
export function readTools(request: JsonView): readonly Tool[] {
	const declared = request.member('tools').items().map(readTool);
	const changes = toolChanges(request.member('messages'));
	if (changes.length === 0) return declared;
	const added = new Map<string, Tool>();
	const removed = new Set<string>();
	for (const { name, definition } of changes) {
		if (definition === 'none') {
			removed.add(name);
			continue;
		}
		removed.delete(name);
		if (definition !== 'earlier') added.set(name, definition);
	}
	const isOffered = (tool: Tool): boolean => tool.kind !== 'function' || !removed.has(tool.name);
	return [...declared.filter((tool) => tool.kind !== 'function' || !added.has(tool.name)), ...added.values()].filter(isOffered);
}

/** True for a block of a system message that offers a tool or withdraws one. */
export function isToolChange(block: JsonView): boolean {
	const type = block.textOf('type');
	return type === 'tool_addition' || type === 'tool_removal';
}

interface ToolChange {
	readonly name: string;
	/** `none` withdraws the tool; `earlier` offers one that was defined before. */
	readonly definition: Tool | 'earlier' | 'none';
}

/** @throws `Rejection` `field_invalid`. */
function toolChanges(messages: JsonView): readonly ToolChange[] {
	return messages
		.items()
		.filter((message) => message.textOf('role') === 'system')
		.flatMap((message) => message.member('content').items().filter(isToolChange).map(toolChange));
}

/** @throws `Rejection` `field_invalid`. */
function toolChange(block: JsonView): ToolChange {
	const tool = requireObject(block.member('tool'));
	const type = tool.member('type');
	const isRemoval = block.textOf('type') === 'tool_removal';
	if (type.text() === 'tool_reference') return { name: requireTextOf(tool, 'name'), definition: isRemoval ? 'none' : 'earlier' };
	if (type.text() !== 'tool_definition' || isRemoval) {
		return rejectField(
			type.path,
			'must be `tool_reference`, or `tool_definition` for an addition: the model’s provider has no MCP servers',
		);
	}
	const definition = requireObject(tool.member('definition'));
	return { name: requireTextOf(definition, 'name'), definition: readTool(definition) };
}

function readTool(tool: JsonView): Tool {
	const type = requireObject(tool).member('type');
	if (!type.isGiven || type.text() === 'custom') return functionTool(tool);
	const cure = 'is a vendor-specific tool: define tools with `name` and `input_schema` instead';
	return { kind: 'vendor', at: type, cure };
}

function functionTool(tool: JsonView): Tool {
	const strict = tool.member('strict');
	return {
		kind: 'function',
		at: tool,
		name: requireTextOf(tool, 'name'),
		description: tool.textOf('description'),
		parameters: objectIn(requireObject(tool.member('input_schema'))),
		isStrict: strict.kind === 'boolean' ? isTrue(strict) : undefined,
		cacheMark: cacheMarkOf(tool),
	};
}

/** @throws `Rejection` `field_invalid`. */
export function readToolChoice(choice: JsonView): ToolChoice {
	const disable = choice.member('disable_parallel_tool_use');
	const common = { named: undefined, allowed: undefined, isSingle: isTrue(disable), singleField: disable.path };
	if (!choice.isGiven) return { ...common, mode: undefined };
	const type = requireObject(choice).member('type');
	switch (type.text()) {
		case 'auto':
		case 'none':
			return { ...common, mode: type.value() === 'auto' ? 'auto' : 'none' };
		case 'any':
			return { ...common, mode: 'required' };
		case 'tool': {
			const name = requireTextOf(choice, 'name');
			return { ...common, mode: 'required', named: name, allowed: [name] };
		}
		default:
			return rejectField(type.path, 'must be `auto`, `any`, `tool` or `none`');
	}
}
