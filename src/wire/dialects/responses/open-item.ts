/** Items of a response while their content is written. */
import { customInput, parseArguments } from '../../conversation/read-json.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { OfferedTool } from './request-tools.ts';

export type PartType = 'output_text' | 'refusal';

export interface OpenPart {
	readonly type: PartType;
	/** First bytes of all fragments, which are most events of a stream. */
	readonly head: string;
	readonly annotations: JsonObject[];
	readonly logprobs: JsonObject[];
	text: string;
}

export interface OpenMessage {
	readonly kind: 'message';
	readonly id: string;
	readonly parts: JsonObject[];
	part: OpenPart | undefined;
}

export interface OpenReasoning {
	readonly kind: 'reasoning';
	readonly id: string;
	readonly summary: JsonObject[];
	/** Text of the open part. */
	text: string | undefined;
}

export interface OpenCall {
	readonly kind: 'call';
	readonly id: string;
	readonly tool: OfferedTool['kind'];
	readonly members: JsonObject;
	text: string;
}

export function contentPart(type: PartType, text: string): JsonObject {
	return type === 'output_text' ? { type, text, annotations: [], logprobs: [] } : { type, refusal: text };
}

export function summaryPart(text: string): JsonObject {
	return { type: 'summary_text', text };
}

/** Returns the arguments of a call in the client's form. A custom tool, which was offered as a function, has one text. */
export function argumentsOf(tool: OfferedTool['kind'], text: string): JsonObject {
	if (tool === 'function') return { arguments: text };
	return tool === 'custom' ? { input: customInput(text) } : { arguments: parseArguments(text) ?? text };
}
