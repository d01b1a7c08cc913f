import type { Conversation, OutputFormat, Tool, ToolChoice } from '../../conversation/conversation.ts';
import { fitName, maxToolNameLength } from '../../conversation/fit-name.ts';
import { rejectField } from '../../conversation/json-view.ts';
import { requireSchemaTaken, takenSampling } from '../../conversation/model-limits.ts';
import type { RequestWarnings, RequestWriter } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type ChatModel, chatModelOf } from '../chat/model.ts';
import { parametersOf, reasoningEffort, writeUser } from '../chat/request-writer.ts';
import { ItemList } from './request-messages.ts';

/** Writes requests for clients of other dialects. Nothing is stored, because the provider would keep it for weeks. */
export const responsesRequestWriter: RequestWriter = {
	takes: new Set(['customTools', 'fileLinks', 'instructionsAnywhere', 'openaiFields']),
	write(conversation, target, warnings) {
		const model = chatModelOf(target);
		const list = new ItemList(warnings, conversation.turnsField);
		conversation.readTurns((turn) => list.add(turn));
		requireNoStops(conversation);
		const { instructions, input } = list.finish();
		const openai = conversation.openai();
		const format = writeFormat(conversation.outputFormat(), model);
		const verbosity = openai?.verbosity?.value;
		const topLogprobs = openai?.topLogprobs;
		const body = {
			model: target.model,
			instructions,
			input,
			max_output_tokens: writeCap(conversation, target.maxOutputTokens, target.defaultMaxTokens, warnings),
			temperature: writeSampling('temperature', conversation, model, warnings),
			top_p: writeSampling('topP', conversation, model, warnings),
			...writeTools(conversation),
			reasoning: writeReasoning(conversation, model, warnings),
			text: (format ?? verbosity) === undefined ? undefined : { format, verbosity },
			include: writeInclude(model, topLogprobs !== undefined),
			top_logprobs: topLogprobs,
			store: false,
			...(openai?.shared ?? writeHints(conversation, warnings)),
			stream: conversation.isStreaming ? true : undefined,
		};
		return { body };
	},
};

/** The provider has no stop sequences, and its response would be longer than requested. */
function requireNoStops(conversation: Conversation): void {
	const { field, value } = conversation.stops();
	if (value.some((stop) => stop !== '')) rejectField(field, 'must be absent: this model’s provider has no stop sequences');
}

const minCap = 16;

function writeCap(
	conversation: Conversation,
	max: number | undefined,
	usual: number | undefined,
	warnings: RequestWarnings,
): number | undefined {
	const cap = conversation.outputCap(max);
	if (cap === undefined || cap.value >= minCap) return cap?.value ?? usual;
	warnings.add(cap.field, `raised to ${minCap}, the minimum of the model’s provider`);
	return minCap;
}

function writeSampling(
	name: 'temperature' | 'topP',
	conversation: Conversation,
	model: ChatModel,
	warnings: RequestWarnings,
): number | undefined {
	const requested = conversation.number(name);
	return requested && takenSampling(name, requested, model, warnings);
}

function writeTools(conversation: Conversation): JsonObject {
	const defined = conversation.tools();
	if (defined.length === 0) return {};
	const tools = defined.map(writeTool);
	const choice = conversation.toolChoice();
	return { tools, tool_choice: writeChoice(choice, defined), parallel_tool_calls: choice.isSingle ? false : undefined };
}

/** @throws `Rejection` `field_invalid` for a tool that only its own vendor supports. */
function writeTool(tool: Tool): JsonObject {
	if (tool.kind === 'function') {
		const { name, description, parameters, isStrict } = tool;
		const strict = isStrict ?? false;
		return { type: 'function', name: fitName(name, maxToolNameLength), description, parameters: parametersOf(parameters ?? {}), strict };
	}
	if (tool.custom === undefined) return rejectField(tool.at.path, tool.cure);
	const { name, description, grammar } = tool.custom;
	return { type: 'custom', name: fitName(name, maxToolNameLength), description, format: grammar && { type: 'grammar', ...grammar } };
}

function writeChoice({ mode, named, allowed }: ToolChoice, tools: readonly Tool[]): JsonObject | string | undefined {
	const custom = new Set(tools.flatMap((tool) => (tool.kind === 'vendor' ? (tool.custom?.name ?? []) : [])));
	const reference = (name: string): JsonObject => ({
		type: custom.has(name) ? 'custom' : 'function',
		name: fitName(name, maxToolNameLength),
	});
	if (named !== undefined) return reference(named);
	return allowed === undefined ? mode : { type: 'allowed_tools', mode, tools: allowed.map(reference) };
}

function writeReasoning(conversation: Conversation, model: ChatModel, warnings: RequestWarnings): JsonObject | undefined {
	const wanted = conversation.reasoning();
	// Tools exclude reasoning in chat completions only.
	const effort = reasoningEffort(wanted, model, false, warnings);
	const summary = wanted?.isVisible === true && canReason(model) && effort !== 'none' ? 'auto' : undefined;
	return (effort ?? summary) === undefined ? undefined : { effort, summary };
}

function canReason({ isOpenAI, takesSampling, efforts }: ChatModel): boolean {
	return isOpenAI && !takesSampling && efforts.length > 0;
}

function writeFormat(format: OutputFormat | undefined, model: ChatModel): JsonObject | undefined {
	switch (format?.kind) {
		case undefined:
			return undefined;
		case 'json':
			return { type: 'json_object' };
		case 'schema': {
			requireSchemaTaken(format.field, model);
			const { name, description, strict = false } = format.label ?? { name: 'output', description: undefined, strict: true };
			return { type: 'json_schema', name, description, strict, schema: format.schema };
		}
	}
}

/** Encrypted reasoning returns with the next turn, because the provider stores none. */
function writeInclude(model: ChatModel, wantsLogprobs: boolean): readonly string[] | undefined {
	const include = [
		...(canReason(model) ? ['reasoning.encrypted_content'] : []),
		...(wantsLogprobs ? ['message.output_text.logprobs'] : []),
	];
	return include.length === 0 ? undefined : include;
}

function writeHints(conversation: Conversation, warnings: RequestWarnings): JsonObject {
	const tier = conversation.serviceTier();
	if (tier === 'other') warnings.add('service_tier', 'ignored');
	return {
		safety_identifier: writeUser(conversation.userId()),
		service_tier: tier === 'standard' ? 'default' : tier === 'auto' ? tier : undefined,
	};
}
