import { CommandFailure } from '../command-failure.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
	readonly [name: string]: JsonValue;
}

export interface ChangedSettings {
	readonly text: string;
	/** Paths of settings that had another value. */
	readonly replaced: readonly string[];
}

/**
 * Sets the members of `settings` in a JSON text, and keeps all others.
 * @param text undefined if there is no file yet. @throws CommandFailure 1 if the text is not a JSON object of the expected shape.
 */
export function changeJson(text: string | undefined, settings: JsonObject): ChangedSettings {
	const before = parseObject(text);
	const replaced: string[] = [];
	const after = merge(before, settings, '', replaced);
	const indent = /^[ \t]+(?=")/m.exec(text ?? '')?.[0] ?? '  ';
	return { text: `${JSON.stringify(after, null, indent)}\n`, replaced };
}

function parseObject(text: string | undefined): JsonObject {
	if (text === undefined || text.trim() === '') return {};
	let value: JsonValue;
	try {
		value = JSON.parse(text) as JsonValue;
	} catch {
		throw new CommandFailure(1, 'the file is not JSON, or has comments: add the settings by hand, or name another file with --file');
	}
	if (!isObject(value)) throw new CommandFailure(1, 'the file is not a JSON object');
	return value;
}

function merge(before: JsonObject, settings: JsonObject, path: string, replaced: string[]): JsonObject {
	const after: Record<string, JsonValue> = { ...before };
	for (const [name, value] of Object.entries(settings)) {
		const own = Object.hasOwn(before, name) ? before[name] : undefined;
		const here = path === '' ? name : `${path}.${name}`;
		if (own !== undefined && isObject(value)) {
			if (!isObject(own)) throw new CommandFailure(1, `${here} of the file is not an object: change it by hand`);
			after[name] = merge(own, value, here, replaced);
		} else {
			if (own !== undefined && JSON.stringify(own) !== JSON.stringify(value)) replaced.push(here);
			after[name] = value;
		}
	}
	return after;
}

function isObject(value: JsonValue): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
