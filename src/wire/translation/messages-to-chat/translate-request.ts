import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { judgeOtherFields, listAt, objectAt, outputCap, outputSchema, stopSequences, stringAt } from '../messages/fields.ts';
import { requireSchemaTaken, takenSampling, takenStops } from '../model-limits.ts';
import { refuseField } from '../refuse-field.ts';
import { RequestWarnings } from '../request-warnings.ts';
import { sha256Hex } from '../sha256.ts';
import type { TranslatedRequest, TranslationTarget } from '../translation.ts';
import { type ChatModel, chatModelOf } from './chat-model.ts';
import { type ChatPart, contentOf, textParts } from './content-parts.ts';
import { reasoningEffort } from './reasoning-effort.ts';
import { translateToolChoice, translateTools } from './translate-tools.ts';
import { translateTurns } from './translate-turns.ts';

const mostStops = 4;
/** OpenAI refuses longer names of users. */
const longestUser = 64;

export function translateRequest(members: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	return { body: chatRequest(members, target, chatModelOf(target), warnings), warnings: warnings.list() };
}

export function chatRequest(members: JsonObject, target: TranslationTarget, model: ChatModel, warnings: RequestWarnings): JsonObject {
	judgeOtherFields(members, warnings);
	const tools = Array.isArray(members.tools) ? translateTools(members.tools) : [];
	const effort = reasoningEffort(members, model, tools.length > 0, warnings);
	const isStream = members.stream === true;
	return {
		model: target.model,
		messages: [...translateSystem(members.system, model), ...translateTurns(listAt(members.messages), model, warnings)],
		[model.tokenParam]: outputCap(members.max_tokens, target.maxOutputTokens, warnings),
		...translateStops(members.stop_sequences, model, warnings),
		...translateSampling(members, model, warnings),
		...(tools.length > 0 && { tools, ...translateToolChoice(members.tool_choice, model.takesParallelFlag) }),
		...(effort !== undefined && { reasoning_effort: effort }),
		...translateOutputFormat(outputSchema(members, warnings), model),
		...translateUser(members.metadata),
		...translateTier(members.service_tier, warnings),
		...(isStream && { stream: true, stream_options: { include_usage: true } }),
	};
}

function translateSystem(system: unknown, model: ChatModel): readonly JsonObject[] {
	if (system === undefined || system === null) return [];
	const parts = typeof system === 'string' ? textParts(system) : systemBlocks(system);
	return parts.length === 0 ? [] : [{ role: model.systemRole, content: contentOf(parts, model.takesTextParts) }];
}

function systemBlocks(system: unknown): readonly ChatPart[] {
	if (!Array.isArray(system)) return refuseField('system', 'must be a string or an array of text blocks');
	return system.flatMap((block: unknown, index) => {
		const { type, text } = objectAt(block, `system[${index}]`);
		if (type !== 'text') refuseField(`system[${index}].type`, 'must be `text`');
		return textParts(stringAt(text, `system[${index}].text`));
	});
}

function translateStops(stops: unknown, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const list = takenStops('stop_sequences', stopSequences(stops), model, warnings);
	if (list.length === 0) return {};
	if (list.length > mostStops) refuseField('stop_sequences', `must hold at most ${mostStops} for the model’s provider`);
	return { stop: list };
}

function translateSampling(members: JsonObject, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const taken: Record<string, unknown> = {};
	for (const name of ['temperature', 'top_p']) {
		const value = members[name];
		const given = typeof value === 'number' ? takenSampling(name, value, model, warnings) : undefined;
		if (given !== undefined) taken[name] = given;
	}
	return taken;
}

function translateOutputFormat(schema: JsonObject | undefined, model: ChatModel): JsonObject {
	if (schema === undefined) return {};
	requireSchemaTaken('output_config.format', model);
	return { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema } } };
}

/** Some clients put a whole JSON text there. */
function translateUser(metadata: unknown): JsonObject {
	const id = isJsonObject(metadata) ? metadata.user_id : undefined;
	if (typeof id !== 'string' || id === '') return {};
	return { user: id.length <= longestUser ? id : sha256Hex(id) };
}

function translateTier(tier: unknown, warnings: RequestWarnings): JsonObject {
	if (tier === undefined || tier === null) return {};
	if (tier === 'auto') return { service_tier: 'auto' };
	if (tier === 'standard_only') return { service_tier: 'default' };
	warnings.add('service_tier', 'ignored');
	return {};
}
