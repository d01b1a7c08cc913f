import { parseExactly } from '../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** @returns undefined for what is no JSON. */
export function readJson(text: string): unknown {
	try {
		return parseExactly(text);
	} catch {
		return undefined;
	}
}

/** @returns undefined for what is no JSON object. */
export function readObject(text: string): JsonObject | undefined {
	const value = readJson(text);
	return isJsonObject(value) ? value : undefined;
}

/** The arguments of a tool call as an object. @returns undefined for what is no JSON object. */
export function parseArguments(text: string): JsonObject | undefined {
	return text.trim() === '' ? {} : readObject(text);
}

/** A number, or its digits as some servers send them. @returns NaN for anything else, whatever it would become by itself. */
export function numberOf(told: unknown): number {
	return typeof told === 'number' || typeof told === 'string' ? Number(told) : Number.NaN;
}

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
