import type { InputContent } from '../../../core/cost-factors.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { attachedTo, contentsOf, countTools, type PartRules } from '../../usage/input-content.ts';

const rules: PartRules = {
	texts: new Set(['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use']),
	nested: 'tool_result',
	holders: ['source'],
};

export function messagesInputContent(members: JsonObject): InputContent {
	const { messages, system, output_format, output_config } = members;
	const hasSchema = isJsonObject(output_format) || (isJsonObject(output_config) && isJsonObject(output_config.format));
	return { ...attachedTo([...contentsOf(messages), system], rules), hasSchema, ...countTools(members) };
}
