import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** `error` of an error's body, or the body where it has no such object. */
export function toldErrorOf(body: JsonObject | undefined): JsonObject {
	if (body === undefined) return {};
	return isJsonObject(body.error) ? body.error : body;
}

/** The message of `{"error": {...}}`, and of what servers in front of a vendor, or like it, have made of it; empty for none. */
export function toldMessageOf(body: JsonObject | undefined): string {
	const { message, detail } = toldErrorOf(body);
	const told = [message, detail, body?.error, body?.message].find((text) => typeof text === 'string' && text !== '');
	return typeof told === 'string' ? told : '';
}
