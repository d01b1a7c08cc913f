/** Thinking that the provider takes back: what it signed or encrypted itself, as it was. */
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

export function isReplayable(block: unknown): block is JsonObject {
	if (!isJsonObject(block)) return false;
	if (block.type === 'redacted_thinking') return typeof block.data === 'string' && block.data !== '';
	return block.type === 'thinking' && typeof block.thinking === 'string' && typeof block.signature === 'string' && block.signature !== '';
}
