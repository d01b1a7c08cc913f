import type { Conversation, OutputFormat, ToolChoice } from '../../conversation/conversation.ts';
import { fitName, longestToolName } from '../../conversation/fit-name.ts';
import { requireFunctions } from '../../conversation/function-tools.ts';
import { requireSchemaTaken, requireStopCount, takenSampling, takenStops } from '../../conversation/model-limits.ts';
import type { RequestWriter, TranslationTarget } from '../../conversation/request-translation.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { sha256Hex } from '../../conversation/sha256.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type ChatModel, chatModelOf } from './model.ts';
import { reasoningEffort } from './reasoning-effort.ts';
import { writeMessages } from './request-messages.ts';

const maxStops = 4;
/** OpenAI rejects longer names of users. */
const maxUserLength = 64;

/** Writes requests for chat completions. */
export const chatRequestWriter: RequestWriter = {
	takes: new Set(),
	write: (conversation, target, warnings) => ({ body: chatRequest(conversation, target, chatModelOf(target), warnings) }),
};

/** @throws Refusal `field_invalid`. */
export function chatRequest(
	conversation: Conversation,
	target: TranslationTarget,
	model: ChatModel,
	warnings: RequestWarnings,
): JsonObject {
	const tools = requireFunctions(conversation.tools()).map(({ name, description, parameters, isStrict }) => ({
		type: 'function',
		function: {
			name: fitName(name, longestToolName),
			...(description !== undefined && { description }),
			parameters: parametersOf(parameters ?? {}),
			...(isStrict !== undefined && { strict: isStrict }),
		},
	}));
	const effort = reasoningEffort(conversation.reasoning(), model, tools.length > 0, warnings);
	const messages = writeMessages(conversation.turns(), model, warnings);
	const cap = conversation.outputCap(target.maxOutputTokens)?.value ?? target.defaultMaxTokens;
	return {
		model: target.model,
		messages,
		...(cap !== undefined && { [model.tokenParam]: cap }),
		...writeStops(conversation, model, warnings),
		...writeSampling(conversation, model, warnings),
		...(tools.length > 0 && { tools, ...writeToolChoice(conversation.toolChoice(), model) }),
		...(effort !== undefined && { reasoning_effort: effort }),
		...writeOutputFormat(conversation.outputFormat(), model),
		...writeUser(conversation.userId()),
		...writeTier(conversation.serviceTier(), warnings),
		...(conversation.isStreamed && { stream: true, stream_options: { include_usage: true } }),
	};
}

/** OpenAI rejects an object schema without `properties`. */
function parametersOf(schema: JsonObject): JsonObject {
	const type = schema.type ?? 'object';
	if (type !== 'object' || (schema.type === type && isJsonObject(schema.properties))) return schema;
	return { ...schema, type, properties: schema.properties ?? {} };
}

function writeStops(conversation: Conversation, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const asked = conversation.stops();
	const stops = takenStops(asked, model, warnings);
	requireStopCount(asked.field, stops, maxStops);
	return stops.length === 0 ? {} : { stop: stops };
}

function writeSampling(conversation: Conversation, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const taken: Record<string, number> = {};
	for (const [name, member] of [['temperature', 'temperature'] as const, ['topP', 'top_p'] as const]) {
		const asked = conversation.number(name);
		const value = asked === undefined ? undefined : takenSampling(name, asked, model, warnings);
		if (value !== undefined) taken[member] = value;
	}
	return taken;
}

function writeToolChoice({ mode, named, isSingle }: ToolChoice, { takesParallelFlag }: ChatModel): JsonObject {
	if (mode === undefined) return {};
	const choice = named === undefined ? mode : { type: 'function', function: { name: fitName(named, longestToolName) } };
	const isFlagged = isSingle && takesParallelFlag && mode !== 'none';
	return { tool_choice: choice, ...(isFlagged && { parallel_tool_calls: false }) };
}

function writeOutputFormat(format: OutputFormat | undefined, model: ChatModel): JsonObject {
	switch (format?.kind) {
		case undefined:
			return {};
		case 'json':
			return { response_format: { type: 'json_object' } };
		case 'schema':
			requireSchemaTaken(format.field, model);
			return { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema: format.schema } } };
	}
}

/** Some clients put a whole JSON text there. */
function writeUser(id: string | undefined): JsonObject {
	if (id === undefined) return {};
	return { user: id.length <= maxUserLength ? id : sha256Hex(id) };
}

function writeTier(tier: ReturnType<Conversation['serviceTier']>, warnings: RequestWarnings): JsonObject {
	switch (tier) {
		case undefined:
			return {};
		case 'auto':
			return { service_tier: 'auto' };
		case 'standard':
			return { service_tier: 'default' };
		case 'other':
			warnings.add('service_tier', 'ignored');
			return {};
	}
}
