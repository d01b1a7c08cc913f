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
