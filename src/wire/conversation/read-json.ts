import { parseExactly } from '../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** @returns undefined for a text that is not JSON. */
export function readJson(text: string): unknown {
	try {
		return parseExactly(text);
	} catch {
		return undefined;
	}
}

/** @returns undefined for a text that is not a JSON object. */
export function readObject(text: string): JsonObject | undefined {
	const value = readJson(text);
	return isJsonObject(value) ? value : undefined;
}

/** Parses the arguments of a tool call. @returns undefined for a text that is not a JSON object. */
export function parseArguments(text: string): JsonObject | undefined {
	return text.trim() === '' ? {} : readObject(text);
}

/** Returns the input of a custom tool, whose function has one text as argument; otherwise the arguments as they are. */
export function customInput(text: string): string {
	const input = parseArguments(text)?.input;
	return typeof input === 'string' ? input : text;
}

/** Reads a number, or its digits as some servers send them. @returns NaN for anything else, without type coercion. */
export function numberOf(reported: unknown): number {
	return typeof reported === 'number' || typeof reported === 'string' ? Number(reported) : Number.NaN;
}

/** Returns `error` of an error's body, or the body if it has no such object. */
export function errorObjectOf(body: JsonObject | undefined): JsonObject {
	if (body === undefined) return {};
	return isJsonObject(body.error) ? body.error : body;
}

/** Returns the message of `{"error": {...}}`, or of the variants that proxies and compatible servers send; empty without a message. */
export function errorMessageOf(body: JsonObject | undefined): string {
	const { message, detail } = errorObjectOf(body);
	const text = [message, detail, body?.error, body?.message].find((one) => typeof one === 'string' && one !== '');
	return typeof text === 'string' ? text : '';
}
