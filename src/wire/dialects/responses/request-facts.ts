import type { InputContent, Surcharges } from '../../../core/cost-factors.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

export const surcharges: Surcharges = { service_tier: new Set(['auto', 'default', 'flex']) };

/** Types of parts that contain only text. Any other counts as an attachment. */
const textParts: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text', 'refusal', 'summary_text', 'reasoning_text']);

/** Tools that the client runs, and OpenAI defines. */
const definedTypes: ReadonlySet<unknown> = new Set([
	'apply_patch',
	'shell',
	'local_shell',
	'computer',
	'computer_use_preview',
	'tool_search',
	'programmatic_tool_calling',
]);

interface Found {
	attachments: number;
	attachedBytes: number;
	tools: number;
	definedTools: number;
	serverTools: number;
}

export function responsesInputContent({ input, tools, text }: JsonObject): InputContent {
	const found: Found = { attachments: 0, attachedBytes: 0, tools: 0, definedTools: 0, serverTools: 0 };
	countTools(tools, found);
	if (Array.isArray(input)) for (const item of input as readonly unknown[]) if (isJsonObject(item)) countItem(item, found);
	const { attachments, attachedBytes, definedTools, serverTools } = found;
	const format = isJsonObject(text) ? text.format : undefined;
	const hasSchema = isJsonObject(format) && format.type !== 'text';
	return { attachments, attachedBytes, hasTools: found.tools > 0, hasSchema, definedTools, serverTools };
}

function countItem(item: JsonObject, found: Found): void {
	countParts(item.content, found);
	countParts(item.output, found);
	countTools(item.tools, found);
	if (isJsonObject(item.output) && item.output.type === 'computer_screenshot') countParts([item.output], found);
	// A generated image is input of the next turn.
	if (item.type === 'image_generation_call') addAttachment(item.result, found);
}

function countParts(parts: unknown, found: Found): void {
	if (!Array.isArray(parts)) return;
	for (const part of parts as readonly unknown[]) {
		if (!isJsonObject(part) || textParts.has(part.type)) continue;
		addAttachment(
			[part.image_url, part.file_data, part.file_url].find((data) => typeof data === 'string'),
			found,
		);
	}
}

/** @param data URL or base64, which are ASCII. */
function addAttachment(data: unknown, found: Found): void {
	found.attachments++;
	if (typeof data === 'string') found.attachedBytes += data.length;
}

/** Counts tools in the request, in its items, and in groups of tools. */
function countTools(tools: unknown, found: Found): void {
	if (!Array.isArray(tools)) return;
	for (const tool of tools as readonly unknown[]) {
		found.tools++;
		if (!isJsonObject(tool)) continue;
		const { type } = tool;
		if (type === 'namespace') countTools(tool.tools, found);
		else if (type === 'shell' && isJsonObject(tool.environment) && tool.environment.type !== 'local') found.serverTools++;
		else if (definedTypes.has(type)) found.definedTools++;
		else if (type !== 'function' && type !== 'custom') found.serverTools++;
	}
}
