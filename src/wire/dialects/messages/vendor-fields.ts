import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { ValuePath } from '../../text-view.ts';
import { claudeName, geminiName, signaturesOfEach, vendorFieldsInMessages } from '../../vendor-fields.ts';

export const messagesVendorFields = vendorFieldsInMessages(
	({ content }) =>
		Array.isArray(content) &&
		content.some((block) => isJsonObject(block) && (block.extra_content !== undefined || block.signature !== undefined)),
	foreignToMessages,
);

/** Thinking that is not signed is not Claude's; other vendors that speak its format may sign nothing. */
function foreignToMessages({ content }: JsonObject, knownAs: string): readonly ValuePath[] {
	if (!Array.isArray(content)) return [];
	const blocks: readonly unknown[] = content;
	const unsigned = claudeName.test(knownAs) ? blocks.flatMap((block, index) => (isUnsigned(block) ? [index] : [])) : [];
	// A message without content is refused as well.
	if (unsigned.length > 0 && unsigned.length === blocks.length) return [[]];
	return [
		...(geminiName.test(knownAs) ? [] : signaturesOfEach(blocks, ['content'])),
		...unsigned.map((index): ValuePath => ['content', index]),
	];
}

function isUnsigned(block: unknown): boolean {
	return isJsonObject(block) && block.type === 'thinking' && block.signature === '';
}
