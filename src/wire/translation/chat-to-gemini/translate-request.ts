import { geminiToolName } from '../../dialects/gemini/tool-names.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type ChatTools, readTools } from '../chat/chat-tools.ts';
import { judgeOtherFields } from '../chat/other-fields.ts';
import { type GeminiModel, geminiModelOf } from '../gemini/gemini-model.ts';
import { isKnownEffort, thinkingConfig } from '../gemini/thinking-config.ts';
import { requireSchemaTaken, takenSampling, takenStops } from '../model-limits.ts';
import { refuseField } from '../refuse-field.ts';
import { RequestWarnings } from '../request-warnings.ts';
import type { TranslatedRequest, TranslationTarget } from '../translation.ts';
import { translateMessages } from './translate-messages.ts';

/** Fields that this provider knows beside those that every one does. */
const translated: ReadonlySet<string> = new Set(['n', 'seed', 'frequency_penalty', 'presence_penalty']);

/** @throws Refusal `field_invalid`. */
export function translateRequest(request: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const model = geminiModelOf(target);
	judgeOtherFields(request, warnings, translated);
	const { service_tier } = request;
	if (isGiven(service_tier) && service_tier !== 'auto' && service_tier !== 'default') warnings.add('service_tier', 'ignored');
	const contents = translateMessages(request.messages, warnings);
	const tools = readTools(request);
	const effort = effortOf(request);
	const thinking = thinkingConfig({ field: 'reasoning_effort', effort, isShown: effort !== undefined }, model, warnings);
	const config = {
		...outputCap(request, target, warnings),
		...sampling(request, model, warnings),
		...stopSequences(request.stop, model, warnings),
		...candidateCount(request.n),
		...outputFormat(request.response_format, model),
		...(thinking !== undefined && { thinkingConfig: thinking }),
	};
	const turns = contents.finish(model, warnings);
	const body = {
		...(contents.instructions.length > 0 && { systemInstruction: { parts: contents.instructions } }),
		contents: turns,
		...(tools !== undefined && toolMembers(tools, warnings)),
		...(Object.keys(config).length > 0 && { generationConfig: config }),
	};
	return { body, warnings: warnings.list() };
}

function toolMembers(tools: ChatTools, warnings: RequestWarnings): JsonObject {
	const { defined, allowed, choice, isSingle } = tools;
	if (isSingle && choice !== 'none') warnings.add('parallel_tool_calls', 'ignored because the model may always call several tools');
	// Which may be called can be said only where one must be.
	const offered = choice === 'required' ? defined : allowed;
	const functionDeclarations = offered.map(({ name, description, parameters, isStrict }) => {
		if (isStrict) warnings.add('strict', 'ignored, for the provider does not enforce the schemas of tools');
		return {
			name: geminiToolName(name),
			...(description !== undefined && { description }),
			...(parameters !== undefined && { parametersJsonSchema: parameters }),
		};
	});
	return { tools: [{ functionDeclarations }], ...callingConfig(tools) };
}

function callingConfig({ defined, allowed, choice }: ChatTools): JsonObject {
	if (choice === 'auto') return {};
	if (choice === 'none') return { toolConfig: { functionCallingConfig: { mode: 'NONE' } } };
	const isAny = allowed.length === defined.length;
	const names = allowed.map(({ name }) => geminiToolName(name));
	return { toolConfig: { functionCallingConfig: { mode: 'ANY', ...(!isAny && { allowedFunctionNames: names }) } } };
}

function effortOf({ reasoning_effort }: JsonObject): string | undefined {
	if (!isGiven(reasoning_effort)) return undefined;
	if (isKnownEffort(reasoning_effort)) return reasoning_effort;
	return refuseField('reasoning_effort', 'must be one of none, minimal, low, medium, high, xhigh, max');
}

function outputCap(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject {
	const { maxOutputTokens: most, defaultMaxTokens: usual } = target;
	const name = isGiven(request.max_completion_tokens) ? 'max_completion_tokens' : 'max_tokens';
	const wanted = request[name];
	if (!isGiven(wanted)) return usual === undefined ? {} : { maxOutputTokens: Math.min(usual, most ?? usual) };
	if (!Number.isInteger(wanted) || Number(wanted) < 1) return refuseField(name, 'must be an integer of at least 1');
	if (most === undefined || Number(wanted) <= most) return { maxOutputTokens: wanted };
	warnings.add(name, `lowered to ${most}`);
	return { maxOutputTokens: most };
}

/** Both vendors have the same ranges. */
const sampled = [
	['temperature', 'temperature'],
	['top_p', 'topP'],
	['seed', 'seed'],
	['frequency_penalty', 'frequencyPenalty'],
	['presence_penalty', 'presencePenalty'],
] as const;

const mostSeed = 2 ** 31 - 1;

function sampling(request: JsonObject, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	const taken: Record<string, unknown> = {};
	for (const [name, theirs] of sampled) {
		const value = request[name];
		if (!isGiven(value)) continue;
		if (typeof value !== 'number') return refuseField(name, 'must be a number');
		// A penalty of nothing is refused by models that know none.
		if (value === 0 && name.endsWith('_penalty')) continue;
		if (name === 'seed' && !(Number.isInteger(value) && Math.abs(value) <= mostSeed)) {
			warnings.add('seed', 'ignored, for it is no integer of 32 bits');
			continue;
		}
		const given = name === 'temperature' || name === 'top_p' ? takenSampling(name, value, model, warnings) : value;
		if (given !== undefined) taken[theirs] = given;
	}
	return taken;
}

const mostStops = 5;

function stopSequences(stop: unknown, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	if (!isGiven(stop)) return {};
	const list: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
	for (const [index, one] of list.entries()) {
		if (typeof one !== 'string') refuseField(Array.isArray(stop) ? `stop[${index}]` : 'stop', 'must be a string');
	}
	const kept = takenStops(
		'stop',
		list.filter((one) => one !== ''),
		model,
		warnings,
	);
	if (kept.length > mostStops) refuseField('stop', `must hold at most ${mostStops} for the model’s provider`);
	return kept.length === 0 ? {} : { stopSequences: kept };
}

const mostCandidates = 8;

function candidateCount(n: unknown): JsonObject {
	if (!isGiven(n) || n === 1) return {};
	if (!Number.isInteger(n) || Number(n) < 1 || Number(n) > mostCandidates) {
		return refuseField('n', `must be an integer of 1 to ${mostCandidates}`);
	}
	return { candidateCount: n };
}

function outputFormat(format: unknown, model: GeminiModel): JsonObject {
	if (!isGiven(format)) return {};
	const { type, json_schema } = isJsonObject(format) ? format : {};
	switch (type) {
		case 'text':
			return {};
		case 'json_object':
			return { responseMimeType: 'application/json' };
		case 'json_schema': {
			const schema = isJsonObject(json_schema) ? json_schema.schema : undefined;
			requireSchemaTaken('response_format', model);
			if (!isJsonObject(schema)) return refuseField('response_format.json_schema.schema', 'must be a JSON schema as an object');
			return { responseMimeType: 'application/json', responseJsonSchema: schema };
		}
		default:
			return refuseField('response_format.type', 'must be `text`, `json_object` or `json_schema`');
	}
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
