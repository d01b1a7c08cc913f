import type { JsonObject } from '../../json/parse-body.ts';

/** Members that contain the content of an item, by types whose content OpenAI otherwise reads from its store. */
const contentMembers: Readonly<Record<string, readonly string[]>> = {
	reasoning: ['encrypted_content', 'content'],
	image_generation_call: ['result'],
};

/** Returns true for an item that names a stored one, and nothing else. */
export function isReference({ type, role, id }: JsonObject): boolean {
	return type === 'item_reference' || ((type === undefined || type === null) && typeof role !== 'string' && typeof id === 'string');
}

/** Returns true for a reference, and for an item whose content is only at OpenAI. */
export function standsForStored(item: JsonObject): boolean {
	if (isReference(item)) return true;
	const { type } = item;
	const members = typeof type === 'string' && Object.hasOwn(contentMembers, type) ? contentMembers[type] : undefined;
	return members?.every((name) => isEmpty(item[name])) === true;
}

/** Returns true for an item of which only the id is left. Some servers other than OpenAI need only the summary of reasoning. */
export function isBareId(item: JsonObject): boolean {
	return typeof item.id === 'string' && standsForStored(item) && isEmpty(item.summary);
}

function isEmpty(value: unknown): boolean {
	return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
