import { equals, type LineMark, startsWith, valueOffset } from '../../events/event-boundaries.ts';
import { errorMembers } from '../../gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { greatestCap, maxChoices, requestedOutput, requestsThinkingBy, writeCap } from '../../usage/request-facts.ts';
import { chatUsage } from '../../usage/usage-reader.ts';
import type { ClientConversationDialect } from '../dialect.ts';
import { array, boolean, checkFields, checkMessages, type FieldTable, integerOf, modelName, number, object } from '../field-checks.ts';
import { surcharges } from '../messages/request-facts.ts';
import { ChatCapEnding } from './cap-ending.ts';
import { chatVendorFields, repairChat, requestUsage } from './request-edits.ts';
import { chatInputContent } from './request-facts.ts';
import { readChatRequest } from './request-reader.ts';
import { chatRequestWriter } from './request-writer.ts';
import { chatReading } from './response-reader.ts';
import { chatWriting } from './response-writer.ts';
import { chatTextViews } from './texts.ts';

const required: FieldTable = { model: modelName };

const optional: FieldTable = {
	max_tokens: integerOf(1, greatestCap),
	max_completion_tokens: integerOf(1, greatestCap),
	n: integerOf(1, maxChoices),
	stream: boolean,
	stream_options: object,
	temperature: number,
	top_p: number,
	frequency_penalty: number,
	presence_penalty: number,
	tools: array,
};

/** `max_tokens` is deprecated, but some vendors read only that. */
const capMembers = ['max_completion_tokens', 'max_tokens'] as const;

/** An assistant turn may consist of tool calls only; a message of the deprecated role `function` may have null content. */
const rolesWithoutContent: ReadonlySet<string> = new Set(['assistant', 'function']);

/** OpenAI's chat completions. */
export const chat: ClientConversationDialect = {
	name: 'chat',
	readRequest: readChatRequest,
	requestWriter: chatRequestWriter,
	responses: chatReading,
	writtenResponses: chatWriting,
	validate(body) {
		checkFields(body, required, optional);
		checkMessages(body, (role) => rolesWithoutContent.has(role));
	},
	textViews: chatTextViews,
	usage: chatUsage,
	editedMembers: ['stream_options', ...capMembers],
	requestUsage,
	withoutUsageOption: ({ stream_options: _dropped, ...body }) => body,
	requestedOutput: (body) => requestedOutput(body, capMembers, body.n),
	writeCap: (body, tokens) => writeCap(body, tokens, capMembers),
	// Servers write to their cache automatically; the model's price decides the cost.
	cacheWrites: () => 'short',
	requestsThinking,
	/** Compatible servers may forward Anthropic's fields to Anthropic. */
	surcharges,
	markLine,
	isComplete: isFinished,
	reportsUsageNext: isFinished,
	followToCap: (request) => new ChatCapEnding(request),
	inputContent: chatInputContent,
	vendorFields: chatVendorFields,
	repair: repairChat,
	vendorKind: 'openai',
	storedTurnsField: () => undefined,
	hasArgumentValues: false,
	renderErrorEvent: (error) => Buffer.from(`data: ${JSON.stringify(errorMembers(error))}\n\n`),
};

/** Servers of other vendors may support `reasoning` and `thinking`; OpenAI's own ignore them. */
function requestsThinking({ reasoning, thinking, reasoning_effort }: JsonObject): boolean | undefined {
	const isOverridden = isJsonObject(reasoning) || (isJsonObject(thinking) && requestsThinkingBy(thinking.type, 'disabled') === true);
	return isOverridden ? true : requestsThinkingBy(reasoning_effort, 'none');
}

/** Some servers omit `[DONE]`. No text of a model can match, because its quotes are escaped. */
function isFinished(tail: Buffer): boolean {
	return tail.includes('"finish_reason":"') || tail.includes('"finish_reason": "');
}

/** `data: [DONE]` ends a stream. An error is a data line `{"error": ...}`; some vendors name the event `error`. */
function markLine(bytes: Buffer, start: number, end: number): LineMark {
	const data = valueOffset(bytes, start, end, 'data:');
	if (data !== -1) {
		if (equals(bytes, data, end, '[DONE]')) return 'terminal';
		return startsWith(bytes, data, end, '{"error"') && hasError(bytes, data + '{"error"'.length, end) ? 'error' : 'none';
	}
	const event = valueOffset(bytes, start, end, 'event:');
	return event !== -1 && equals(bytes, event, end, 'error') ? 'error' : 'none';
}

/** Some vendors put `"error": null` into ordinary chunks. */
function hasError(bytes: Buffer, from: number, end: number): boolean {
	for (let at = from; at < end; at++) {
		const byte = bytes[at];
		if (byte === 0x7b || byte === 0x22) return true;
		if (byte !== 0x3a && byte !== 0x20) return false;
	}
	return false;
}
