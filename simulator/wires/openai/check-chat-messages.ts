import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from '../../json-value.ts';
import { articled, reject } from './reject.ts';

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];
const userParts = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file'];

/** Checks roles and contents, and that tool calls and tool messages match. */
export function checkChatMessages(messages: unknown): void {
	if (!Array.isArray(messages)) {
		reject(`Invalid type for 'messages': expected an array of objects, but got ${articled(messages)} instead.`, {
			param: 'messages',
			code: 'invalid_type',
		});
	}
	const list = listOf(messages);
	if (list.length === 0) {
		reject("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.", {
			param: 'messages',
			code: 'empty_array',
		});
	}
	for (const [index, message] of list.entries()) {
		if (!isObject(message)) {
			reject(`Invalid type for 'messages[${index}]': expected an object, but got ${articled(message)} instead.`, {
				param: `messages[${index}]`,
				code: 'invalid_type',
			});
		} else {
			checkMessage(message, index);
		}
	}
	checkToolPairs(list.map(objectOf));
}

function checkMessage(message: JsonObject, index: number): void {
	const { role, content } = message;
	if (!roles.includes(textOf(role))) {
		reject(`Invalid value: '${String(role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`, {
			param: `messages[${index}].role`,
			code: 'invalid_value',
		});
	}
	if (role === 'tool' && typeof message['tool_call_id'] !== 'string') {
		reject(`Missing required parameter: 'messages[${index}].tool_call_id'.`, {
			param: `messages[${index}].tool_call_id`,
			code: 'missing_required_parameter',
		});
	}
	checkCallShapes(message, index);
	const canBeEmpty =
		role === 'assistant' &&
		(isGiven(message['tool_calls']) || isGiven(message['function_call']) || isGiven(message['refusal']) || isGiven(message['audio']));
	if (!isGiven(content)) {
		if (!canBeEmpty) reject(`Invalid value for 'content': expected a string, got null.`, { param: `messages.[${index}].content` });
		return;
	}
	if (typeof content === 'string') return;
	if (!Array.isArray(content)) {
		reject(
			`Invalid type for 'messages[${index}].content': expected one of a string or array of objects, but got ${articled(content)} instead.`,
			{
				param: `messages[${index}].content`,
				code: 'invalid_type',
			},
		);
	}
	for (const [part, value] of listOf(content).entries()) checkPart(objectOf(value), textOf(role), `messages[${index}].content[${part}]`);
}

function checkPart(part: JsonObject, role: string, path: string): void {
	const type = textOf(part['type']);
	const allowed = role === 'user' ? userParts : role === 'assistant' ? ['text', 'refusal'] : ['text'];
	if (!allowed.includes(type)) {
		const listed = allowed.map((name) => `'${name}'`).join(', ');
		reject(`Invalid value: '${type}'. Supported values are: ${listed}.`, { param: `${path}.type`, code: 'invalid_value' });
	}
	if (type === 'text' && typeof part['text'] !== 'string') {
		reject(`Missing required parameter: '${path}.text'.`, { param: `${path}.text`, code: 'missing_required_parameter' });
	}
	if ('cache_control' in part) {
		reject(`Unknown parameter: '${path}.cache_control'.`, { param: `${path}.cache_control`, code: 'unknown_parameter' });
	}
	if (type === 'image_url') checkImage(textOf(objectOf(part['image_url'])['url']), `${path}.image_url.url`);
}

function checkImage(url: string, param: string): void {
	if (/^data:image\/(?:png|jpe?g|gif|webp);base64,/i.test(url) || /^https?:\/\/[^\s]+$/.test(url)) return;
	if (url.startsWith('data:')) {
		reject(
			"You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
			{
				code: 'invalid_image_format',
			},
		);
	}
	reject(`Invalid '${param}'. Expected a valid URL, but got a value with an invalid format.`, { param, code: 'invalid_value' });
}

function checkCallShapes(message: JsonObject, index: number): void {
	for (const [at, call] of listOf(message['tool_calls']).entries()) {
		const { function: called, type } = objectOf(call);
		if (type !== 'custom' && typeof objectOf(called)['arguments'] !== 'string') {
			const param = `messages[${index}].tool_calls[${at}].function.arguments`;
			reject(`Invalid type for '${param}': expected a string, but got ${articled(objectOf(called)['arguments'] ?? null)} instead.`, {
				param,
				code: 'invalid_type',
			});
		}
	}
}

function checkToolPairs(messages: readonly JsonObject[]): void {
	let open: { ids: Set<string>; index: number } | undefined;
	const requireToolResults = (): void => {
		if (open === undefined || open.ids.size === 0) return;
		reject(
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
				`The following tool_call_ids did not have response messages: ${[...open.ids].join(', ')}`,
			{ param: `messages.[${open.index}].role` },
		);
	};
	for (const [index, message] of messages.entries()) {
		if (message['role'] === 'tool') {
			if (open === undefined || !open.ids.delete(textOf(message['tool_call_id']))) {
				reject("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", {
					param: `messages.[${index}].role`,
				});
			}
			continue;
		}
		requireToolResults();
		const ids = listOf(message['tool_calls']).map((call) => textOf(objectOf(call)['id']));
		open = ids.length === 0 ? undefined : { ids: new Set(ids), index };
	}
	requireToolResults();
}
