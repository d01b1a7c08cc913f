import type { Conversation, FunctionTool, ToolChoice } from '../../conversation/conversation.ts';
import { requireFunctions } from '../../conversation/function-tools.ts';
import { isBlank } from '../../conversation/json-view.ts';
import { requireSchemaTaken, takenStops } from '../../conversation/model-limits.ts';
import type { RequestWriter } from '../../conversation/request-translation.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { closedSchema } from './closed-schema.ts';
import { type ClaudeModel, claudeModelOf } from './model.ts';
import { outputCapOf } from './output-cap.ts';
import { writeCacheMark } from './request-blocks.ts';
import { writeTurns } from './request-messages.ts';
import { writeThinking } from './thinking.ts';
import type { TurnList } from './turn-list.ts';

/** Writes requests for messages. */
export const messagesRequestWriter: RequestWriter = {
	takes: new Set(['instructionsAnywhere']),
	write(conversation, target, warnings) {
		const model = claudeModelOf(target);
		const turns = writeTurns(conversation.turns(), model, warnings);
		const messages = turns.finish(model);
		const format = writeOutputFormat(conversation, model, turns, warnings);
		const { members: tools, isForced } = writeTools(conversation, turns);
		const circumstances = { isForced, hasLostThinking: turns.hasLostThinking, isPrefilled: messages.at(-1)?.role === 'assistant' };
		const cap = outputCapOf(conversation, target);
		const { thinking, effort, maxTokens } = writeThinking(conversation.reasoning(), model, target, cap, circumstances, warnings);
		const body = {
			model: target.model,
			max_tokens: maxTokens,
			...(turns.system.length > 0 && { system: turns.system }),
			messages,
			...tools,
			...(thinking !== undefined && { thinking }),
			...writeOutputConfig(effort, format),
			...writeSampling(conversation, model, thinking !== undefined && thinking.type !== 'disabled', warnings),
			...writeStops(conversation, model, warnings),
			...writeUser(conversation.userId()),
			...writeTier(conversation.serviceTier(), warnings),
			...(conversation.isStreamed && { stream: true }),
		};
		return { body, headers: { 'anthropic-version': model.version } };
	},
};

/** @returns undefined where the provider has no field for what is wanted: the model is asked for it in words. */
function writeOutputFormat(
	conversation: Conversation,
	model: ClaudeModel,
	{ system }: TurnList,
	warnings: RequestWarnings,
): JsonObject | undefined {
	const format = conversation.outputFormat();
	switch (format?.kind) {
		case undefined:
			return undefined;
		case 'json':
			warnings.add(format.field, 'json_object is asked for in the system prompt only');
			system.push({ type: 'text', text: 'Answer with a single JSON object and nothing else.' });
			return undefined;
		case 'schema':
			requireSchemaTaken(format.field, model);
			return { type: 'json_schema', schema: closedSchema(format.schema) };
	}
}

function writeOutputConfig(effort: string | undefined, format: JsonObject | undefined): JsonObject {
	if (effort === undefined && format === undefined) return {};
	return { output_config: { ...(effort !== undefined && { effort }), ...(format !== undefined && { format }) } };
}

interface WrittenTools {
	/** To be spread into the request. */
	readonly members: JsonObject;
	/** The model may not respond without a call. */
	readonly isForced: boolean;
}

function writeTools(conversation: Conversation, turns: TurnList): WrittenTools {
	const defined = requireFunctions(conversation.tools());
	if (defined.length === 0) return { members: toolsOfHistory(turns), isForced: false };
	const choice = conversation.toolChoice();
	const { named, allowed } = choice;
	const offered = named !== undefined || allowed === undefined ? defined : defined.filter(({ name }) => allowed.includes(name));
	return { members: { tools: offered.map(toolOf), ...writeToolChoice(choice) }, isForced: choice.mode === 'required' };
}

/** A history of calls without a definition is rejected; those made up for it must not be called. */
function toolsOfHistory({ calledTools }: TurnList): JsonObject {
	if (calledTools.length === 0) return {};
	const tools = calledTools.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
	return { tools, tool_choice: { type: 'none' } };
}

function toolOf({ name, description, parameters, isStrict, cacheMark }: FunctionTool): JsonObject {
	const schema = objectSchema(parameters ?? { type: 'object', properties: {} });
	return {
		name,
		...(description !== undefined && { description }),
		input_schema: isStrict === true ? closedSchema(schema) : schema,
		...(isStrict === true && { strict: true }),
		...writeCacheMark(cacheMark),
	};
}

/** The provider demands that the root says what it is. */
function objectSchema(schema: JsonObject): JsonObject {
	return schema.type === 'object' ? schema : { ...schema, type: 'object' };
}

function writeToolChoice({ mode = 'auto', named, isSingle }: ToolChoice): JsonObject {
	if (mode === 'none') return { tool_choice: { type: 'none' } };
	if (mode === 'auto' && !isSingle) return {};
	const choice = named === undefined ? { type: mode === 'auto' ? 'auto' : 'any' } : { type: 'tool', name: named };
	return { tool_choice: { ...choice, ...(isSingle && { disable_parallel_tool_use: true }) } };
}

/** From here on `top_p` is as good as none. */
const defaultTopP = 0.99;

/**
 * `temperature` and `top_p`: at most one of them, for some models reject both together, and none where the model takes
 * no sampling or is asked to think.
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
	if (isTopPMeant) warnings.add(topP.field, 'ignored beside temperature');
	const { field, value } = temperature;
	const { temperatureMax: max } = model;
	if (value > max) warnings.add(field, `lowered from ${value} to ${max}`);
	return { temperature: Math.min(value, max) };
}

function writeStops(conversation: Conversation, model: ClaudeModel, warnings: RequestWarnings): JsonObject {
	const { field, value } = conversation.stops();
	if (value.some(isBlank)) warnings.add(field, 'blank sequences ignored');
	const stops = takenStops({ field, value: value.filter((stop) => !isBlank(stop)) }, model, warnings);
	return stops.length === 0 ? {} : { stop_sequences: stops };
}

function writeUser(id: string | undefined): JsonObject {
	return id === undefined ? {} : { metadata: { user_id: id } };
}

function writeTier(tier: ReturnType<Conversation['serviceTier']>, warnings: RequestWarnings): JsonObject {
	switch (tier) {
		case undefined:
			return {};
		case 'auto':
			return { service_tier: 'auto' };
		case 'standard':
			return { service_tier: 'standard_only' };
		case 'other':
			warnings.add('service_tier', 'ignored');
			return {};
	}
}
