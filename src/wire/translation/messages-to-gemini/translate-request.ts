import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { type GeminiModel, geminiModelOf } from '../gemini/gemini-model.ts';
import { isKnownEffort, thinkingConfig } from '../gemini/thinking-config.ts';
import { judgeOtherFields, outputCap, outputSchema, stopSequences } from '../messages/fields.ts';
import { requireSchemaTaken, takenSampling, takenStops } from '../model-limits.ts';
import { refuseField } from '../refuse-field.ts';
import { RequestWarnings } from '../request-warnings.ts';
import type { TranslatedRequest, TranslationTarget } from '../translation.ts';
import { translateTools } from './translate-tools.ts';
import { translateConversation } from './translate-turns.ts';

/** Fields that this provider knows beside those that every one does. */
const translated: ReadonlySet<string> = new Set(['top_k']);

const mostStops = 5;

/** @throws Refusal `field_invalid`. */
export function translateRequest(members: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const model = geminiModelOf(target);
	judgeOtherFields(members, warnings, translated);
	const { service_tier } = members;
	if (typeof service_tier === 'string' && service_tier !== 'auto' && service_tier !== 'standard_only') {
		warnings.add('service_tier', 'ignored');
	}
	const contents = translateConversation(members, warnings);
	const tools = translateTools(members, warnings);
	const schema = outputSchema(members, warnings);
	if (schema !== undefined) requireSchemaTaken('output_config.format', model);
	const thinking = translateThinking(members, model, warnings);
	const turns = contents.finish(model, warnings);
	const body = {
		...(contents.instructions.length > 0 && { systemInstruction: { parts: contents.instructions } }),
		contents: turns,
		...tools,
		generationConfig: {
			maxOutputTokens: outputCap(members.max_tokens, target.maxOutputTokens, warnings),
			...sampling(members, model, warnings),
			...translateStops(members.stop_sequences, model, warnings),
			...(schema !== undefined && { responseMimeType: 'application/json', responseJsonSchema: schema }),
			...(thinking !== undefined && { thinkingConfig: thinking }),
		},
	};
	return { body, warnings: warnings.list() };
}

const sampled = { temperature: 'temperature', top_p: 'topP', top_k: 'topK' } as const;

function sampling(members: JsonObject, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	const taken: Record<string, number> = {};
	for (const [name, theirs] of Object.entries(sampled)) {
		const value = members[name];
		const given = typeof value === 'number' ? takenSampling(name, value, model, warnings) : undefined;
		if (given !== undefined) taken[theirs] = given;
	}
	return taken;
}

function translateStops(stops: unknown, model: GeminiModel, warnings: RequestWarnings): JsonObject {
	const list = takenStops('stop_sequences', stopSequences(stops), model, warnings);
	if (list.length > mostStops) refuseField('stop_sequences', `must hold at most ${mostStops} for the model’s provider`);
	return list.length === 0 ? {} : { stopSequences: list };
}

function translateThinking({ thinking, output_config }: JsonObject, model: GeminiModel, warnings: RequestWarnings): JsonObject | undefined {
	const { type, budget_tokens, display } = isJsonObject(thinking) ? thinking : {};
	const field = type === undefined ? 'output_config.effort' : 'thinking';
	if (type === 'disabled') return thinkingConfig({ field, effort: 'none', isShown: false }, model, warnings);
	const asked = isJsonObject(output_config) ? output_config.effort : undefined;
	const effort = isKnownEffort(asked) && asked !== 'none' ? asked : undefined;
	if (asked !== undefined && asked !== null && effort === undefined) {
		warnings.add('output_config.effort', 'ignored because it is not known');
	}
	const isAsked = type === 'enabled' || type === 'adaptive';
	const budget = type === 'enabled' && typeof budget_tokens === 'number' ? budget_tokens : undefined;
	return thinkingConfig({ field, effort, budget, isShown: isAsked && display !== 'omitted' }, model, warnings);
}
