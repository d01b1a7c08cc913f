import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { greatestCap, maxChoices, requestedOutput, requestsThinkingBy, writeCap } from '../../usage/request-facts.ts';
import { chatUsage } from '../../usage/usage-reader.ts';
import type { ClientConversationDialect } from '../dialect.ts';
import { array, boolean, checkFields, checkMessages, type FieldTable, integerOf, modelName, number, object } from '../field-checks.ts';
import { surcharges } from '../messages/request-facts.ts';
import { ChatCapEnding } from './cap-ending.ts';
import { openaiEvents } from './events.ts';
import { chatVendorFields, repairChat } from './request-edits.ts';
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
	...openaiEvents,
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
	requestedOutput: (body) => requestedOutput(body, capMembers, body.n),
	writeCap: (body, tokens) => writeCap(body, tokens, capMembers),
	// Servers write to their cache automatically; the model's price decides the cost.
	cacheWrites: () => 'short',
	requestsThinking,
	/** Compatible servers may forward Anthropic's fields to Anthropic. */
	surcharges,
	followToCap: (request) => new ChatCapEnding(request, typeof request.n === 'number' ? request.n : 1, { delta: {} }),
	inputContent: chatInputContent,
	vendorFields: chatVendorFields,
	sessionOf: ({ prompt_cache_key }) => prompt_cache_key,
	repair: repairChat,
	vendorKind: 'openai',
	storedTurnsField: () => undefined,
	hasArgumentValues: false,
};

/** Servers of other vendors may support `reasoning` and `thinking`; OpenAI's own ignore them. */
function requestsThinking({ reasoning, thinking, reasoning_effort }: JsonObject): boolean | undefined {
	const isOverridden = isJsonObject(reasoning) || (isJsonObject(thinking) && requestsThinkingBy(thinking.type, 'disabled') === true);
	return isOverridden ? true : requestsThinkingBy(reasoning_effort, 'none');
}
