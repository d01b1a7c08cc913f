import { droppedReasoning } from '../../conversation/extensions.ts';
import { encryptedPrefix } from '../../conversation/reasoning-encryption.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { ValuePath } from '../../text-view.ts';
import type { VendorFields } from '../../vendor-fields.ts';

/** Items that a model generates. Consecutive ones are one turn. */
const generated: ReadonlySet<unknown> = new Set(['reasoning', 'function_call', 'custom_tool_call', 'tool_search_call']);

/** Reasoning of other vendors, which the gateway encrypted. OpenAI rejects it, and did not make the other ids of its turn. */
export const responsesVendorFields: VendorFields = {
	canBeIn: ({ input }) => Array.isArray(input) && input.some(isEncryptedByGateway),
	find({ input }) {
		const items: readonly unknown[] = Array.isArray(input) ? input : [];
		const removed: ValuePath[] = [];
		const ids: ValuePath[] = [];
		for (let start = 0; start < items.length; start++) {
			let end = start;
			while (end < items.length && isGenerated(items[end])) end++;
			if (items.slice(start, end).some(isEncryptedByGateway)) {
				for (let index = start; index < end; index++) {
					const item = items[index];
					if (isEncryptedByGateway(item)) removed.push(['input', index]);
					else if (isJsonObject(item) && item.id !== undefined) ids.push(['input', index, 'id']);
				}
			}
			start = end;
		}
		return [...removed, ...ids];
	},
	warning: droppedReasoning,
};

function isEncryptedByGateway(item: unknown): boolean {
	if (!isJsonObject(item) || item.type !== 'reasoning') return false;
	const { encrypted_content } = item;
	return typeof encrypted_content === 'string' && encrypted_content.startsWith(encryptedPrefix);
}

/** True for an item that a model generated. */
export function isGenerated(item: unknown): boolean {
	return isJsonObject(item) && (generated.has(item.type) || isOwnMessage(item));
}

function isOwnMessage({ type, role }: JsonObject): boolean {
	return role === 'assistant' && (type === undefined || type === 'message');
}
