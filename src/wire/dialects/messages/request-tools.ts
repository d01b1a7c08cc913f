import type { Tool, ToolChoice } from '../../conversation/conversation.ts';
import { cacheMarkOf } from '../../conversation/extensions.ts';
import { isTrue, type JsonView, objectIn, rejectField, requireObject, requireTextOf } from '../../conversation/json-view.ts';

/** Rejects tools that the vendor runs itself or trained its own models for: they exist only there. @throws `Rejection` `field_invalid`. */
export function readTools(tools: JsonView): readonly Tool[] {
	return tools.items().map((tool) => {
		const type = requireObject(tool).member('type');
		if (!type.isGiven || type.text() === 'custom') return functionTool(tool);
		const cure = 'is a vendor-specific tool: define tools with `name` and `input_schema` instead';
		return { kind: 'vendor', at: type, cure };
	});
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
