import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** Not yet in the types: a number that is written as its source says. */
const exactJson = JSON as unknown as {
	rawJSON(source: string): unknown;
	parse(text: string, revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
};

const longNumber = /\d{16}/;

/**
 * The arguments of a tool call as an object. Integers that a double cannot hold keep their digits when it is serialized.
 * @returns undefined for what is no JSON object.
 */
export function parseArguments(text: string): JsonObject | undefined {
	if (text.trim() === '') return {};
	try {
		const value: unknown = longNumber.test(text) ? exactJson.parse(text, keepDigits) : JSON.parse(text);
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
	return Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined ? exactJson.rawJSON(source) : value;
}
