import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import { parseArguments } from '../tool-arguments.ts';
import type { ClaudeModel } from './claude-model.ts';
import { translateText } from './content-parts.ts';
import type { OpenCall } from './conversation.ts';
import { isReplayable, plainBlock } from './thinking-blocks.ts';
import { toolUseId } from './tool-use-id.ts';

export interface AssistantContent {
	/** Thinking, then text, then calls: the only order that the provider takes. Empty when the message says nothing. */
	readonly blocks: readonly JsonObject[];
	readonly calls: readonly OpenCall[];
}

interface ToolUse extends OpenCall {
	readonly input: JsonObject;
}

/**
 * @param index of the message, for paths and for the id of a call that has none.
 * @throws Refusal `field_invalid`.
 */
export function assistantContent(message: JsonObject, index: number, model: ClaudeModel, warnings: RequestWarnings): AssistantContent {
	const path = `messages[${index}]`;
	if (isGiven(message.audio)) refuseField(`${path}.audio`, 'cannot be passed on: this model neither hears nor speaks. Send its transcript');
	const said = [...translateText(message.content, `${path}.content`), ...translateText(message.refusal, `${path}.refusal`)];
	const uses = toolUses(message, index);
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

function toolUses(message: JsonObject, index: number): readonly ToolUse[] {
	const path = `messages[${index}]`;
	const calls: unknown = message.tool_calls ?? [];
	if (!Array.isArray(calls)) return refuseField(`${path}.tool_calls`, 'must be an array');
	const uses = calls.map((call, at) => toolUse(call, `${path}.tool_calls[${at}]`));
	if (isGiven(message.function_call)) {
		uses.push(functionUse(message.function_call, `call_${index}`, `${path}.function_call`, `${path}.function_call`));
	}
	const ids = new Set<string>();
	for (const use of uses) {
		if (ids.has(use.id)) refuseField(`${use.path}.id`, 'is the id of another call of the message: give each call its own');
		ids.add(use.id);
	}
	return uses;
}

function toolUse(call: unknown, path: string): ToolUse {
	if (!isJsonObject(call)) return refuseField(path, 'must be an object');
	if (isGiven(call.type) && call.type !== 'function') refuseField(`${path}.type`, 'must be `function`: this model has no custom tools');
	return functionUse(call.function, toolUseId(call.id, `${path}.id`), path, `${path}.function`);
}

function functionUse(called: unknown, id: string, path: string, functionPath: string): ToolUse {
	const { name, arguments: text } = isJsonObject(called) ? called : {};
	if (typeof name !== 'string') return refuseField(`${functionPath}.name`, 'must be a string');
	const input = typeof text === 'string' || !isGiven(text) ? parseArguments(typeof text === 'string' ? text : '') : undefined;
	if (input === undefined) return refuseField(`${functionPath}.arguments`, 'must be a JSON object as a string');
	return { id, name, path, input };
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
