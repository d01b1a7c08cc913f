import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { fitName, longestCallId, longestToolName } from '../fit-name.ts';
import { objectAt, stringAt } from '../messages/fields.ts';
import { describeServerBlock } from '../messages/server-blocks.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import { signatureOf, withSignature } from '../thought-signature.ts';
import type { ChatModel } from './chat-model.ts';
import { type ChatPart, contentOf, textParts, translateBlock, translateContent } from './content-parts.ts';

/** Calls that the next turn must answer: id to path. */
type OpenCalls = Map<string, string>;

/** Consecutive messages of one role are one turn, as the messages format has it. */
export function translateTurns(messages: readonly unknown[], model: ChatModel, warnings: RequestWarnings): readonly JsonObject[] {
	const out: JsonObject[] = [];
	const open: OpenCalls = new Map();
	for (let start = 0, end = 0; start < messages.length; start = end) {
		const role = roleAt(messages, start);
		end = start + 1;
		while (end < messages.length && roleAt(messages, end) === role) end++;
		if (open.size > 0 && role !== 'user') refuseUnanswered(open);
		if (role === 'assistant') addAssistantTurn(out, messages, start, end, open, model, warnings);
		else if (role === 'user') addUserTurn(out, messages, start, end, open, model, warnings);
		else if (role === 'system') addInstructions(out, messages, start, end, model);
		else refuseField(`messages[${start}].role`, 'must be `user`, `assistant` or `system`');
	}
	if (open.size > 0) refuseUnanswered(open);
	if (messages.length > 0 && roleAt(messages, messages.length - 1) === 'assistant') {
		warnings.add('messages', 'the last one is not continued but answered');
	}
	return out;
}

function roleAt(messages: readonly unknown[], at: number): unknown {
	const message = messages[at];
	return isJsonObject(message) ? message.role : undefined;
}

function refuseUnanswered(open: OpenCalls): never {
	const [path] = open.values();
	return refuseField(`${path}.id`, 'must have its `tool_result` in the user message that follows');
}

/** Calls `visit` with each block of the messages from `start` to `end`; a string counts as a text block. */
function visitBlocks(messages: readonly unknown[], start: number, end: number, visit: (block: JsonObject, path: string) => void): void {
	for (let at = start; at < end; at++) {
		const content = objectAt(messages[at], `messages[${at}]`).content;
		const path = `messages[${at}].content`;
		if (typeof content === 'string') {
			visit({ type: 'text', text: content }, path);
			continue;
		}
		if (!Array.isArray(content)) refuseField(path, 'must be a string or an array');
		for (let index = 0; index < content.length; index++) visit(objectAt(content[index], `${path}[${index}]`), `${path}[${index}]`);
	}
}

function addInstructions(out: JsonObject[], messages: readonly unknown[], start: number, end: number, model: ChatModel): void {
	for (let at = start; at < end; at++) {
		const parts: ChatPart[] = [];
		visitBlocks(messages, at, at + 1, (block, path) => {
			if (block.type !== 'text') refuseField(`${path}.type`, 'must be `text`');
			parts.push(...textParts(stringAt(block.text, `${path}.text`)));
		});
		if (parts.length > 0) out.push({ role: model.systemRole, content: contentOf(parts, model.takesTextParts) });
	}
}

/** Results of tools come first, each a message; what the user says besides is one message after them. */
function addUserTurn(
	out: JsonObject[],
	messages: readonly unknown[],
	start: number,
	end: number,
	open: OpenCalls,
	model: ChatModel,
	warnings: RequestWarnings,
): void {
	const said: ChatPart[] = [];
	const attached: ChatPart[] = [];
	let results = 0;
	visitBlocks(messages, start, end, (block, path) => {
		if (block.type === 'tool_result') {
			const { message, attachments } = translateResult(block, path, open, warnings);
			out.push(message);
			for (const part of attachments) attached.push(part);
			results++;
		} else {
			for (const part of translateBlock(block, path, warnings)) said.push(part);
		}
	});
	if (attached.length > 0) out.push({ role: 'user', content: attached });
	if (said.length > 0) out.push({ role: 'user', content: contentOf(said, model.takesTextParts) });
	else if (results === 0) refuseField(`messages[${start}].content`, 'must hold something else than empty text');
}

/** A tool message takes text alone; images and files of a result follow in a message of the user's. */
function translateResult(
	block: JsonObject,
	path: string,
	open: OpenCalls,
	warnings: RequestWarnings,
): { readonly message: JsonObject; readonly attachments: readonly ChatPart[] } {
	const id = stringAt(block.tool_use_id, `${path}.tool_use_id`);
	if (!open.delete(id)) refuseField(`${path}.tool_use_id`, 'must be the id of a `tool_use` in the assistant message before, answered once');
	const callId = fitName(id, longestCallId);
	const texts: string[] = [];
	const others: ChatPart[] = [];
	for (const part of resultParts(block.content, `${path}.content`, warnings)) {
		if (part.type === 'text') texts.push(part.text);
		else others.push(part);
	}
	const text = texts.join('\n');
	return {
		message: { role: 'tool', tool_call_id: callId, content: block.is_error === true ? `Error: ${text}` : text },
		attachments: others.length === 0 ? [] : [{ type: 'text', text: `Result of call ${callId}:` }, ...others],
	};
}

function resultParts(content: unknown, path: string, warnings: RequestWarnings): readonly ChatPart[] {
	if (content === undefined || content === null) return [];
	if (!Array.isArray(content)) return translateContent(content, path, warnings);
	return content.flatMap((block: unknown, index) => {
		const at = `${path}[${index}]`;
		if (isJsonObject(block) && block.type === 'tool_reference') return textParts(stringAt(block.tool_name, `${at}.tool_name`));
		return translateBlock(block, at, warnings);
	});
}

/** Thinking is dropped: it is the other vendor's, and must never be taken for text. A turn of nothing else is left out. */
function addAssistantTurn(
	out: JsonObject[],
	messages: readonly unknown[],
	start: number,
	end: number,
	open: OpenCalls,
	model: ChatModel,
	warnings: RequestWarnings,
): void {
	let text = '';
	const calls: JsonObject[] = [];
	visitBlocks(messages, start, end, (block, path) => {
		switch (block.type) {
			case 'text':
				text += stringAt(block.text, `${path}.text`);
				break;
			case 'thinking':
			case 'redacted_thinking':
				break;
			case 'tool_use':
				calls.push({ ...translateCall(block, path, open), ...(model.takesSignatures && withSignature(signatureOf(block))) });
				break;
			default:
				warnings.add('messages', 'blocks of tools that another vendor ran are sent as text or left out');
				text += describeServerBlock(block);
		}
	});
	const isSilent = text.trim() === '';
	if (calls.length > 0) out.push({ role: 'assistant', content: isSilent ? null : text, tool_calls: calls });
	else if (!isSilent) out.push({ role: 'assistant', content: text });
}

function translateCall(block: JsonObject, path: string, open: OpenCalls): JsonObject {
	const id = stringAt(block.id, `${path}.id`);
	if (open.has(id)) refuseField(`${path}.id`, 'must differ from the ids of the other calls');
	open.set(id, path);
	const name = fitName(stringAt(block.name, `${path}.name`), longestToolName);
	const input = JSON.stringify(objectAt(block.input, `${path}.input`));
	return { id: fitName(id, longestCallId), type: 'function', function: { name, arguments: input } };
}
