import type { AssistantTurn, SystemTurn, Turn } from '../../conversation/conversation.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { inOrderOfCalls } from '../../conversation/tool-pairing.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { ClaudeModel } from './model.ts';
import { contentBlock, resultBlock, textBlock, thinkingBlock, toolUseBlock } from './request-blocks.ts';
import { TurnList } from './turn-list.ts';

/** @throws Refusal `field_invalid` for what has no equivalent. */
export function writeTurns(turns: Iterable<Turn>, model: ClaudeModel, warnings: RequestWarnings): TurnList {
	const list = new TurnList();
	let isAwaitingResults = false;
	for (const turn of turns) {
		switch (turn.role) {
			case 'system':
				addSystem(list, turn, model.takesMidSystem && !isAwaitingResults, warnings);
				break;
			case 'user':
				list.add('user', turn.parts.map(contentBlock));
				break;
			case 'assistant': {
				const blocks = assistantBlocks(turn, model, warnings);
				if (blocks.length > 0) list.add('assistant', blocks);
				isAwaitingResults ||= turn.parts.some(({ type }) => type === 'call');
				break;
			}
			case 'results':
				list.add('user', inOrderOfCalls(turn).map(resultBlock));
				isAwaitingResults = false;
		}
	}
	return list;
}

/** Where the model cannot take it in its place, it joins the front, as the vendor's own layer for chat completions does. */
function addSystem(list: TurnList, { parts }: SystemTurn, mayStay: boolean, warnings: RequestWarnings): void {
	if (parts.length === 0) return;
	const blocks = parts.map(textBlock);
	if (!list.isEmpty && mayStay) {
		list.add('system', blocks);
		return;
	}
	if (!list.isEmpty) warnings.add('messages', 'later system messages moved to the front');
	for (const block of blocks) list.system.push(block);
}

/** Reasoning stays as a whole or not at all, for the provider rejects a turn whose thinking is not as it was. */
function assistantBlocks({ parts }: AssistantTurn, model: ClaudeModel, warnings: RequestWarnings): readonly JsonObject[] {
	const foreign = parts.find((part) => part.type === 'reasoning' && (part.signed === undefined || model.thinking === 'none'));
	if (foreign?.type === 'reasoning') warnings.add(foreign.field, 'dropped where unsigned or of no use to the model');
	const blocks: JsonObject[] = [];
	for (const part of parts) {
		switch (part.type) {
			case 'text':
				blocks.push(textBlock(part));
				break;
			case 'reasoning':
				if (foreign === undefined && part.signed !== undefined) blocks.push(thinkingBlock(part.signed));
				break;
			case 'call':
				blocks.push(toolUseBlock(part));
				break;
			case 'opaque':
				blocks.push(textBlock({ text: part.text ?? rejectField(part.at.path, part.cure) }));
		}
	}
	return blocks;
}
