import { isReplayable, plainBlock } from '../../dialects/messages/signed-reasoning.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { readCalls, requireOwnIds } from '../chat/read-calls.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import type { ClaudeModel } from './claude-model.ts';
import { translateText } from './content-parts.ts';
import type { OpenCall } from './conversation.ts';
import { toolUseId } from './tool-use-id.ts';

export interface AssistantContent {
	/** Thinking, then text, then calls: the only order that the provider takes. Empty when the message says nothing. */
	readonly blocks: readonly JsonObject[];
	readonly calls: readonly OpenCall[];
}

/**
 * @param index of the message, for paths and for the id of a call that has none.
 * @throws Refusal `field_invalid`.
 */
export function assistantContent(message: JsonObject, index: number, model: ClaudeModel, warnings: RequestWarnings): AssistantContent {
	const path = `messages[${index}]`;
	if (message.audio !== undefined && message.audio !== null) {
		refuseField(`${path}.audio`, 'cannot be passed on: this model neither hears nor speaks. Send its transcript');
	}
	const said = [...translateText(message.content, `${path}.content`), ...translateText(message.refusal, `${path}.refusal`)];
	const uses = readCalls(message, index).map((call) => ({ ...call, id: toolUseId(call.id, `${call.path}.id`) }));
	requireOwnIds(uses);
	if (said.length === 0 && uses.length === 0) return { blocks: [], calls: [] };
	const blocks = [
		...thinkingBlocks(message.thinking_blocks, model, warnings),
		...said,
		...uses.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
	];
	return { blocks, calls: uses };
}

/** All or none, for the provider refuses a turn whose thinking is not as it was. Nothing is signed here. */
function thinkingBlocks(blocks: unknown, model: ClaudeModel, warnings: RequestWarnings): readonly JsonObject[] {
	if (!Array.isArray(blocks) || blocks.length === 0) return [];
	if (model.thinking !== 'none' && blocks.every(isReplayable)) return blocks.map(plainBlock);
	warnings.add('thinking_blocks', 'dropped where unsigned or of no use to the model');
	return [];
}
