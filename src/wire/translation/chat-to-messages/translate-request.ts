import type { JsonObject } from '../../json/parse-body.ts';
import { judgeOtherFields } from '../chat/other-fields.ts';
import { refuseField } from '../refuse-field.ts';
import { RequestWarnings } from '../request-warnings.ts';
import type { TranslatedRequest, TranslationTarget } from '../translation.ts';
import { claudeModelOf } from './claude-model.ts';
import { translateMaxTokens } from './max-tokens.ts';
import { translateOutputFormat } from './output-format.ts';
import { translateMessages } from './translate-messages.ts';
import { translateSampling, translateStop } from './translate-sampling.ts';
import { translateThinking } from './translate-thinking.ts';
import { translateTools } from './translate-tools.ts';

/** @throws Refusal `field_invalid`. */
export function translateRequest(request: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const model = claudeModelOf(target);
	judgeOtherFields(request, warnings);
	const conversation = translateMessages(request.messages, model, warnings);
	const messages = conversation.finish(model);
	const { format, systemText } = translateOutputFormat(request, model, warnings);
	if (systemText !== undefined) conversation.system.push({ type: 'text', text: systemText });
	const tools = translateTools(request, conversation);
	const circumstances = {
		isForced: tools.isForced,
		hasLostThinking: conversation.hasLostThinking,
		isPrefilled: messages.at(-1)?.role === 'assistant',
	};
	const cap = translateMaxTokens(request, target, warnings);
	const { thinking, effort, maxTokens } = translateThinking(request, model, target, cap, circumstances, warnings);
	const body = {
		model: target.model,
		max_tokens: maxTokens,
		...(conversation.system.length > 0 && { system: conversation.system }),
		messages,
		...tools.members,
		...(thinking !== undefined && { thinking }),
		...outputConfig(effort, format),
		...translateSampling(request, model, thinking !== undefined && thinking.type !== 'disabled', warnings),
		...translateStop(request, model, warnings),
		...userId(request),
		...serviceTier(request, warnings),
		...(request.stream === true && { stream: true }),
	};
	const notes = warnings.notes();
	return { body, headers: { 'anthropic-version': model.version }, warnings: warnings.list(), ...(notes.length > 0 && { notes }) };
}

function outputConfig(effort: string | undefined, format: JsonObject | undefined): JsonObject {
	if (effort === undefined && format === undefined) return {};
	return { output_config: { ...(effort !== undefined && { effort }), ...(format !== undefined && { format }) } };
}

function userId(request: JsonObject): JsonObject {
	const name = isGiven(request.safety_identifier) ? 'safety_identifier' : 'user';
	const id = request[name];
	if (!isGiven(id) || id === '') return {};
	return typeof id === 'string' ? { metadata: { user_id: id } } : refuseField(name, 'must be a string');
}

function serviceTier({ service_tier }: JsonObject, warnings: RequestWarnings): JsonObject {
	if (service_tier === 'auto') return { service_tier: 'auto' };
	if (service_tier === 'default') return { service_tier: 'standard_only' };
	if (isGiven(service_tier)) warnings.add('service_tier', 'ignored');
	return {};
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
