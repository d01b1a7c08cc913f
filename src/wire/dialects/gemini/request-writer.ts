import {
	type Capability,
	type Conversation,
	type Effort,
	efforts,
	type NumberSetting,
	type ReasoningSetting,
	type ToolChoice,
} from '../../conversation/conversation.ts';
import { rejectField } from '../../conversation/json-view.ts';
import { requireFunctions, requireSchemaTaken, requireStopCount, takenSampling, takenStops } from '../../conversation/model-limits.ts';
import type { RequestWarnings, RequestWriter, TranslationTarget } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type GeminiModel, geminiModelOf, geminiToolName } from './model.ts';
import { Contents } from './request-contents.ts';

const takes: ReadonlySet<Capability> = new Set([
	'audio',
	'candidates',
	'fileLinks',
	'frequencyPenalty',
	'instructionsAnywhere',
	'presencePenalty',
	'seed',
	'topK',
] satisfies readonly Capability[]);

export const geminiRequestWriter: RequestWriter = {
	takes,
	write(conversation, target, warnings) {
		const model = geminiModelOf(target);
		if (conversation.serviceTier() === 'other') warnings.add('service_tier', 'ignored');
		const turns = new Contents(model, warnings, conversation.turnsField);
		conversation.readTurns((turn) => turns.add(turn));
		const { instructions } = turns;
		const contents = turns.finish();
		const { tools, toolConfig } = writeTools(conversation, warnings);
		const format = conversation.outputFormat();
		if (format?.kind === 'schema') requireSchemaTaken(format.field, model);
		const reasoning = conversation.reasoning();
		const thinking = reasoning && thinkingConfig(reasoning, model, warnings);
		const config = {
			maxOutputTokens: writeCap(conversation, target),
			...writeNumbers(conversation, model, warnings),
			stopSequences: writeStops(conversation, model, warnings),
			candidateCount: writeCandidates(conversation),
			responseMimeType: format && 'application/json',
			responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
			thinkingConfig: thinking,
		};
		const body = {
			systemInstruction: instructions.length > 0 ? { parts: instructions } : undefined,
			contents,
			tools,
			toolConfig,
			generationConfig: Object.values(config).some((value) => value !== undefined) ? config : undefined,
		};
		return { body };
	},
};

function writeTools(conversation: Conversation, warnings: RequestWarnings): JsonObject {
	const defined = requireFunctions(conversation.tools());
	if (defined.length === 0) return {};
	const choice = conversation.toolChoice();
	const { mode, allowed, isSingle, singleField } = choice;
	if (isSingle) warnings.add(singleField, 'ignored because the model can always call several tools');
	// Allowed tools can be listed only if a call is required; otherwise the other tools are omitted.
	const offered = mode === 'required' || allowed === undefined ? defined : defined.filter(({ name }) => allowed.includes(name));
	const functionDeclarations = offered.map(({ name, description, parameters, isStrict }) => {
		if (isStrict === true) warnings.add('strict', 'ignored because the provider does not enforce tool schemas');
		return {
			name: geminiToolName(name),
			description,
			parametersJsonSchema: parameters,
		};
	});
	return { tools: [{ functionDeclarations }], toolConfig: callingConfig(choice) };
}

function callingConfig({ mode, allowed }: ToolChoice): JsonObject | undefined {
	switch (mode) {
		case undefined:
		case 'auto':
			return undefined;
		case 'none':
			return { functionCallingConfig: { mode: 'NONE' } };
		case 'required':
			return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: allowed?.map(geminiToolName) } };
	}
}

function writeCap(conversation: Conversation, { maxOutputTokens: max, defaultMaxTokens: usual }: TranslationTarget): number | undefined {
	return conversation.outputCap(max)?.value ?? (usual === undefined ? undefined : Math.min(usual, max ?? usual));
}

const numbers: readonly NumberSetting[] = ['temperature', 'topP', 'topK', 'seed', 'frequencyPenalty', 'presencePenalty'];
const maxSeed = 2 ** 31 - 1;

function writeNumbers(conversation: Conversation, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	const written: Record<string, number> = {};
	for (const name of numbers) {
		const requested = conversation.number(name);
		if (requested === undefined) continue;
		const value = takenNumber(name, requested, model, warnings);
		if (value !== undefined) written[name] = value;
	}
	return written;
}

/** The ranges are those of other vendors. */
function takenNumber(
	name: NumberSetting,
	requested: { readonly field: string; readonly value: number },
	model: GeminiModel,
	warnings: RequestWarnings,
): number | undefined {
	const { field, value } = requested;
	switch (name) {
		case 'temperature':
		case 'topP':
		case 'topK':
			return takenSampling(name, requested, model, warnings);
		case 'frequencyPenalty':
		case 'presencePenalty':
			// Models without penalties reject even a penalty of 0.
			return value === 0 ? undefined : value;
		case 'seed':
			if (Number.isInteger(value) && Math.abs(value) <= maxSeed) return value;
			warnings.add(field, 'ignored because it is not a 32-bit integer');
			return undefined;
	}
}

const maxStops = 5;

function writeStops(conversation: Conversation, model: GeminiModel, warnings: RequestWarnings): readonly string[] | undefined {
	const { field, value } = conversation.stops();
	const stops = takenStops({ field, value: value.filter((stop) => stop !== '') }, model, warnings);
	requireStopCount(field, stops, maxStops);
	return stops.length === 0 ? undefined : stops;
}

const maxCandidates = 8;

function writeCandidates(conversation: Conversation): number | undefined {
	const requested = conversation.candidates();
	if (requested === undefined || requested.value === 1) return undefined;
	const { field, value } = requested;
	if (!Number.isInteger(value) || value < 1 || value > maxCandidates) rejectField(field, `must be an integer of 1 to ${maxCandidates}`);
	return value;
}

/** Values of Google's own layer for chat completions. */
const budgets: Readonly<Record<string, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 };
/** Operators may configure levels outside this list. */
const ladder: readonly string[] = efforts;

/** @returns undefined for the model's default. */
function thinkingConfig(requested: ReasoningSetting, model: GeminiModel, warnings: RequestWarnings): JsonObject | undefined {
	const wanted = { ...requested, effort: knownEffort(requested, warnings) };
	const { field, effort, budget, isVisible } = wanted;
	if (effort === undefined && budget === undefined && !isVisible) return undefined;
	if (model.thinking === 'none') {
		if (effort !== 'none') warnings.add(field, 'ignored because the model does not reason');
		return undefined;
	}
	const shown = isVisible && effort !== 'none' ? { includeThoughts: true } : {};
	return { ...(model.thinking === 'budget' ? byBudget(wanted, model, warnings) : byLevel(wanted, model, warnings)), ...shown };
}

interface WantedThinking extends Pick<ReasoningSetting, 'field' | 'budget'> {
	readonly effort: Effort | undefined;
}

function knownEffort({ effort, effortField }: ReasoningSetting, warnings: RequestWarnings): Effort | undefined {
	if (effort !== 'unknown') return effort;
	warnings.add(effortField, 'ignored because the value is unknown');
	return undefined;
}

function byBudget({ field, effort, budget }: WantedThinking, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	if (effort === 'none') {
		if (model.canDisableThinking) return { thinkingBudget: 0 };
		warnings.add(field, `sent as ${model.minBudget} tokens, the minimum of the model`);
		return { thinkingBudget: model.minBudget };
	}
	const requested = budget ?? (effort === undefined ? undefined : budgets[effort]);
	if (requested === undefined) return {};
	const given = Math.min(Math.max(requested, model.minBudget), model.maxBudget);
	if (budget !== undefined && given !== budget) warnings.add(field, `sent as ${given} tokens, the nearest value that the model accepts`);
	return { thinkingBudget: given };
}

function byLevel({ field, effort, budget }: WantedThinking, { levels }: GeminiModel, warnings: RequestWarnings): JsonObject {
	const [min] = levels;
	const requested = effort === 'none' ? 'minimal' : (effort ?? (budget === undefined ? undefined : levelOfBudget(budget)));
	if (requested === undefined || min === undefined) return {};
	const reachable = levels.filter((level) => ladder.indexOf(level) <= ladder.indexOf(requested));
	const level = reachable.at(-1) ?? min;
	if (effort !== undefined && level !== effort) warnings.add(field, `sent as ${level}, the nearest value that the model accepts`);
	return { thinkingLevel: level };
}

function levelOfBudget(budget: number): string {
	if (budget <= 2048) return 'low';
	return budget <= 8192 ? 'medium' : 'high';
}
