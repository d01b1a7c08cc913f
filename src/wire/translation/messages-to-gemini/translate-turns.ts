import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type CalledTool, Contents, type ToolResult } from '../gemini/contents.ts';
import { listAt, objectAt, stringAt } from '../messages/fields.ts';
import { describeServerBlock } from '../messages/server-blocks.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import { signatureOf } from '../thought-signature.ts';
import { contentParts, textParts, translateBlock } from './content-parts.ts';

/** `system` and `messages`. @throws Refusal `field_invalid` with the path of what is at fault. */
export function translateConversation({ system, messages }: JsonObject, warnings: RequestWarnings): Contents {
	const contents = new Contents();
	addInstructions(contents, system, 'system');
	for (const [index, message] of listAt(messages).entries()) {
		addMessage(contents, objectAt(message, `messages[${index}]`), `messages[${index}]`, warnings);
	}
	return contents;
}

function addMessage(contents: Contents, { role, content }: JsonObject, path: string, warnings: RequestWarnings): void {
	switch (role) {
		case 'user':
			addUser(contents, content, path, warnings);
			return;
		case 'assistant':
			addAnswer(contents, content, path, warnings);
			return;
		case 'system':
			if (!contents.isFresh) warnings.add('messages', 'later system messages moved to the front');
			addInstructions(contents, content, `${path}.content`);
			return;
		default:
			refuseField(`${path}.role`, 'must be `user`, `assistant` or `system`');
	}
}

function addInstructions(contents: Contents, content: unknown, path: string): void {
	if (content === undefined || content === null) return;
	visitBlocks(content, path, (block, at) => {
		if (block.type !== 'text') refuseField(`${at}.type`, 'must be `text`');
		for (const part of textParts(stringAt(block.text, `${at}.text`))) contents.instructions.push(part);
	});
}

/** Results go to their calls; what the user says besides is a turn after them. */
function addUser(contents: Contents, content: unknown, path: string, warnings: RequestWarnings): void {
	const said: JsonObject[] = [];
	let results = 0;
	visitBlocks(content, `${path}.content`, (block, at) => {
		if (block.type === 'tool_result') {
			contents.addResult(stringAt(block.tool_use_id, `${at}.tool_use_id`), resultOf(block, at, warnings), `${at}.tool_use_id`);
			results++;
		} else {
			for (const part of translateBlock(block, at, warnings)) said.push(part);
		}
	});
	if (said.length > 0) contents.addUser(said);
	else if (results === 0) refuseField(`${path}.content`, 'must hold something else than empty text');
}

function resultOf({ content, is_error }: JsonObject, path: string, warnings: RequestWarnings): ToolResult {
	const parts = content === undefined || content === null ? [] : contentParts(content, `${path}.content`, warnings);
	const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
	return {
		response: is_error === true ? { error: text } : { result: text },
		attachments: parts.filter((part) => part.text === undefined),
	};
}

/** Thinking is dropped: what is not signed by this provider is of no use to it, and must never be taken for text. */
function addAnswer(contents: Contents, content: unknown, path: string, warnings: RequestWarnings): void {
	let text = '';
	const calls: CalledTool[] = [];
	const ids = new Set<string>();
	visitBlocks(content, `${path}.content`, (block, at) => {
		switch (block.type) {
			case 'text':
				text += stringAt(block.text, `${at}.text`);
				break;
			case 'thinking':
			case 'redacted_thinking':
				break;
			case 'tool_use': {
				const id = stringAt(block.id, `${at}.id`);
				if (ids.has(id)) refuseField(`${at}.id`, 'must differ from the ids of the other calls');
				ids.add(id);
				const input = objectAt(block.input, `${at}.input`);
				calls.push({ id, name: stringAt(block.name, `${at}.name`), input, signature: signatureOf(block), path: at });
				break;
			}
			default:
				warnings.add('messages', 'blocks of tools that another vendor ran are sent as text or left out');
				text += describeServerBlock(block);
		}
	});
	if (text.trim() !== '' || calls.length > 0) contents.addModel(textParts(text), calls);
}

/** Calls `visit` with each block; a string counts as a text block. */
function visitBlocks(content: unknown, path: string, visit: (block: JsonObject, path: string) => void): void {
	if (typeof content === 'string') {
		visit({ type: 'text', text: content }, path);
		return;
	}
	if (!Array.isArray(content)) refuseField(path, 'must be a string or an array');
	for (const [index, block] of (content as readonly unknown[]).entries()) {
		if (!isJsonObject(block)) refuseField(`${path}[${index}]`, 'must be an object');
		visit(block, `${path}[${index}]`);
	}
}
