import type { JsonObject } from '../../json/parse-body.ts';
import { type ChatTool, type ChatTools, readTools } from '../chat/chat-tools.ts';
import { cacheMark } from './cache-mark.ts';
import { closedSchema } from './closed-schema.ts';
import type { Conversation } from './conversation.ts';

export interface TranslatedTools {
	/** To be spread into the request. */
	readonly members: JsonObject;
	/** The model may not answer without a call. */
	readonly isForced: boolean;
}

const noTools: TranslatedTools = { members: {}, isForced: false };

/** @throws Refusal `field_invalid`. */
export function translateTools(request: JsonObject, conversation: Conversation): TranslatedTools {
	const tools = readTools(request);
	if (tools === undefined) return toolsOfHistory(conversation);
	const choice = choiceOf(tools);
	const offered = tools.named === undefined ? tools.allowed : tools.defined;
	const isPlain = choice.type === 'auto' && !tools.isSingle;
	return {
		members: {
			tools: offered.map(toolOf),
			...(!isPlain && { tool_choice: tools.isSingle && choice.type !== 'none' ? { ...choice, disable_parallel_tool_use: true } : choice }),
		},
		isForced: tools.choice === 'required',
	};
}

/** A history of calls without a definition is refused; those made up for it must not be called. */
function toolsOfHistory(conversation: Conversation): TranslatedTools {
	const names = conversation.calledTools;
	if (names.length === 0) return noTools;
	const tools = names.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
	return { members: { tools, tool_choice: { type: 'none' } }, isForced: false };
}

function toolOf({ name, description, parameters, isStrict, source }: ChatTool): JsonObject {
	const schema = objectSchema(parameters ?? { type: 'object', properties: {} });
	return {
		name,
		...(description !== undefined && { description }),
		input_schema: isStrict ? closedSchema(schema) : schema,
		...(isStrict && { strict: true }),
		...cacheMark(source),
	};
}

/** The provider demands that the root says what it is. */
function objectSchema(schema: JsonObject): JsonObject {
	return schema.type === 'object' ? schema : { ...schema, type: 'object' };
}

function choiceOf({ choice, named }: ChatTools): JsonObject {
	if (named !== undefined) return { type: 'tool', name: named };
	return { type: choice === 'required' ? 'any' : choice };
}
