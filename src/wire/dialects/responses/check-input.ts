import { Rejection } from '../../../core/rejection.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { storedItem } from './request-edits.ts';
import { isBareId, isReference } from './stored-items.ts';
import { isKnownItemType } from './texts.ts';

/** Longer conversations exceed the context of every model. */
const maxItems = 20_000;

/** Calls that fail at OpenAI without an output. */
const answeredCalls: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);
/** Outputs that fail at OpenAI without a call. */
const pairedOutputs: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);

/**
 * Checks the conversation of a request. Unknown types of parts and unknown members pass, because the provider's own error says more.
 * @param takesReferences true if items may stand for stored ones.
 * @param isContinued true if the input continues a stored conversation, whose items it may need.
 * @throws `Rejection` `field_missing`, `field_invalid` with the JSON path in `param`.
 */
export function checkInput(input: unknown, takesReferences: boolean, isContinued = false): void {
	if (isContinued && (input === undefined || input === null || input === '' || (Array.isArray(input) && input.length === 0))) return;
	if (input === undefined) throw missingOr(input, 'input', 'must be a string or an array');
	if (typeof input === 'string' && input !== '') return;
	if (!Array.isArray(input) || input.length === 0) throw invalid('input', 'must be a non-empty string or a non-empty array');
	const items: readonly unknown[] = input;
	if (items.length > maxItems) throw invalid('input', `has ${items.length} items: send at most ${maxItems}`);
	let hasCalls = false;
	for (const [index, item] of items.entries()) {
		// Owners are looked up by the ids of items, so each must be valid.
		if (!takesReferences && isPlainMessage(item)) continue;
		hasCalls ||= isJsonObject(item) && item.call_id !== undefined;
		checkItem(item, `input[${index}]`, takesReferences);
	}
	const objects = hasCalls && !isContinued ? items.filter(isJsonObject) : [];
	if (!objects.some(isReference)) checkCalls(objects);
}

function isPlainMessage(item: unknown): boolean {
	if (!isJsonObject(item) || typeof item.content !== 'string' || typeof item.role !== 'string') return false;
	return item.type === undefined || item.type === 'message';
}

function checkItem(item: unknown, path: string, takesReferences: boolean): void {
	if (!isJsonObject(item)) throw invalid(path, 'must be an object');
	const { type, id, content } = item;
	// An id of another type could be one that the provider understands, but no owner has.
	if (takesReferences && id !== undefined && id !== null && typeof id !== 'string') throw invalid(`${path}.id`, 'must be a string');
	if (isReference(item)) return checkReference(item, path, takesReferences);
	if (!takesReferences && isBareId(item)) throw storedItem(path);
	if (type === undefined || type === null) return checkMessage(item, path);
	if (typeof type !== 'string') throw invalid(`${path}.type`, 'must be a string');
	if (type === 'message') return checkMessage(item, path);
	// Servers of others mark their own types with a prefix.
	if (!isKnownItemType(type) && !type.includes(':')) {
		throw invalid(`${path}.type`, `has the unknown value \`${type.slice(0, 64)}\`: use a type of OpenAI’s Responses API`);
	}
	if (answeredCalls.has(type) || pairedOutputs.has(type)) requireString(item, 'call_id', path);
	if (type === 'function_call') for (const name of ['name', 'arguments']) requireString(item, name, path);
	if (type === 'custom_tool_call') for (const name of ['name', 'input']) requireString(item, name, path);
	if (pairedOutputs.has(type)) checkContent(item.output, `${path}.output`);
	if (content !== undefined && content !== null) checkContent(content, `${path}.content`);
	if (item.tools !== undefined && !Array.isArray(item.tools)) throw invalid(`${path}.tools`, 'must be an array');
	if (isJsonObject(item.output)) checkData(item.output, `${path}.output`);
}

function checkReference(item: JsonObject, path: string, takesReferences: boolean): void {
	if (!takesReferences) throw storedItem(path);
	requireString(item, 'id', path);
}

function checkMessage(item: JsonObject, path: string): void {
	requireString(item, 'role', path);
	checkContent(item.content, `${path}.content`);
}

function checkContent(content: unknown, path: string): void {
	if (typeof content === 'string') return;
	if (!Array.isArray(content)) throw missingOr(content, path, 'must be a string or an array');
	for (const [index, part] of (content as readonly unknown[]).entries()) {
		const partPath = `${path}[${index}]`;
		if (!isJsonObject(part)) throw invalid(partPath, 'must be an object');
		requireString(part, 'type', partPath);
		checkData(part, partPath);
	}
}

/** Checks the data of a part. */
function checkData(part: JsonObject, path: string): void {
	for (const name of ['image_url', 'file_data']) {
		const data = part[name];
		if (typeof data !== 'string') continue;
		const isUrl = /^\s*data:/i.test(data.slice(0, 64));
		if (isUrl ? isDataUrl(data) : name === 'image_url' || isBase64(data)) continue;
		throw invalid(`${path}.${name}`, 'must be a data URL with valid base64, such as `data:image/png;base64,...`');
	}
}

const maxHeadLength = 256;

/** Data that is not in base64 passes. */
function isDataUrl(url: string): boolean {
	const comma = url.slice(0, maxHeadLength).indexOf(',');
	if (comma === -1) return false;
	return !/;\s*base64\s*$/i.test(url.slice(0, comma)) || isBase64(url.slice(comma + 1));
}

/** Padding is optional, but must fit. */
function isBase64(data: string): boolean {
	// One expression for all of it would backtrack through megabytes.
	const found = data.search(/[^\w+/-]/);
	const length = found === -1 ? data.length : found;
	const [, padding] = /^(={0,2})\s*$/.exec(data.slice(length)) ?? [];
	if (length === 0 || padding === undefined) return false;
	return padding === '' ? length % 4 !== 1 : (length + padding.length) % 4 === 0;
}

/** Checks that calls and outputs form pairs. Calls before a compaction are in its encrypted content. */
function checkCalls(items: readonly JsonObject[]): void {
	const calls = new Set<unknown>();
	const outputs = new Set<unknown>();
	let isCompacted = false;
	for (const [index, { type, call_id }] of items.entries()) {
		if (type === 'compaction') isCompacted = true;
		// Some servers send empty ids.
		if (typeof type !== 'string' || typeof call_id !== 'string' || call_id === '') continue;
		if (type.endsWith('_output')) outputs.add(call_id);
		else if (type.endsWith('_call')) {
			if (calls.has(call_id) && answeredCalls.has(type)) {
				throw invalid(`input[${index}].call_id`, 'is the id of an earlier call: give each call its own');
			}
			calls.add(call_id);
		}
	}
	for (const [index, { type, call_id, async: isAsync }] of items.entries()) {
		if (call_id === '') continue;
		if (answeredCalls.has(type) && isAsync !== true && !outputs.has(call_id)) {
			throw invalid(`input[${index}].call_id`, 'belongs to a call without an output: add an item with its output');
		}
		if (pairedOutputs.has(type) && !isCompacted && !calls.has(call_id)) {
			throw invalid(`input[${index}].call_id`, 'belongs to an output without a call: add the call before it');
		}
	}
}

function requireString(parent: JsonObject, name: string, path: string): void {
	if (typeof parent[name] !== 'string') throw missingOr(parent[name], `${path}.${name}`, 'must be a string');
}

function missingOr(value: unknown, path: string, problem: string): Rejection {
	if (value !== undefined) return invalid(path, problem);
	return new Rejection('field_missing', { param: path, message: `\`${path}\` is missing: it ${problem}` });
}

function invalid(path: string, problem: string): Rejection {
	return new Rejection('field_invalid', { param: path, message: `\`${path}\` ${problem}` });
}
