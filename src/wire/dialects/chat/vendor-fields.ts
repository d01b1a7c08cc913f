import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { ValuePath } from '../../text-view.ts';
import { claudeName, geminiName, signaturesIn, signaturesOfEach, vendorFieldsInMessages } from '../../vendor-fields.ts';

/** Those that OpenAI serves itself; its open ones are served by others, who tell of reasoning. */
const openaiName = /^(?:ft:)?(?:gpt-(?!oss)|chatgpt-|o\d)/;

export const chatVendorFields = vendorFieldsInMessages(
	({ extra_content, thinking_blocks, reasoning_content, tool_calls }) =>
		extra_content !== undefined ||
		thinking_blocks !== undefined ||
		reasoning_content !== undefined ||
		(Array.isArray(tool_calls) && tool_calls.some((call) => isJsonObject(call) && call.extra_content !== undefined)),
	foreignToChat,
);

function foreignToChat(message: JsonObject, knownAs: string): readonly ValuePath[] {
	const calls: readonly unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
	return [
		...(geminiName.test(knownAs) ? [] : [...signaturesIn(message, []), ...signaturesOfEach(calls, ['tool_calls'])]),
		...(message.thinking_blocks !== undefined && !claudeName.test(knownAs) ? [['thinking_blocks']] : []),
		...(message.reasoning_content !== undefined && openaiName.test(knownAs) ? [['reasoning_content']] : []),
	];
}
