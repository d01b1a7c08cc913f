import type { Capability, Conversation, NumberSetting, OutputFormat, ToolChoice } from '../../conversation/conversation.ts';
import { requireFunctions } from '../../conversation/function-tools.ts';
import { requireSchemaTaken, requireStopCount, takenSampling, takenStops } from '../../conversation/model-limits.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWriter, TranslationTarget } from '../../conversation/request-translation.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { type GeminiModel, geminiModelOf } from './model.ts';
import { writeTurns } from './request-contents.ts';
import { thinkingConfig } from './thinking.ts';
import { geminiToolName } from './tool-names.ts';

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

/** Writes requests for Gemini's own `generateContent`. */
export const geminiRequestWriter: RequestWriter = {
	takes,
	write(conversation, target, warnings) {
		const model = geminiModelOf(target);
		if (conversation.serviceTier() === 'other') warnings.add('service_tier', 'ignored');
		const { instructions, contents } = writeTurns(conversation.turns(), model, warnings);
		const tools = writeTools(conversation, warnings);
		const format = writeOutputFormat(conversation.outputFormat(), model);
		const reasoning = conversation.reasoning();
		const thinking = reasoning === undefined ? undefined : thinkingConfig(reasoning, model, warnings);
		const config = {
			...writeCap(conversation, target),
			...writeNumbers(conversation, model, warnings),
			...writeStops(conversation, model, warnings),
			...writeCandidates(conversation),
			...format,
			...(thinking !== undefined && { thinkingConfig: thinking }),
		};
		const body = {
			...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
			contents,
			...tools,
			...(Object.keys(config).length > 0 && { generationConfig: config }),
		};
		return { body };
	},
};

function writeTools(conversation: Conversation, warnings: RequestWarnings): JsonObject {
	const defined = requireFunctions(conversation.tools());
	if (defined.length === 0) return {};
	const choice = conversation.toolChoice();
	const { mode, allowed, isSingle, singleField } = choice;
	if (isSingle) warnings.add(singleField, 'ignored because the model may always call several tools');
	// Which may be called can be said only where one must be.
	const offered = mode === 'required' || allowed === undefined ? defined : defined.filter(({ name }) => allowed.includes(name));
	const functionDeclarations = offered.map(({ name, description, parameters, isStrict }) => {
		if (isStrict === true) warnings.add('strict', 'ignored, for the provider does not enforce the schemas of tools');
		return {
			name: geminiToolName(name),
			...(description !== undefined && { description }),
			...(parameters !== undefined && { parametersJsonSchema: parameters }),
		};
	});
	return { tools: [{ functionDeclarations }], ...callingConfig(choice) };
}

function callingConfig({ mode, allowed }: ToolChoice): JsonObject {
	switch (mode) {
		case undefined:
		case 'auto':
			return {};
		case 'none':
			return { toolConfig: { functionCallingConfig: { mode: 'NONE' } } };
		case 'required': {
			const names = allowed === undefined ? {} : { allowedFunctionNames: allowed.map(geminiToolName) };
			return { toolConfig: { functionCallingConfig: { mode: 'ANY', ...names } } };
		}
	}
}

function writeCap(conversation: Conversation, { maxOutputTokens: max, defaultMaxTokens: usual }: TranslationTarget): JsonObject {
	const cap = conversation.outputCap(max)?.value ?? (usual === undefined ? undefined : Math.min(usual, max ?? usual));
	return cap === undefined ? {} : { maxOutputTokens: cap };
}

const numbers: readonly NumberSetting[] = ['temperature', 'topP', 'topK', 'seed', 'frequencyPenalty', 'presencePenalty'];
const maxSeed = 2 ** 31 - 1;

function writeNumbers(conversation: Conversation, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	const written: Record<string, number> = {};
	for (const name of numbers) {
		const asked = conversation.number(name);
		if (asked === undefined) continue;
		const value = takenNumber(name, asked, model, warnings);
		if (value !== undefined) written[name] = value;
	}
	return written;
}

/** The ranges are those of other vendors. */
function takenNumber(
	name: NumberSetting,
	asked: { readonly field: string; readonly value: number },
	model: GeminiModel,
	warnings: RequestWarnings,
): number | undefined {
	const { field, value } = asked;
	switch (name) {
		case 'temperature':
		case 'topP':
		case 'topK':
			return takenSampling(name, asked, model, warnings);
		case 'frequencyPenalty':
		case 'presencePenalty':
			// A penalty of nothing is rejected by models that know none.
			return value === 0 ? undefined : value;
		case 'seed':
			if (Number.isInteger(value) && Math.abs(value) <= maxSeed) return value;
			warnings.add(field, 'ignored, for it is no integer of 32 bits');
			return undefined;
	}
}

const maxStops = 5;

function writeStops(conversation: Conversation, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	const { field, value } = conversation.stops();
	const stops = takenStops({ field, value: value.filter((stop) => stop !== '') }, model, warnings);
	requireStopCount(field, stops, maxStops);
	return stops.length === 0 ? {} : { stopSequences: stops };
}

const maxCandidates = 8;

function writeCandidates(conversation: Conversation): JsonObject {
	const asked = conversation.candidates();
	if (asked === undefined || asked.value === 1) return {};
	const { field, value } = asked;
	if (!Number.isInteger(value) || value < 1 || value > maxCandidates) rejectField(field, `must be an integer of 1 to ${maxCandidates}`);
	return { candidateCount: value };
}

function writeOutputFormat(format: OutputFormat | undefined, model: GeminiModel): JsonObject {
	switch (format?.kind) {
		case undefined:
			return {};
		case 'json':
			return { responseMimeType: 'application/json' };
		case 'schema':
			requireSchemaTaken(format.field, model);
			return { responseMimeType: 'application/json', responseJsonSchema: format.schema };
	}
}
