/** Validates input items by the rules of the Responses API: their types, contents and ids, and that calls and outputs match. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { articled, reject } from '../openai/reject.ts';
import { itemIdPrefixes } from './item-id-prefixes.ts';
import { isOwnContent } from './seal-content.ts';

const partTypes: Readonly<Record<string, readonly string[]>> = {
	user: ['input_text', 'input_image', 'input_file'],
	system: ['input_text', 'input_image', 'input_file'],
	developer: ['input_text', 'input_image', 'input_file'],
	assistant: ['output_text', 'refusal'],
};

/** @param owner see `sealContent`. */
export function checkItems(input: unknown, owner: string): void {
	if (typeof input === 'string') return;
	if (!Array.isArray(input)) {
		reject(`Invalid type for 'input': expected one of a string or array of input items, but got ${articled(input)} instead.`, {
			param: 'input',
			code: 'invalid_type',
		});
	}
	for (const [index, item] of listOf(input).entries()) {
		if (!isObject(item)) {
			reject(`Invalid type for 'input[${index}]': expected an input item, but got ${articled(item)} instead.`, {
				param: `input[${index}]`,
				code: 'invalid_type',
			});
		}
		checkItem(objectOf(item), `input[${index}]`, owner);
	}
	const items = listOf(input).map(objectOf);
	for (const pair of pairs) checkPairs(items, pair);
	checkReasoningOrder(items);
}

export function typeOfItem(item: JsonObject): string {
	return textOf(item['type']) || ('role' in item ? 'message' : isGiven(item['id']) ? 'item_reference' : '');
}

function checkItem(item: JsonObject, path: string, owner: string): void {
	const type = typeOfItem(item);
	const prefix = itemIdPrefixes[type];
	if (prefix === undefined) {
		const supported = Object.keys(itemIdPrefixes).map((name) => `'${name}'`);
		reject(`Invalid value: '${type}'. Supported values are: ${supported.slice(0, -1).join(', ')}, and ${supported.at(-1)}.`, {
			param: path,
			code: 'invalid_value',
		});
	}
	if (isGiven(item['id']) && !textOf(item['id']).startsWith(prefix ?? '')) {
		reject(`Invalid '${path}.id': '${textOf(item['id'])}'. Expected an ID that begins with '${prefix}'.`, {
			param: `${path}.id`,
			code: 'invalid_value',
		});
	}
	switch (type) {
		case 'message':
			checkMessage(item, path);
			return;
		case 'function_call':
			requireTexts(item, path, ['call_id', 'name', 'arguments']);
			return;
		case 'custom_tool_call':
			requireTexts(item, path, ['call_id', 'name', 'input']);
			return;
		case 'function_call_output':
		case 'custom_tool_call_output':
			requireTexts(item, path, ['call_id']);
			checkOutput(item['output'], `${path}.output`);
			return;
		case 'reasoning':
		case 'compaction':
			checkSealed(item, owner);
	}
}

function checkMessage(message: JsonObject, path: string): void {
	const { role, content } = message;
	const allowed = partTypes[textOf(role)];
	if (allowed === undefined) {
		reject(`Invalid value: '${String(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`, {
			param: `${path}.role`,
			code: 'invalid_value',
		});
	}
	if (typeof content === 'string') return;
	if (!Array.isArray(content)) {
		reject(
			`Invalid type for '${path}.content': expected one of an array of objects or string, but got ${articled(content ?? null)} instead.`,
			{
				param: `${path}.content`,
				code: 'invalid_type',
			},
		);
	}
	checkParts(listOf(content), `${path}.content`, allowed ?? []);
}

function checkOutput(output: unknown, path: string): void {
	if (typeof output === 'string') return;
	if (Array.isArray(output)) {
		checkParts(output, path, ['input_text', 'input_image', 'input_file']);
		return;
	}
	if (!isGiven(output)) reject(`Missing required parameter: '${path}'.`, { param: path, code: 'missing_required_parameter' });
	reject(`Invalid type for '${path}': expected one of an array of objects or string, but got ${articled(output)} instead.`, {
		param: path,
		code: 'invalid_type',
	});
}

function checkParts(parts: readonly unknown[], path: string, allowed: readonly string[]): void {
	for (const [index, value] of parts.entries()) {
		const part = objectOf(value);
		const type = textOf(part['type']);
		if (!allowed.includes(type)) {
			const listed = allowed.map((name) => `'${name}'`);
			const supported = listed.length > 2 ? `${listed.slice(0, -1).join(', ')}, and ${listed.at(-1)}` : listed.join(' and ');
			reject(`Invalid value: '${type}'. Supported values are: ${supported}.`, { param: `${path}[${index}]`, code: 'invalid_value' });
		}
		if (type === 'input_text' || type === 'output_text') requireTexts(part, `${path}[${index}]`, ['text']);
		if (type === 'input_image' && !isGiven(part['file_id'])) checkImage(textOf(part['image_url']), `${path}[${index}].image_url`);
	}
}

function checkImage(url: string, param: string): void {
	if (/^data:image\/(?:png|jpe?g|gif|webp);base64,/i.test(url) || /^https?:\/\/[^\s]+$/.test(url)) return;
	reject(`Invalid '${param}'. Expected a valid URL, but got a value with an invalid format.`, { param, code: 'invalid_value' });
}

function requireTexts(object: JsonObject, path: string, names: readonly string[]): void {
	for (const name of names) {
		const value = object[name];
		const param = `${path}.${name}`;
		if (!isGiven(value)) reject(`Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' });
		if (typeof value !== 'string') {
			reject(`Invalid type for '${param}': expected a string, but got ${articled(value)} instead.`, { param, code: 'invalid_type' });
		}
		if (name === 'call_id' && value.length > 64) {
			reject(
				`Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${value.length} instead.`,
				{ param, code: 'string_above_max_length' },
			);
		}
	}
}

function checkSealed({ id, encrypted_content: sealed }: JsonObject, owner: string): void {
	if (!isGiven(sealed) || (typeof sealed === 'string' && isOwnContent(owner, sealed))) return;
	reject(
		`The encrypted content for item ${textOf(id)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
		{ code: 'invalid_encrypted_content' },
	);
}

interface Pair {
	readonly call: string;
	readonly output: string;
	readonly noOutput: (id: string) => string;
	readonly noCall: (id: string) => string;
}

const pairs: readonly Pair[] = [
	{
		call: 'function_call',
		output: 'function_call_output',
		noOutput: (id) => `No tool output found for function call ${id}.`,
		noCall: (id) => `No tool call found for function call output with call_id ${id}.`,
	},
	{
		call: 'custom_tool_call',
		output: 'custom_tool_call_output',
		noOutput: (id) => `No tool output found for custom tool call ${id}.`,
		noCall: (id) => `No tool call found for custom tool call output with call_id ${id}.`,
	},
];

function checkPairs(items: readonly JsonObject[], { call, output, noOutput, noCall }: Pair): void {
	const calls = new Set(items.filter(({ type }) => type === call).map((item) => textOf(item['call_id'])));
	const outputs = new Set(items.filter(({ type }) => type === output).map((item) => textOf(item['call_id'])));
	for (const id of calls) if (!outputs.has(id)) reject(noOutput(id), { param: 'input' });
	for (const id of outputs) if (!calls.has(id)) reject(noCall(id), { param: 'input' });
}

/** Types of items that reasoning leads to. */
const followers = new Set(
	`message reasoning function_call custom_tool_call tool_search_call computer_call local_shell_call shell_call apply_patch_call file_search_call
	web_search_call code_interpreter_call image_generation_call mcp_list_tools mcp_call mcp_approval_request program compaction`.split(/\s+/),
);

function checkReasoningOrder(items: readonly JsonObject[]): void {
	for (const [index, item] of items.entries()) {
		if (item['type'] !== 'reasoning') continue;
		const next = items[index + 1];
		const isFollowed = next !== undefined && followers.has(typeOfItem(next)) && (next['role'] ?? 'assistant') === 'assistant';
		if (isFollowed) continue;
		const message = `Item '${textOf(item['id'])}' of type 'reasoning' was provided without its required following item.`;
		reject(message, { param: 'input' });
	}
}
