import { isJsonObject, type JsonObject } from '../json/parse-body.ts';

/** @param data of one event. @returns undefined for what is no JSON object. */
export function readEvent(data: string): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(data);
		return isJsonObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
