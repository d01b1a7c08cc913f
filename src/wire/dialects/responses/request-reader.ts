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
import { isTrue, type JsonView, numberIn, rejectField, requireText } from '../../conversation/json-view.ts';
import type { ReasoningEncryption } from '../../conversation/reasoning-encryption.ts';
import type { RequestReader, RequestWarnings } from '../../conversation/request-translation.ts';
import { canBlock, membersOf, numberSetting, readCap, readFormat, serviceTierIn, textSetting, userIdIn } from '../chat/request-reader.ts';
import { type ReadTools, readToolChoice, readTools } from './request-tools.ts';
import { ItemWarnings, readTurns } from './request-turns.ts';

export const readResponsesRequest: RequestReader = (body, takes, warnings, encryption) => {
	checkOtherFields(body, takes, warnings);
	return new ResponsesRequest(body, takes, warnings, encryption);
};

const numberFields: Partial<Record<NumberSetting, string>> = { temperature: 'temperature', topP: 'top_p' };
const logprobs = 'message.output_text.logprobs';

class ResponsesRequest implements Conversation {
	readonly turnsField = 'input';
	readonly #body: JsonView;
	readonly #takes: ReadonlySet<Capability>;
	readonly #warnings: RequestWarnings;
	readonly #encryption: ReasoningEncryption;
	readonly #tools: ReadTools;
	readonly #choice: ToolChoice;

	constructor(body: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings, encryption: ReasoningEncryption) {
		this.#body = body;
		this.#takes = takes;
		this.#warnings = warnings;
		this.#encryption = encryption;
		this.#tools = readTools(body, warnings);
		this.#choice = readToolChoice(body, this.#tools);
	}

	get isStreaming(): boolean {
		return isTrue(this.#body.member('stream'));
	}

	readTurns(take: (turn: Turn) => void): void {
		const warnings = new ItemWarnings(this.#warnings);
		readTurns(this.#body, { takes: this.#takes, warnings, encryption: this.#encryption, take });
	}

	tools(): readonly Tool[] {
		return this.#tools.tools;
	}

	toolChoice(): ToolChoice {
		return this.#choice;
	}

	outputCap(max: number | undefined): OutputCap | undefined {
		const cap = this.#body.member('max_output_tokens');
		return cap.isGiven ? { ...readCap(cap, max, this.#warnings), includesReasoning: true } : undefined;
	}

	number(name: NumberSetting): Setting<number> | undefined {
		const field = numberFields[name];
		return field === undefined ? undefined : numberSetting(this.#body.member(field));
	}

	/** The dialect has none. */
	stops(): Setting<readonly string[]> {
		return { field: 'stop', value: [] };
	}

	candidates(): undefined {
		return undefined;
	}

	/** The last `configuration_update` replaces the request's effort. */
	reasoning(): ReasoningSetting | undefined {
		const settings = this.#body.member('reasoning');
		const items = this.#body.member('input').items();
		const updates = items.filter((item) => item.textOf('type') === 'configuration_update').map((item) => item.member('reasoning'));
		const given = [settings, ...updates].findLast((one) => one.has('effort'));
		const isVisible = settings.has('summary');
		if (given === undefined && !isVisible) return undefined;
		const wanted = given?.member('effort');
		const effort = efforts.find((one) => one === wanted?.value());
		if (wanted !== undefined && effort === undefined) rejectField(wanted.path, `must be one of ${efforts.join(', ')}`);
		return { field: 'reasoning', effort, effortField: wanted?.path ?? 'reasoning.effort', budget: undefined, isVisible };
	}

	outputFormat(): OutputFormat | undefined {
		const format = this.#body.member('text').member('format');
		return readFormat(format, format);
	}

	userId(): string | undefined {
		return userIdIn(this.#body);
	}

	serviceTier(): ReturnType<Conversation['serviceTier']> {
		return serviceTierIn(this.#body);
	}

	openai(): OpenAIFields | undefined {
		if (!this.#takes.has('openaiFields')) return undefined;
		const top = numberIn(this.#body.member('top_logprobs')) ?? 0;
		const isIncluded = included(this.#body).some((one) => one.text() === logprobs);
		return {
			verbosity: textSetting(this.#body.member('text').member('verbosity')),
			topLogprobs: isIncluded || top > 0 ? top : undefined,
			shared: membersOf(this.#body, sharedFields),
		};
	}
}

/** Fields of the same names and values in chat completions. Those accept `metadata` only of stored requests. */
const sharedFields = ['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'service_tier'];

function included(request: JsonView): readonly JsonView[] {
	return request.member('include').items();
}

/** Fields that the conversation carries, that the response echoes, or that have no effect without stored responses and hosted tools. */
const handledElsewhere: ReadonlySet<string> = new Set([
	'model',
	'input',
	'instructions',
	'max_output_tokens',
	'temperature',
	'top_p',
	'stream',
	'stream_options',
	'tools',
	'tool_choice',
	'parallel_tool_calls',
	'max_tool_calls',
	'safety_identifier',
	'user',
	'metadata',
	'store',
	'client_metadata',
	...sharedFields,
]);

const statelessCure = 'is not supported: this gateway keeps no responses. Send the whole conversation in `input`, with `store: false`';

const noLogprobs = 'must be absent: this model’s provider does not return log probabilities';

const rejected: ReadonlyMap<string, string> = new Map([
	['previous_response_id', statelessCure],
	['conversation', statelessCure],
	['prompt', 'is not supported: send the text of the prompt in `instructions` and `input`'],
	['background', 'must be false: the provider of this model runs no responses in the background'],
]);

const harmless: ReadonlyMap<string, (view: JsonView) => boolean> = new Map([
	['background', (view: JsonView) => view.value() === false],
	['truncation', (view: JsonView) => view.value() === 'disabled'],
]);

/**
 * Judges the fields without an equivalent. Hints and unknown fields are ignored with a warning, because new ones appear every month.
 * @throws `Rejection` `field_invalid`.
 */
function checkOtherFields(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings): void {
	for (const name of request.names()) {
		const field = request.member(name);
		if (handledElsewhere.has(name) || !field.isGiven || harmless.get(name)?.(field) === true) continue;
		const why = rejected.get(name);
		if (why !== undefined) rejectField(name, why);
		const check = checks.get(name);
		if (check === undefined) warnings.add(name, 'ignored');
		else check(field, warnings, takes.has('openaiFields'));
	}
}

type FieldCheck = (field: JsonView, warnings: RequestWarnings, isOpenAI: boolean) => void;

const checks: ReadonlyMap<string, FieldCheck> = new Map<string, FieldCheck>([
	['reasoning', checkReasoning],
	['text', checkText],
	['include', checkIncluded],
	['top_logprobs', checkTopLogprobs],
	['moderation', checkModeration],
]);

function checkReasoning(reasoning: JsonView, warnings: RequestWarnings): void {
	for (const name of reasoning.names()) {
		const isHandled = ['effort', 'summary', 'context', 'generate_summary'].includes(name);
		if (!isHandled && reasoning.has(name) && reasoning.textOf(name) !== 'standard') warnings.add(`reasoning.${name}`, 'ignored');
	}
}

function checkText(text: JsonView, warnings: RequestWarnings, isOpenAI: boolean): void {
	for (const name of text.names()) {
		const isCarried = name === 'format' || (name === 'verbosity' && isOpenAI);
		if (!isCarried && text.has(name)) warnings.add(`text.${name}`, 'ignored');
	}
}

function checkIncluded(include: JsonView, warnings: RequestWarnings, isOpenAI: boolean): void {
	for (const one of include.items()) {
		const name = requireText(one);
		if (name === logprobs && !isOpenAI) rejectField(one.path, noLogprobs);
		if (name !== logprobs && name !== 'reasoning.encrypted_content') warnings.add(one.path, 'ignored');
	}
}

function checkTopLogprobs(top: JsonView, _warnings: RequestWarnings, isOpenAI: boolean): void {
	if (!isOpenAI && top.value() !== 0) rejectField(top.path, noLogprobs);
}

function checkModeration(moderation: JsonView, warnings: RequestWarnings): void {
	const policy = moderation.member('policy');
	if (canBlock(policy)) rejectField(policy.path, 'must not be `block`: this model’s provider does not moderate on demand');
	warnings.add('moderation', 'ignored');
}
