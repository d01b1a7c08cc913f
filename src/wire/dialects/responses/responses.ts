import { equals, type LineMark, startsWith, valueOffset } from '../../events/event-boundaries.ts';
import { isJsonObject } from '../../json/parse-body.ts';
import { greatestCap, requestedOutput, requestsThinkingBy, writeCap } from '../../usage/request-facts.ts';
import { responsesUsage } from '../../usage/usage-reader.ts';
import { isErrorData } from '../chat/events.ts';
import type { ClientConversationDialect } from '../dialect.ts';
import {
	anyString,
	array,
	boolean,
	checkFields,
	checkInside,
	type FieldKind,
	type FieldTable,
	integerOf,
	modelName,
	number,
	object,
} from '../field-checks.ts';
import { ResponsesCapEnding } from './cap-ending.ts';
import { checkInput } from './check-input.ts';
import { maxRetryAfterSeconds, withVendorCode } from './client-errors.ts';
import { errorEvent, ResponsesErrorEnding } from './error-ending.ts';
import { isGiven, rejectReferences, repairResponses, stateRulesOf, storageEdits, writeMember } from './request-edits.ts';
import { responsesInputContent, surcharges } from './request-facts.ts';
import { readResponsesRequest } from './request-reader.ts';
import { responsesRequestWriter } from './request-writer.ts';
import { responsesReading } from './response-reader.ts';
import { responsesWriting } from './response-writer.ts';
import { responsesState } from './state.ts';
import { responsesTextViews } from './texts.ts';
import { undecryptableReasoning } from './undecryptable-reasoning.ts';
import { responsesVendorFields } from './vendor-items.ts';

const required: FieldTable = { model: modelName };

const conversation: FieldKind = {
	expected: 'a string, or an object with the string `id`',
	accepts: (value) => typeof value === 'string' || (isJsonObject(value) && typeof value.id === 'string'),
};

const optional: FieldTable = {
	instructions: anyString,
	previous_response_id: anyString,
	conversation,
	max_output_tokens: integerOf(1, greatestCap),
	stream: boolean,
	stream_options: object,
	store: boolean,
	background: boolean,
	temperature: number,
	top_p: number,
	tools: array,
	include: array,
	reasoning: object,
	text: object,
	metadata: object,
};

const capMembers = ['max_output_tokens'] as const;

/** OpenAI's Responses API. */
export const responses: ClientConversationDialect = {
	name: 'responses',
	readRequest: readResponsesRequest,
	requestWriter: responsesRequestWriter,
	responses: responsesReading,
	writtenResponses: responsesWriting,
	validate(body, state = 'off') {
		const rules = stateRulesOf(state);
		checkFields(body, required, optional);
		rejectReferences(body, rules);
		checkInside(body, 'prompt_cache_options', { comparison_response_id: anyString });
		checkInput(body.input, rules.takesReferences, isGiven(body.previous_response_id) || isGiven(body.conversation));
	},
	state: responsesState,
	sessionOf: ({ prompt_cache_key }) => prompt_cache_key,
	textViews: responsesTextViews,
	usage: responsesUsage,
	editedMembers: ['store', 'max_tool_calls', ...capMembers],
	// Its streams always report usage.
	requestUsage: () => [],
	withoutUsageOption: (body) => body,
	storageEdits: (body, state) => storageEdits(body, stateRulesOf(state)),
	undecryptableReasoning,
	requestedOutput: (body) => requestedOutput(body, capMembers),
	writeCap: (body, tokens) => writeCap(body, tokens, capMembers),
	toolCallCap: {
		requested: ({ max_tool_calls: calls }) => (typeof calls === 'number' && Number.isInteger(calls) && calls >= 1 ? calls : undefined),
		write: (body, calls) => writeMember(body, 'max_tool_calls', String(calls)),
	},
	// Servers write to their cache automatically; the model's price decides the cost.
	cacheWrites: () => 'short',
	requestsThinking: ({ reasoning }) => requestsThinkingBy(isJsonObject(reasoning) ? reasoning.effort : undefined, 'none'),
	surcharges,
	markLine,
	isComplete: (tail) => terminalTypes.some((type) => tail.includes(type)),
	reportsUsageNext: (tail) => tail.lastIndexOf('"response.output_item.done"') > tail.lastIndexOf('"response.output_item.added"'),
	followToCap: () => new ResponsesCapEnding(),
	followToError: () => new ResponsesErrorEnding(),
	inputContent: responsesInputContent,
	vendorFields: responsesVendorFields,
	repair: repairResponses,
	vendorKind: 'openai',
	storedTurnsField: () => undefined,
	hasArgumentValues: false,
	renderErrorEvent: (error) => errorEvent(error, 0),
	clientErrors: { describe: withVendorCode, maxRetryAfterSeconds },
};

const terminalTypes: readonly string[] = ['"response.completed"', '"response.incomplete"'];

/** Some servers omit the event's name. Their data is recognised by its first 32 bytes. */
const terminalData: readonly string[] = headsOf('response.complete', 'response.incomple');
const failedData: readonly string[] = headsOf('error"', 'response.failed');

/** Some servers write a space after the colon. */
function headsOf(...types: readonly string[]): readonly string[] {
	return types.flatMap((type) => [`{"type":"${type}`, `{"type": "${type}`]);
}

/** `response.completed` and `response.incomplete` end a stream. A failed one has an event `error`, `response.failed`, or both. */
function markLine(bytes: Buffer, start: number, end: number): LineMark {
	const event = valueOffset(bytes, start, end, 'event:');
	if (event !== -1) {
		if (equals(bytes, event, end, 'response.completed') || equals(bytes, event, end, 'response.incomplete')) return 'terminal';
		return equals(bytes, event, end, 'response.failed') || equals(bytes, event, end, 'error') ? 'error' : 'none';
	}
	const data = valueOffset(bytes, start, end, 'data:');
	if (data === -1) return 'none';
	if (terminalData.some((head) => startsWith(bytes, data, end, head))) return 'terminal';
	if (failedData.some((head) => startsWith(bytes, data, end, head))) return 'error';
	// Servers that have other formats, too, may send their errors here.
	return isErrorData(bytes, data, end) ? 'error' : 'none';
}
