import type { FunctionTool, Tool } from './conversation.ts';
import { rejectField } from './reject-field.ts';

/** @throws Refusal `field_invalid` for a tool that only its own vendor knows. */
export function requireFunctions(tools: readonly Tool[]): readonly FunctionTool[] {
	return tools.map((tool) => (tool.kind === 'function' ? tool : rejectField(tool.at.path, tool.cure)));
}
