import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import { RequestWarnings } from '../request-warnings.ts';
import { sha256Hex } from '../sha256.ts';
import type { TranslatedRequest, TranslationTarget } from '../translation.ts';
import { type ChatModel, chatModel } from './chat-model.ts';
import { type ChatPart, contentOf, objectAt, stringAt, textParts } from './content-parts.ts';
import { reasoningEffort } from './reasoning-effort.ts';
import { translateToolChoice, translateTools } from './translate-tools.ts';
import { translateTurns } from './translate-turns.ts';

/** Fields that `translateRequest` reads, or that mean nothing outside their vendor. */
const read: ReadonlySet<string> = new Set([
	'model',
	'messages',
	'system',
	'max_tokens',
	'stop_sequences',
	'temperature',
	'top_p',
	'stream',
	'tools',
	'tool_choice',
	'thinking',
	'output_config',
	'output_format',
	'metadata',
	'service_tier',
	'cache_control',
	'betas',
]);

/** Whose loss would change what is asked for. */
const refused: ReadonlySet<string> = new Set(['mcp_servers', 'thread']);

const mostStops = 4;
/** OpenAI refuses longer names of users. */
const longestUser = 64;

export function translateRequest(members: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const model = chatModel(target.model);
	checkOthers(members, warnings);
	const tools = Array.isArray(members.tools) ? translateTools(members.tools) : [];
	const effort = reasoningEffort(members, model, tools.length > 0, warnings);
	const isStream = members.stream === true;
	const body = {
		model: target.model,
		messages: [...translateSystem(members.system, model), ...translateTurns(listAt(members.messages), model, warnings)],
		[model.capMember]: outputCap(members.max_tokens, target.maxOutputTokens, warnings),
		...translateStops(members.stop_sequences, model, warnings),
		...translateSampling(members, model, warnings),
		...(tools.length > 0 && { tools, ...translateToolChoice(members.tool_choice, model.takesParallelFlag) }),
		...(effort !== undefined && { reasoning_effort: effort }),
		...translateOutputFormat(members, warnings),
		...translateUser(members.metadata),
		...translateTier(members.service_tier, warnings),
		...(isStream && { stream: true, stream_options: { include_usage: true } }),
	};
	return { body, warnings: warnings.list() };
}

function checkOthers(members: JsonObject, warnings: RequestWarnings): void {
	for (const name in members) {
		const value = members[name];
		if (read.has(name) || value === null || value === undefined) continue;
		if (!refused.has(name)) warnings.add(name, 'ignored');
		else if (!Array.isArray(value) || value.length > 0) refuseField(name, 'has no equivalent at the model’s provider: leave it out');
	}
	const { thinking } = members;
	if (isJsonObject(thinking) && thinking.type === 'between_tools') warnings.add('thinking', 'ignored');
}

function translateSystem(system: unknown, model: ChatModel): readonly JsonObject[] {
	if (system === undefined || system === null) return [];
	const parts = typeof system === 'string' ? textParts(system) : systemBlocks(system);
	return parts.length === 0 ? [] : [{ role: model.instructionRole, content: contentOf(parts, model.takesTextParts) }];
}

function systemBlocks(system: unknown): readonly ChatPart[] {
	if (!Array.isArray(system)) return refuseField('system', 'must be a string or an array of text blocks');
	return system.flatMap((block: unknown, index) => {
		const { type, text } = objectAt(block, `system[${index}]`);
		if (type !== 'text') refuseField(`system[${index}].type`, 'must be `text`');
		return textParts(stringAt(text, `system[${index}].text`));
	});
}

function outputCap(asked: unknown, most: number | undefined, warnings: RequestWarnings): number {
	if (!Number.isInteger(asked) || Number(asked) < 0) return refuseField('max_tokens', 'must be an integer of at least 1');
	if (asked === 0) refuseField('max_tokens', 'must be at least 1: the model’s provider cannot fill a prompt cache without answering');
	if (most === undefined || Number(asked) <= most) return Number(asked);
	warnings.add('max_tokens', `lowered to ${most} as the most that the model can write`);
	return most;
}

function translateStops(stops: unknown, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const list = listAt(stops);
	if (list.length === 0) return {};
	for (const [index, stop] of list.entries()) stringAt(stop, `stop_sequences[${index}]`);
	if (!model.takesStop) {
		warnings.add('stop_sequences', 'ignored because the model takes none');
		return {};
	}
	if (list.length > mostStops) refuseField('stop_sequences', `must hold at most ${mostStops} for the model’s provider`);
	return { stop: list };
}

function translateSampling(members: JsonObject, model: ChatModel, warnings: RequestWarnings): JsonObject {
	const taken: Record<string, unknown> = {};
	for (const name of ['temperature', 'top_p']) {
		const value = members[name];
		if (typeof value !== 'number') continue;
		if (model.takesSampling) taken[name] = value;
		else if (value !== 1) warnings.add(name, 'ignored because the model takes the default alone');
	}
	return taken;
}

function translateOutputFormat({ output_config, output_format }: JsonObject, warnings: RequestWarnings): JsonObject {
	const config = isJsonObject(output_config) ? output_config : {};
	for (const name in config) if (name !== 'effort' && name !== 'format') warnings.add(`output_config.${name}`, 'ignored');
	const path = isJsonObject(config.format) ? 'output_config.format' : 'output_format';
	// The older name, under which betas had it.
	const format = config.format ?? output_format;
	if (format === undefined || format === null) return {};
	const { type, schema } = objectAt(format, path);
	if (type !== 'json_schema') refuseField(`${path}.type`, 'must be `json_schema`');
	return {
		response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema: objectAt(schema, `${path}.schema`) } },
	};
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

function listAt(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
