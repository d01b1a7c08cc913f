import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { readCalls, requireOwnIds } from '../chat/read-calls.ts';
import { type CalledTool, Contents } from '../gemini/contents.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import { signatureOf } from '../thought-signature.ts';
import { textOf, translateContent } from './content-parts.ts';

/** @throws Refusal `field_invalid` with the path of the message at fault. */
export function translateMessages(messages: unknown, warnings: RequestWarnings): Contents {
	if (!Array.isArray(messages)) return refuseField('messages', 'must be an array');
	const contents = new Contents();
	for (const [index, message] of (messages as readonly unknown[]).entries()) {
		if (!isJsonObject(message)) return refuseField(`messages[${index}]`, 'must be an object');
		addMessage(contents, message, index, warnings);
	}
	return contents;
}

function addMessage(contents: Contents, message: JsonObject, index: number, warnings: RequestWarnings): void {
	const path = `messages[${index}]`;
	switch (message.role) {
		case 'system':
		case 'developer':
			addInstructions(contents, textOf(message.content, `${path}.content`), warnings);
			return;
		case 'user': {
			const parts = translateContent(message.content, `${path}.content`);
			if (parts.length === 0) refuseField(`${path}.content`, 'must not be empty or blank');
			contents.addUser(parts);
			return;
		}
		case 'assistant':
			addAnswer(contents, message, index);
			return;
		case 'tool': {
			const { tool_call_id: id } = message;
			if (typeof id !== 'string') return refuseField(`${path}.tool_call_id`, 'must be a string');
			contents.addResult(id, resultOf(message.content, `${path}.content`), `${path}.tool_call_id`);
			return;
		}
		case 'function':
			contents.addResult(contents.lastCallOf(message.name) ?? '', resultOf(message.content, `${path}.content`), `${path}.name`);
			return;
		default:
			refuseField(`${path}.role`, 'must be `system`, `developer`, `user`, `assistant`, `tool` or `function`');
	}
}

function addInstructions(contents: Contents, text: string, warnings: RequestWarnings): void {
	if (text.trim() === '') return;
	if (!contents.isFresh) warnings.add('messages', 'later system messages moved to the front');
	contents.instructions.push({ text });
}

function addAnswer(contents: Contents, message: JsonObject, index: number): void {
	const path = `messages[${index}]`;
	if (message.audio !== undefined && message.audio !== null) {
		refuseField(`${path}.audio`, 'cannot be passed on: this model does not know what another one spoke. Send its transcript');
	}
	const text = textOf(message.content, `${path}.content`) + textOf(message.refusal, `${path}.refusal`);
	const calls = readCalls(message, index).map(({ id, name, input, path: at, source }): CalledTool => {
		if (typeof id !== 'string') return refuseField(`${at}.id`, 'must be a string');
		return { id, name, input, path: at, signature: signatureOf(source) };
	});
	requireOwnIds(calls);
	const isSilent = text.trim() === '';
	if (isSilent && calls.length === 0) return;
	const signature = signatureOf(message);
	contents.addModel(isSilent ? [] : [{ text, ...(signature !== undefined && { thoughtSignature: signature }) }], calls);
}

function resultOf(content: unknown, path: string): { response: JsonObject; attachments: readonly JsonObject[] } {
	const parts = translateContent(content, path);
	const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
	return { response: { result: texts.join('\n') }, attachments: parts.filter(({ text }) => text === undefined) };
}
