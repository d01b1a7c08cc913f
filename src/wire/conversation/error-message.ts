import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** `error` of an error's body, or the body where it has no such object. */
export function errorObjectOf(body: JsonObject | undefined): JsonObject {
	if (body === undefined) return {};
	return isJsonObject(body.error) ? body.error : body;
}

/** The message of `{"error": {...}}`, and of what servers in front of a vendor, or like it, have made of it; empty for none. */
export function errorMessageOf(body: JsonObject | undefined): string {
	const { message, detail } = errorObjectOf(body);
	const text = [message, detail, body?.error, body?.message].find((one) => typeof one === 'string' && one !== '');
	return typeof text === 'string' ? text : '';
}
