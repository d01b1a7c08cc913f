import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';

/** Fields that have a translation of their own for each provider, or mean nothing to any. */
const handledElsewhere: ReadonlySet<string> = new Set([
	'model',
	'messages',
	'max_tokens',
	'max_completion_tokens',
	'temperature',
	'top_p',
	'stop',
	'stream',
	'stream_options',
	'tools',
	'tool_choice',
	'parallel_tool_calls',
	'functions',
	'function_call',
	'response_format',
	'reasoning_effort',
	'user',
	'safety_identifier',
	'service_tier',
	'metadata',
]);

const none: ReadonlySet<string> = new Set();

/** The values that ask for nothing. */
const harmless: Readonly<Record<string, (value: unknown) => boolean>> = {
	n: (value) => value === 1,
	logprobs: (value) => value === false,
	top_logprobs: (value) => value === 0,
	logit_bias: (value) => isJsonObject(value) && Object.keys(value).length === 0,
	frequency_penalty: (value) => value === 0,
	presence_penalty: (value) => value === 0,
	store: (value) => value === false,
	modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
};

/** What the answer would lack, or have of another structure than asked for. */
const refused: Readonly<Record<string, string>> = {
	n: 'must be 1: this model gives one answer',
	logprobs: 'must be false: this model’s provider tells no probabilities',
	top_logprobs: 'must be absent: this model’s provider tells no probabilities',
	logit_bias: 'must be absent: this model’s tokens cannot be weighted',
	modalities: 'must be ["text"]: this model writes text alone',
	audio: 'must be absent: this model does not speak',
	web_search_options: 'must be absent: this model does not search by itself',
};

/**
 * Judges the fields that have no equivalent. What is a hint is ignored with a warning; unknown fields are, for new ones
 * appear by the month.
 * @param translated further fields that this provider has an equivalent for.
 * @throws Refusal `field_invalid`.
 */
export function judgeOtherFields(request: JsonObject, warnings: RequestWarnings, translated: ReadonlySet<string> = none): void {
	for (const name in request) {
		if (handledElsewhere.has(name) || translated.has(name)) continue;
		const value = request[name];
		if (value === undefined || value === null || (Object.hasOwn(harmless, name) && harmless[name]?.(value) === true)) continue;
		const why = Object.hasOwn(refused, name) ? refused[name] : undefined;
		if (why !== undefined) refuseField(name, why);
		if (name === 'moderation' && mayBlock(value)) {
			refuseField('moderation.policy', 'must not be `block`: this model’s provider does not moderate on demand');
		}
		warnings.add(name, 'ignored');
	}
}

function mayBlock(moderation: unknown): boolean {
	const policy = isJsonObject(moderation) ? moderation.policy : undefined;
	if (!isJsonObject(policy)) return false;
	return [policy.input, policy.output].some((side) => isJsonObject(side) && side.mode === 'block');
}
