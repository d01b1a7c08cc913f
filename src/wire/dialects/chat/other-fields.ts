import type { Capability } from '../../conversation/conversation.ts';
import type { JsonView } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';

/** Fields that the conversation carries, or that mean nothing to any other provider. */
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

/** Fields that the conversation carries for the providers that have them. */
const capabilities: ReadonlyMap<string, Capability> = new Map([
	['n', 'candidates'],
	['seed', 'seed'],
	['frequency_penalty', 'frequencyPenalty'],
	['presence_penalty', 'presencePenalty'],
]);

/** The values that ask for nothing. */
const harmless: ReadonlyMap<string, (view: JsonView) => boolean> = new Map([
	['n', (view: JsonView) => view.value() === 1],
	['logprobs', (view: JsonView) => view.value() === false],
	['top_logprobs', (view: JsonView) => view.value() === 0],
	['logit_bias', (view: JsonView) => view.kind === 'object' && view.names().length === 0],
	['frequency_penalty', (view: JsonView) => view.value() === 0],
	['presence_penalty', (view: JsonView) => view.value() === 0],
	['store', (view: JsonView) => view.value() === false],
	['modalities', (view: JsonView) => view.kind === 'array' && view.items().every((one) => one.text() === 'text')],
]);

/** What the response would lack, or have of another structure than asked for. */
const rejected: ReadonlyMap<string, string> = new Map([
	['n', 'must be 1: this model gives one answer'],
	['logprobs', 'must be false: this model’s provider tells no probabilities'],
	['top_logprobs', 'must be absent: this model’s provider tells no probabilities'],
	['logit_bias', 'must be absent: this model’s tokens cannot be weighted'],
	['modalities', 'must be ["text"]: this model writes text alone'],
	['audio', 'must be absent: this model does not speak'],
	['web_search_options', 'must be absent: this model does not search by itself'],
]);

/**
 * Judges the fields that have no equivalent. Hints are ignored with a warning, and so are unknown fields, for new ones
 * appear by the month.
 * @throws Refusal `field_invalid`.
 */
export function judgeOtherFields(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings): void {
	for (const name of request.names()) {
		const capability = capabilities.get(name);
		if (handledElsewhere.has(name) || (capability !== undefined && takes.has(capability))) continue;
		const field = request.member(name);
		if (!field.isGiven || harmless.get(name)?.(field) === true) continue;
		const why = rejected.get(name);
		if (why !== undefined) rejectField(name, why);
		if (name === 'moderation' && mayBlock(field.member('policy'))) {
			rejectField('moderation.policy', 'must not be `block`: this model’s provider does not moderate on demand');
		}
		warnings.add(name, 'ignored');
	}
}

function mayBlock(policy: JsonView): boolean {
	return ['input', 'output'].some((side) => policy.member(side).member('mode').text() === 'block');
}
