import {
	type Capability,
	type Conversation,
	efforts,
	type NumberSetting,
	type OpenAIFields,
	type OutputCap,
	type OutputFormat,
	type ReasoningSetting,
	type Setting,
	type Tool,
	type ToolChoice,
	type Turn,
} from '../../conversation/conversation.ts';
import { isTrue, type JsonView, numberIn, objectIn, rejectField, requireText, requireTextOf } from '../../conversation/json-view.ts';
import type { RequestReader, RequestWarnings } from '../../conversation/request-translation.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { readToolChoice, readTools } from './request-tools.ts';
import { readTurns } from './request-turns.ts';

export const readChatRequest: RequestReader = (body, takes, warnings) => {
	checkOtherFields(body, takes, warnings);
	return new ChatRequest(body, takes, warnings);
};

const numberFields: Readonly<Record<NumberSetting, string | undefined>> = {
	temperature: 'temperature',
	topP: 'top_p',
	topK: undefined,
	seed: 'seed',
	frequencyPenalty: 'frequency_penalty',
	presencePenalty: 'presence_penalty',
};

class ChatRequest implements Conversation {
	readonly turnsField = 'messages';
	readonly #body: JsonView;
	readonly #takes: ReadonlySet<Capability>;
	readonly #warnings: RequestWarnings;
	#tools: readonly Tool[] | undefined;

	constructor(body: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings) {
		this.#body = body;
		this.#takes = takes;
		this.#warnings = warnings;
	}

	get isStreaming(): boolean {
		return isTrue(this.#body.member('stream'));
	}

	readTurns(take: (turn: Turn) => void): void {
		readTurns(this.#body.member(this.turnsField), this.#takes, take);
	}

	tools(): readonly Tool[] {
		this.#tools ??= readTools(this.#body, this.#takes);
		return this.#tools;
	}

	toolChoice(): ToolChoice {
		return readToolChoice(this.#body, this.tools());
	}

	outputCap(max: number | undefined): OutputCap | undefined {
		const newer = this.#body.member('max_completion_tokens');
		const cap = newer.isGiven ? newer : this.#body.member('max_tokens');
		return cap.isGiven ? { ...readCap(cap, max, this.#warnings), includesReasoning: newer.isGiven } : undefined;
	}

	number(name: NumberSetting): Setting<number> | undefined {
		const field = numberFields[name];
		return field === undefined ? undefined : numberSetting(this.#body.member(field));
	}

	stops(): Setting<readonly string[]> {
		if (!this.#body.has('stop')) return { field: 'stop', value: [] };
		const stop = this.#body.member('stop');
		return { field: 'stop', value: (stop.kind === 'array' ? stop.items() : [stop]).map(requireText) };
	}

	candidates(): Setting<number> | undefined {
		return this.#body.has('n') ? { field: 'n', value: numberIn(this.#body.member('n')) ?? Number.NaN } : undefined;
	}

	reasoning(): ReasoningSetting | undefined {
		const field = 'reasoning_effort';
		if (!this.#body.has(field)) return undefined;
		const wanted = this.#body.textOf(field);
		const effort = efforts.find((one) => one === wanted);
		if (effort === undefined) return rejectField(field, `must be one of ${efforts.join(', ')}`);
		return { field, effort, effortField: field, budget: undefined, isVisible: true };
	}

	outputFormat(): OutputFormat | undefined {
		const format = this.#body.member('response_format');
		return readFormat(format, format.member('json_schema'));
	}

	userId(): string | undefined {
		return userIdIn(this.#body);
	}

	serviceTier(): ReturnType<Conversation['serviceTier']> {
		return serviceTierIn(this.#body);
	}

	openai(): OpenAIFields | undefined {
		if (!this.#takes.has('openaiFields')) return undefined;
		const hasLogprobs = isTrue(this.#body.member('logprobs'));
		return {
			verbosity: textSetting(this.#body.member('verbosity')),
			topLogprobs: hasLogprobs ? (numberIn(this.#body.member('top_logprobs')) ?? 0) : undefined,
			shared: membersOf(this.#body, sharedFields),
		};
	}
}

/** Fields of the same names and values in the Responses API. */
const sharedFields = [
	'user',
	'safety_identifier',
	'prompt_cache_key',
	'prompt_cache_options',
	'prompt_cache_retention',
	'metadata',
	'service_tier',
	'moderation',
];

export function membersOf(request: JsonView, names: readonly string[]): JsonObject {
	return Object.fromEntries(names.flatMap((name) => (request.has(name) ? [[name, request.member(name).value()]] : [])));
}

/** @throws `Rejection` `field_invalid`. */
export function textSetting(view: JsonView): Setting<string> | undefined {
	return view.isGiven ? { field: view.path, value: requireText(view) } : undefined;
}

/** @throws `Rejection` `field_invalid`. */
export function numberSetting(view: JsonView): Setting<number> | undefined {
	return view.isGiven ? { field: view.path, value: numberIn(view) ?? rejectField(view.path, 'must be a number') } : undefined;
}

/** @param max the model's maximum. @throws `Rejection` `field_invalid`. */
export function readCap(cap: JsonView, max: number | undefined, warnings: RequestWarnings): Setting<number> {
	const { path: field } = cap;
	const requested = numberIn(cap) ?? Number.NaN;
	if (!Number.isInteger(requested) || requested < 1) rejectField(field, 'must be an integer of at least 1');
	if (max !== undefined && requested > max) warnings.add(field, `lowered to ${max}`);
	return { field, value: Math.min(requested, max ?? requested) };
}

/** @param definition the object with the schema of a format that has one. @throws `Rejection` `field_invalid`. */
export function readFormat(format: JsonView, definition: JsonView): OutputFormat | undefined {
	if (!format.isGiven) return undefined;
	const { path: field } = format;
	switch (format.textOf('type')) {
		case 'text':
			return undefined;
		case 'json_object':
			return { kind: 'json', field };
		case 'json_schema': {
			const [schema, strict] = [definition.member('schema'), definition.member('strict')];
			const label = {
				name: definition.textOf('name') ?? 'output',
				description: definition.textOf('description'),
				strict: strict.kind === 'boolean' ? isTrue(strict) : undefined,
			};
			return { kind: 'schema', field, schema: objectIn(schema) ?? rejectField(schema.path, 'must be a JSON schema as an object'), label };
		}
		default:
			return rejectField(`${field}.type`, 'must be `text`, `json_object` or `json_schema`');
	}
}

/** @throws `Rejection` `field_invalid`. */
export function userIdIn(request: JsonView): string | undefined {
	const field = request.has('safety_identifier') ? 'safety_identifier' : 'user';
	const id = request.has(field) ? requireTextOf(request, field) : '';
	return id === '' ? undefined : id;
}

export function serviceTierIn(request: JsonView): ReturnType<Conversation['serviceTier']> {
	if (!request.has('service_tier')) return undefined;
	const word = request.textOf('service_tier');
	return word === 'auto' ? word : word === 'default' ? 'standard' : 'other';
}

/** Fields that the conversation carries, or that have no meaning for other providers. */
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

/** Fields that the conversation carries for providers with the capability. */
const capabilities: ReadonlyMap<string, Capability> = new Map<string, Capability>([
	['n', 'candidates'],
	['seed', 'seed'],
	['frequency_penalty', 'frequencyPenalty'],
	['presence_penalty', 'presencePenalty'],
	...['verbosity', 'logprobs', 'top_logprobs', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'moderation'].map(
		(name) => [name, 'openaiFields'] as const,
	),
]);

/** Values with no effect. */
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

/** Fields without which the response would lack content, or have another structure than requested. */
const rejected: ReadonlyMap<string, string> = new Map([
	['n', 'must be 1: this model returns one choice'],
	['logprobs', 'must be false: this model’s provider does not return log probabilities'],
	['top_logprobs', 'must be absent: this model’s provider does not return log probabilities'],
	['logit_bias', 'must be absent: this model does not support logit bias'],
	['modalities', 'must be ["text"]: this model outputs only text'],
	['audio', 'must be absent: this model has no audio output'],
	['web_search_options', 'must be absent: this model has no built-in web search'],
]);

/**
 * Judges the fields without an equivalent. Hints and unknown fields are ignored with a warning, because new ones appear every month.
 * @throws `Rejection` `field_invalid`.
 */
function checkOtherFields(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings): void {
	for (const name of request.names()) {
		const capability = capabilities.get(name);
		if (handledElsewhere.has(name) || (capability !== undefined && takes.has(capability))) continue;
		const field = request.member(name);
		if (!field.isGiven || harmless.get(name)?.(field) === true) continue;
		const why = rejected.get(name);
		if (why !== undefined) rejectField(name, why);
		if (name === 'moderation' && canBlock(field.member('policy'))) {
			rejectField('moderation.policy', 'must not be `block`: this model’s provider does not moderate on demand');
		}
		warnings.add(name, 'ignored');
	}
}

export function canBlock(policy: JsonView): boolean {
	return ['input', 'output'].some((side) => policy.member(side).textOf('mode') === 'block');
}
