import { equals, type LineMark, valueOffset } from '../../events/event-boundaries.ts';
import { errorMembers } from '../../gateway-error.ts';
import { isJsonObject } from '../../json/parse-body.ts';
import { greatestCap, requestedOutput, requestsThinkingBy, writeCap } from '../../usage/request-facts.ts';
import { messagesUsage } from '../../usage/usage-reader.ts';
import type { ClientConversationDialect } from '../dialect.ts';
import {
	array,
	boolean,
	checkFields,
	checkInside,
	checkMessages,
	type FieldTable,
	integerOf,
	modelName,
	number,
	object,
} from '../field-checks.ts';
import { MessagesCapEnding } from './cap-ending.ts';
import { messagesVendorFields, repairMessages } from './request-edits.ts';
import { markedCacheWrites, messagesInputContent, surcharges } from './request-facts.ts';
import { readMessagesRequest } from './request-reader.ts';
import { messagesRequestWriter } from './request-writer.ts';
import { messagesReading } from './response-reader.ts';
import { messagesWriting } from './response-writer.ts';
import { messagesTextViews } from './texts.ts';

const cap = integerOf(0, greatestCap);

/** `max_tokens: 0` only fills the prompt cache. */
const required: FieldTable = { model: modelName, max_tokens: cap };

const optional: FieldTable = {
	stream: boolean,
	temperature: number,
	top_p: number,
	top_k: number,
	stop_sequences: array,
	tools: array,
	tool_choice: object,
	thinking: object,
	metadata: object,
};

const capMembers = ['max_tokens'] as const;

const thinking: FieldTable = { budget_tokens: cap };

/** Anthropic's messages. */
export const messages: ClientConversationDialect = {
	name: 'messages',
	readRequest: readMessagesRequest,
	requestWriter: messagesRequestWriter,
	responses: messagesReading,
	writtenResponses: messagesWriting,
	validate(body) {
		checkFields(body, required, optional);
		checkInside(body, 'thinking', thinking);
		checkMessages(body, () => false);
	},
	textViews: messagesTextViews,
	usage: messagesUsage,
	editedMembers: capMembers,
	// Its streams always report usage.
	requestUsage: () => [],
	withoutUsageOption: (body) => body,
	requestedOutput: (body) => requestedOutput(body, capMembers),
	writeCap: (body, tokens) => writeCap(body, tokens, capMembers),
	cacheWrites: markedCacheWrites,
	requestsThinking: ({ thinking: given }) => requestsThinkingBy(isJsonObject(given) ? given.type : undefined, 'disabled'),
	surcharges,
	markLine,
	isComplete: () => false,
	reportsUsageNext: (tail) => tail.lastIndexOf('"content_block_stop"') > tail.lastIndexOf('"content_block_start"'),
	followToCap: () => new MessagesCapEnding(),
	inputContent: messagesInputContent,
	/** Claude Code puts its session into this id. */
	sessionOf: ({ metadata }) => (isJsonObject(metadata) ? metadata.user_id : undefined),
	vendorFields: messagesVendorFields,
	repair: repairMessages,
	vendorKind: 'anthropic',
	storedTurnsField: ({ thread }) => (thread === undefined || thread === null ? undefined : 'thread'),
	hasArgumentValues: true,
	renderErrorEvent: (error) => Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', ...errorMembers(error) })}\n\n`),
};

/** `message_stop` ends a stream; nothing follows `error`. */
function markLine(bytes: Buffer, start: number, end: number): LineMark {
	const event = valueOffset(bytes, start, end, 'event:');
	if (event === -1) return 'none';
	if (equals(bytes, event, end, 'message_stop')) return 'terminal';
	return equals(bytes, event, end, 'error') ? 'error' : 'none';
}

const requiredOfCount: FieldTable = { model: modelName };

const optionalOfCount: FieldTable = { max_tokens: cap, tools: array, tool_choice: object, thinking: object };

/** A messages request for token counting. */
export const tokenCounting: ClientConversationDialect = {
	...messages,
	validate(body) {
		checkFields(body, requiredOfCount, optionalOfCount);
		checkInside(body, 'thinking', thinking);
		checkMessages(body, () => false);
	},
};
