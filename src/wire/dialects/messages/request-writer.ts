import type { Conversation, FunctionTool, ToolChoice } from '../../conversation/conversation.ts';
import { isBlank } from '../../conversation/json-view.ts';
import { requireFunctions, requireSchemaTaken, takenStops } from '../../conversation/model-limits.ts';
import type { RequestWarnings, RequestWriter } from '../../conversation/request-translation.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type ClaudeModel, claudeModelOf } from './model.ts';
import { TurnList, writeCacheMark } from './request-messages.ts';
import { outputCapOf, writeThinking } from './thinking.ts';

export const messagesRequestWriter: RequestWriter = {
	takes: new Set(['instructionsAnywhere']),
	write(conversation, target, warnings) {
		const model = claudeModelOf(target);
		const turns = new TurnList(model, warnings, conversation.turnsField);
		conversation.readTurns((turn) => turns.add(turn));
		const { system } = turns;
		const messages = turns.finish();
		const format = writeOutputFormat(conversation, model, system, warnings);
		const { tools, tool_choice, isForced } = writeTools(conversation, turns);
		const thinkingContext = { isForced, hasLostThinking: turns.hasLostThinking, isPrefilled: messages.at(-1)?.role === 'assistant' };
		const cap = outputCapOf(conversation, target);
		const { thinking, effort, maxTokens } = writeThinking(conversation.reasoning(), model, target, cap, thinkingContext, warnings);
		const isThinking = thinking !== undefined && thinking.type !== 'disabled';
		const body = {
			model: target.model,
			max_tokens: maxTokens,
			system: system.length > 0 ? system : undefined,
			messages,
			tools,
			tool_choice,
			thinking,
			output_config: (effort ?? format) === undefined ? undefined : { effort, format },
			...writeSampling(conversation, model, isThinking, warnings),
			stop_sequences: writeStops(conversation, model, warnings),
			metadata: writeUser(conversation.userId()),
			service_tier: writeTier(conversation.serviceTier(), warnings),
			stream: conversation.isStreaming ? true : undefined,
		};
		return { body, headers: { 'anthropic-version': model.version } };
	},
};

/** @returns undefined if the provider has no field for the format: the model is then instructed in text. */
function writeOutputFormat(
	conversation: Conversation,
	model: ClaudeModel,
	system: JsonObject[],
	warnings: RequestWarnings,
): JsonObject | undefined {
	const format = conversation.outputFormat();
	switch (format?.kind) {
		case undefined:
			return undefined;
		case 'json':
			warnings.add(format.field, 'json_object is requested in the system prompt only');
			system.push({ type: 'text', text: 'Answer with a single JSON object and nothing else.' });
			return undefined;
		case 'schema':
			requireSchemaTaken(format.field, model);
			return { type: 'json_schema', schema: closedSchema(format.schema) };
	}
}

interface WrittenTools {
	readonly tools?: readonly JsonObject[];
	readonly tool_choice?: JsonObject | undefined;
	/** The response must contain a call. */
	readonly isForced: boolean;
}

function writeTools(conversation: Conversation, turns: TurnList): WrittenTools {
	const defined = requireFunctions(conversation.tools());
	if (defined.length === 0) return toolsOfHistory(turns.calledTools);
	const choice = conversation.toolChoice();
	const { named, allowed } = choice;
	const offered = named !== undefined || allowed === undefined ? defined : defined.filter(({ name }) => allowed.includes(name));
	return { tools: offered.map(toolOf), tool_choice: writeToolChoice(choice), isForced: choice.mode === 'required' };
}

/** The provider rejects a history of calls without definitions. Those generated for it must not be called. */
function toolsOfHistory(called: readonly string[]): WrittenTools {
	if (called.length === 0) return { isForced: false };
	const tools = called.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
	return { tools, tool_choice: { type: 'none' }, isForced: false };
}

function toolOf({ name, description, parameters, isStrict, cacheMark }: FunctionTool): JsonObject {
	const schema = objectSchema(parameters ?? { type: 'object', properties: {} });
	return {
		name,
		description,
		input_schema: isStrict === true ? closedSchema(schema) : schema,
		strict: isStrict === true ? true : undefined,
		cache_control: writeCacheMark(cacheMark),
	};
}

/** The provider requires a type at the schema's root. */
function objectSchema(schema: JsonObject): JsonObject {
	return schema.type === 'object' ? schema : { ...schema, type: 'object' };
}

function writeToolChoice({ mode = 'auto', named, isSingle }: ToolChoice): JsonObject | undefined {
	if (mode === 'none') return { type: 'none' };
	if (mode === 'auto' && !isSingle) return undefined;
	const type = named !== undefined ? 'tool' : mode === 'auto' ? 'auto' : 'any';
	return { type, name: named, disable_parallel_tool_use: isSingle ? true : undefined };
}

/** From this value on, `top_p` has practically no effect. */
const defaultTopP = 0.99;

/**
 * Writes at most one of `temperature` and `top_p`, because some models reject both together. Writes none if the model takes no sampling
 * settings or is asked to think.
 */
function writeSampling(conversation: Conversation, model: ClaudeModel, isThinking: boolean, warnings: RequestWarnings): JsonObject {
	const temperature = conversation.number('temperature');
	const topP = conversation.number('topP');
	const isTopPMeant = topP !== undefined && topP.value < defaultTopP;
	if (!model.takesSampling || isThinking) {
		if (temperature !== undefined && temperature.value !== 1) warnings.add(temperature.field, 'ignored');
		if (isTopPMeant) warnings.add(topP.field, 'ignored');
		return {};
	}
	if (temperature === undefined) return topP === undefined ? {} : { top_p: topP.value };
	if (isTopPMeant) warnings.add(topP.field, 'ignored because temperature is set');
	const { field, value } = temperature;
	const { temperatureMax: max } = model;
	if (value > max) warnings.add(field, `lowered from ${value} to ${max}`);
	return { temperature: Math.min(value, max) };
}

function writeStops(conversation: Conversation, model: ClaudeModel, warnings: RequestWarnings): readonly string[] | undefined {
	const { field, value } = conversation.stops();
	if (value.length === 0) return undefined;
	if (value.some(isBlank)) warnings.add(field, 'blank sequences ignored');
	const stops = takenStops({ field, value: value.filter((stop) => !isBlank(stop)) }, model, warnings);
	return stops.length === 0 ? undefined : stops;
}

function writeUser(id: string | undefined): JsonObject | undefined {
	return id === undefined ? undefined : { user_id: id };
}

function writeTier(tier: ReturnType<Conversation['serviceTier']>, warnings: RequestWarnings): string | undefined {
	if (tier === 'other') warnings.add('service_tier', 'ignored');
	return tier === 'other' || tier === undefined ? undefined : tier === 'auto' ? tier : 'standard_only';
}

const schemaMaps = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemas = ['items', 'not', 'if', 'then', 'else', 'contains'];

/**
 * Returns a JSON schema whose objects forbid additional properties, as the provider requires of schemas that it enforces. Explicit settings
 * of the schema, and everything else, stay unchanged.
 */
export function closedSchema(schema: unknown): unknown {
	if (!isJsonObject(schema)) return schema;
	const closed: Record<string, unknown> = { ...schema };
	for (const name of schemaMaps) {
		const map = schema[name];
		if (isJsonObject(map)) closed[name] = Object.fromEntries(Object.entries(map).map(([key, value]) => [key, closedSchema(value)]));
	}
	for (const name of schemaLists) {
		const list = schema[name];
		if (Array.isArray(list)) closed[name] = list.map(closedSchema);
	}
	for (const name of schemas) {
		const inner = schema[name];
		if (isJsonObject(inner)) closed[name] = closedSchema(inner);
	}
	if (isObjectSchema(schema) && schema.additionalProperties === undefined) closed.additionalProperties = false;
	return closed;
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
	if (type === undefined) return isJsonObject(properties);
	return type === 'object' || (Array.isArray(type) && type.includes('object'));
}
