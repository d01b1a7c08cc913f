import type { CacheWrites, InputContent, Surcharges } from '../../../core/cost-factors.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { attachedTo, contentsOf, countTools, type PartRules } from '../../usage/request-facts.ts';

export const surcharges: Surcharges = {
	service_tier: new Set(['auto', 'default', 'standard', 'standard_only', 'flex']),
	speed: new Set(['standard']),
	inference_geo: new Set(['global']),
};

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

/**
 * Reads the bytes, because any part, tool or member may contain a mark. A text that only mentions the field counts as a mark, which keeps
 * the upper bound valid.
 */
export function markedCacheWrites(bytes: Buffer): CacheWrites {
	const hasEscapes = hasEscapedLetters(bytes);
	if (!hasEscapes && !bytes.includes('cache_control')) return 'none';
	return hasEscapes || bytes.includes('"1h"') ? 'hour' : 'short';
}

const escape = Buffer.from('\\u00');
/** Letters of `cache_control` and `1h`, each as the last two digits of its JSON escape. */
const escapedLetters: ReadonlySet<string> = new Set(Array.from(Buffer.from('cache_control1h'), (byte) => byte.toString(16)));
/** JSON serializers escape none of these letters: a body with this many escapes is not searched to its end. */
const maxEscapes = 10_000;

/** True if escapes may spell the field's name or value, which a byte search would miss. */
function hasEscapedLetters(bytes: Buffer): boolean {
	let at = bytes.indexOf(escape);
	for (let seen = 0; at !== -1; seen++) {
		const digits = at + escape.length;
		if (seen === maxEscapes || escapedLetters.has(bytes.toString('latin1', digits, digits + 2).toLowerCase())) return true;
		at = bytes.indexOf(escape, digits);
	}
	return false;
}
