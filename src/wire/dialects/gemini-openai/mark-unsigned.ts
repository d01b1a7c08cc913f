import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { noSignature, signatureOf, withSignature } from '../../conversation/thought-signature.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { unsignedCalls } from '../gemini/request-contents.ts';

/** Chat messages whose first call of each turn says that it has no signature, where it has none. */
export function markUnsigned(messages: readonly unknown[], warnings: RequestWarnings): readonly unknown[] {
	return messages.map((message) => {
		if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return message;
		const [first, ...others] = message.tool_calls as readonly unknown[];
		if (!isJsonObject(first) || signatureOf(first) !== undefined || signatureOf(message) !== undefined) return message;
		warnings.add('messages', unsignedCalls);
		const marked: JsonObject = { ...first, ...withSignature(noSignature) };
		return { ...message, tool_calls: [marked, ...others] };
	});
}
