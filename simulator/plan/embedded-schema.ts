/** Finds JSON schemas that clients write into prompts for models without structured outputs. */
import { isObject, type JsonObject } from '../json-value.ts';

/** Maximum length to search. Longer prompts are documents, and each unclosed brace costs one scan of the rest. */
const maxTextLength = 262_144;
const maxUnclosed = 64;

const requesting = '(?:conform|match|follow|adher|accord|valid|fit|instance|output|respond|reply|answer|return|produce|format)';
const requestsSchema = new RegExp(`${requesting}[^.]{0,120}schema|schema[^.]{0,120}${requesting}`, 'i');

/** Schema for prompts that request JSON without a schema. */
export const anyJson: JsonObject = { type: 'object', properties: { answer: { type: 'string' } } };

/**
 * @param texts system prompts and the last user message.
 * @param isJsonDemanded whether the request itself demands JSON; if not, a text must request JSON that fits the schema.
 * @returns the last schema, because explanations of what a schema is come first.
 */
export function embeddedSchema(texts: readonly string[], isJsonDemanded: boolean): JsonObject | undefined {
	let last: JsonObject | undefined;
	for (const text of texts) {
		if (text.length > maxTextLength || !/"(?:properties|\$ref|items)"/.test(text)) continue;
		if (isJsonDemanded || (/json/i.test(text) && requestsSchema.test(text))) last = objectsIn(text).findLast(isSchema) ?? last;
	}
	return last;
}

function isSchema(value: JsonObject): boolean {
	const { type, properties, items, $ref: ref, $defs: definitions, definitions: olderDefinitions } = value;
	if (isObject(properties)) return (type === undefined || type === 'object') && Object.values(properties).every(isObject);
	return (type === 'array' && isObject(items)) || (typeof ref === 'string' && isObject(definitions ?? olderDefinitions));
}

/** @returns the outermost JSON objects of the text. */
function objectsIn(text: string): readonly JsonObject[] {
	const found: JsonObject[] = [];
	let unclosed = 0;
	for (let start = text.indexOf('{'); start !== -1 && unclosed < maxUnclosed; ) {
		const end = closingBrace(text, start);
		const value = end === -1 ? undefined : parsed(text.slice(start, end + 1));
		if (value === undefined) unclosed++;
		else found.push(value);
		start = text.indexOf('{', value === undefined ? start + 1 : end + 1);
	}
	return found;
}

function closingBrace(text: string, start: number): number {
	let depth = 0;
	let isInString = false;
	for (let at = start; at < text.length; at++) {
		const sign = text.charAt(at);
		if (isInString) {
			if (sign === '\\') at++;
			else if (sign === '"') isInString = false;
		} else if (sign === '"') isInString = true;
		else if (sign === '{') depth++;
		else if (sign === '}' && --depth === 0) return at;
	}
	return -1;
}

function parsed(text: string): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
