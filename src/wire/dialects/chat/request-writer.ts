import {
	type Conversation,
	type Effort,
	efforts,
	type NumberSetting,
	type OutputFormat,
	type ReasoningSetting,
	type ToolChoice,
} from '../../conversation/conversation.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import { requireFunctions, requireSchemaTaken, requireStopCount, takenSampling, takenStops } from '../../conversation/model-limits.ts';
import type { RequestWarnings, RequestWriter, TranslationTarget } from '../../conversation/request-translation.ts';
import { sha256Hex } from '../../conversation/sha256.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type ChatModel, chatModelOf } from './model.ts';
import { MessageList } from './request-messages.ts';

const maxStops = 4;
/** OpenAI rejects longer user ids. */
const maxUserLength = 64;

export const chatRequestWriter: RequestWriter = {
	takes: new Set(['openaiFields']),
	write: (conversation, target, warnings) => ({ body: chatRequest(conversation, target, chatModelOf(target), warnings) }),
};

/** @throws `Rejection` `field_invalid`. */
export function chatRequest(
	conversation: Conversation,
	target: TranslationTarget,
	model: ChatModel,
	warnings: RequestWarnings,
): JsonObject {
	const defined = requireFunctions(conversation.tools());
	const choice = defined.length > 0 ? conversation.toolChoice() : undefined;
	const { named, allowed } = choice ?? {};
	// Servers of other vendors know no list of allowed tools.
	const offered = named !== undefined || allowed === undefined ? defined : defined.filter(({ name }) => allowed.includes(name));
	const tools = offered.map(({ name, description, parameters, isStrict }) => ({
		type: 'function',
		function: {
			name: fitName(name, maxToolNameLength),
			description,
			parameters: parametersOf(parameters ?? {}),
			strict: isStrict,
		},
	}));
	const effort = reasoningEffort(conversation.reasoning(), model, tools.length > 0, warnings);
	const list = new MessageList(model, warnings, conversation.turnsField);
	conversation.readTurns((turn) => list.add(turn));
	const messages = list.finish();
	const cap = conversation.outputCap(target.maxOutputTokens)?.value ?? target.defaultMaxTokens;
	return {
		model: target.model,
		messages,
		[model.tokenParam]: cap,
		stop: writeStops(conversation, model, warnings),
		temperature: writeNumber('temperature', conversation, model, warnings),
		top_p: writeNumber('topP', conversation, model, warnings),
		...(choice !== undefined && { tools, ...writeToolChoice(choice, model) }),
		reasoning_effort: effort,
		response_format: writeOutputFormat(conversation.outputFormat(), model),
		user: writeUser(conversation.userId()),
		...writeOpenAIFields(conversation, model, warnings),
		...(conversation.isStreaming && { stream: true, stream_options: { include_usage: true } }),
	};
}

function writeOpenAIFields(conversation: Conversation, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const openai = conversation.openai();
	if (openai === undefined) return { service_tier: writeTier(conversation.serviceTier(), warnings) };
	const { verbosity, topLogprobs, shared } = openai;
	const logprobs = topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: topLogprobs };
	if (model.isOpenAI) return { ...logprobs, verbosity: verbosity?.value, ...shared };
	if (verbosity !== undefined) warnings.add(verbosity.field, 'ignored');
	return { ...logprobs, service_tier: writeTier(conversation.serviceTier(), warnings) };
}

/** OpenAI rejects an object schema without `properties`. */
export function parametersOf(schema: JsonObject): JsonObject {
	const type = schema.type ?? 'object';
	if (type !== 'object' || (schema.type === type && isJsonObject(schema.properties))) return schema;
	return { ...schema, type, properties: schema.properties ?? {} };
}

function writeStops(conversation: Conversation, model: ChatModel, warnings: RequestWarnings): readonly string[] | undefined {
	const requested = conversation.stops();
	const stops = takenStops(requested, model, warnings);
	requireStopCount(requested.field, stops, maxStops);
	return stops.length === 0 ? undefined : stops;
}

function writeNumber(name: NumberSetting, conversation: Conversation, model: ChatModel, warnings: RequestWarnings): number | undefined {
	const requested = conversation.number(name);
	return requested && takenSampling(name, requested, model, warnings);
}

function writeToolChoice({ mode, named, isSingle }: ToolChoice, { takesParallelFlag }: ChatModel): JsonObject {
	if (mode === undefined) return {};
	const choice = named === undefined ? mode : { type: 'function', function: { name: fitName(named, maxToolNameLength) } };
	const isFlagged = isSingle && takesParallelFlag && mode !== 'none';
	return { tool_choice: choice, parallel_tool_calls: isFlagged ? false : undefined };
}

function writeOutputFormat(format: OutputFormat | undefined, model: ChatModel): JsonObject | undefined {
	switch (format?.kind) {
		case undefined:
			return undefined;
		case 'json':
			return { type: 'json_object' };
		case 'schema':
			requireSchemaTaken(format.field, model);
			return { type: 'json_schema', json_schema: { name: 'output', strict: true, ...format.label, schema: format.schema } };
	}
}

/** Some clients put a whole JSON text there. */
export function writeUser(id: string | undefined): string | undefined {
	return id === undefined || id.length <= maxUserLength ? id : sha256Hex(id);
}

function writeTier(tier: ReturnType<Conversation['serviceTier']>, warnings: RequestWarnings): string | undefined {
	if (tier === 'other') warnings.add('service_tier', 'ignored');
	return tier === 'other' || tier === undefined ? undefined : tier === 'auto' ? tier : 'default';
}

/** Operators may configure efforts outside this list. */
const ladder: readonly string[] = efforts;

/** @returns undefined for the model's default. @param hasTools true if the translated request offers tools. */
export function reasoningEffort(
	wanted: ReasoningSetting | undefined,
	model: ChatModel,
	hasTools: boolean,
	warnings: RequestWarnings,
): string | undefined {
	if (hasTools && model.toolsNeedEffortNone) {
		warnings.add('reasoning_effort', 'sent as none because the model accepts tools only without reasoning');
		return 'none';
	}
	const requested = wanted?.effort ?? effortOfBudget(wanted?.budget);
	if (wanted === undefined || requested === undefined) return undefined;
	if (requested === 'none') return model.efforts.includes('none') ? 'none' : undefined;
	if (model.efforts.length === 0) {
		warnings.add(wanted.field, 'ignored because the model does not reason');
		return undefined;
	}
	if (requested === 'unknown') {
		warnings.add(wanted.effortField, 'ignored because the value is unknown');
		return undefined;
	}
	const given = nearest(requested, model.efforts);
	if (given !== undefined && given !== requested) {
		warnings.add(wanted.effortField, `sent as ${given}, the nearest value that the model accepts`);
	}
	return given;
}

function effortOfBudget(budget: number | undefined): Effort | undefined {
	if (budget === undefined) return undefined;
	if (budget <= 2048) return 'low';
	return budget <= 8192 ? 'medium' : 'high';
}

/** Returns the same level if the model takes it, otherwise the next lower one, otherwise the lowest. */
function nearest(effort: Effort, taken: readonly string[]): string | undefined {
	return taken.findLast((one) => one !== 'none' && ladder.indexOf(one) <= ladder.indexOf(effort)) ?? taken[0];
}
