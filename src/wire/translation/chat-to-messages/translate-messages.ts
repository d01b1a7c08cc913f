import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import { assistantContent } from './assistant-content.ts';
import type { ClaudeModel } from './claude-model.ts';
import { isBlank, translateContent, translateText } from './content-parts.ts';
import { Conversation } from './conversation.ts';
import { toolUseId } from './tool-use-id.ts';

/** @throws Refusal `field_invalid` with the path of the message at fault. */
export function translateMessages(messages: unknown, model: ClaudeModel, warnings: RequestWarnings): Conversation {
	if (!Array.isArray(messages)) return refuseField('messages', 'must be an array');
	const conversation = new Conversation();
	for (const [index, message] of (messages as readonly unknown[]).entries()) {
		if (!isJsonObject(message)) return refuseField(`messages[${index}]`, 'must be an object');
		addMessage(conversation, message, index, model, warnings);
	}
	return conversation;
}

function addMessage(conversation: Conversation, message: JsonObject, index: number, model: ClaudeModel, warnings: RequestWarnings): void {
	const path = `messages[${index}]`;
	switch (message.role) {
		case 'system':
		case 'developer':
			addSystem(conversation, translateText(message.content, `${path}.content`), model, warnings);
			return;
		case 'user': {
			const blocks = translateContent(message.content, `${path}.content`);
			if (blocks.length === 0) refuseField(`${path}.content`, 'must not be empty or blank');
			conversation.addTurn('user', blocks);
			return;
		}
		case 'assistant': {
			const { blocks, calls } = assistantContent(message, index, model, warnings);
			if (blocks.length > 0) conversation.addTurn('assistant', blocks, calls);
			return;
		}
		case 'tool': {
			const id = toolUseId(message.tool_call_id, `${path}.tool_call_id`);
			conversation.addResult(id, resultContent(message.content, `${path}.content`), `${path}.tool_call_id`);
			return;
		}
		case 'function':
			conversation.addResult(
				conversation.lastCallOf(message.name) ?? '',
				resultContent(message.content, `${path}.content`),
				`${path}.name`,
			);
			return;
		default:
			refuseField(`${path}.role`, 'must be `system`, `developer`, `user`, `assistant`, `tool` or `function`');
	}
}

/** Where the model cannot take it in its place, it joins the front, as the vendor's own layer for chat completions does. */
function addSystem(conversation: Conversation, blocks: readonly JsonObject[], model: ClaudeModel, warnings: RequestWarnings): void {
	if (blocks.length === 0) return;
	if (!conversation.isFresh && model.takesMidSystem && !conversation.isAwaitingResults) {
		conversation.addTurn('system', blocks);
		return;
	}
	if (!conversation.isFresh) warnings.add('messages', 'later system messages moved to the front');
	for (const block of blocks) conversation.system.push(block);
}

function resultContent(content: unknown, path: string): readonly JsonObject[] | string {
	if (typeof content === 'string') return isBlank(content) ? '' : content;
	return translateContent(content, path);
}
