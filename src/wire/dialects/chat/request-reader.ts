import {
	type Capability,
	type Conversation,
	efforts,
	type NumberSetting,
	type OutputCap,
	type OutputFormat,
	type ReasoningSetting,
	type Setting,
	type Tool,
	type ToolChoice,
	type Turn,
} from '../../conversation/conversation.ts';
import { isTrue, type JsonView, numberIn, objectIn, requireText } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestReader } from '../../conversation/request-translation.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';
import { judgeOtherFields } from './other-fields.ts';
import { readToolChoice, readTools } from './request-tools.ts';
import { readTurns } from './request-turns.ts';

/** Reads requests for chat completions. */
export const readChatRequest: RequestReader = (body, takes, warnings) => {
	judgeOtherFields(body, takes, warnings);
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
	readonly #body: JsonView;
	readonly #takes: ReadonlySet<Capability>;
	readonly #warnings: RequestWarnings;
	#tools: readonly Tool[] | undefined;

	constructor(body: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings) {
		this.#body = body;
		this.#takes = takes;
		this.#warnings = warnings;
	}

	get isStreamed(): boolean {
		return isTrue(this.#body.member('stream'));
	}

	turns(): Iterable<Turn> {
		return readTurns(this.#body.member('messages'), this.#takes);
	}

	tools(): readonly Tool[] {
		this.#tools ??= readTools(this.#body);
		return this.#tools;
	}

	toolChoice(): ToolChoice {
		return readToolChoice(this.#body, this.tools());
	}

	outputCap(max: number | undefined): OutputCap | undefined {
		const newer = this.#body.member('max_completion_tokens');
		const cap = newer.isGiven ? newer : this.#body.member('max_tokens');
		if (!cap.isGiven) return undefined;
		const { path: field } = cap;
		const asked = numberIn(cap);
		if (asked === undefined || !Number.isInteger(asked) || asked < 1) return rejectField(field, 'must be an integer of at least 1');
		if (max !== undefined && asked > max) this.#warnings.add(field, `lowered to ${max}`);
		return { field, value: Math.min(asked, max ?? asked), includesReasoning: newer.isGiven };
	}

	number(name: NumberSetting): Setting<number> | undefined {
		const field = numberFields[name];
		if (field === undefined) return undefined;
		const view = this.#body.member(field);
		if (!view.isGiven) return undefined;
		return { field, value: numberIn(view) ?? rejectField(field, 'must be a number') };
	}

	stops(): Setting<readonly string[]> {
		const stop = this.#body.member('stop');
		if (!stop.isGiven) return { field: 'stop', value: [] };
		return { field: 'stop', value: (stop.kind === 'array' ? stop.items() : [stop]).map(requireText) };
	}

	candidates(): Setting<number> | undefined {
		const count = this.#body.member('n');
		return count.isGiven ? { field: 'n', value: numberIn(count) ?? Number.NaN } : undefined;
	}

	reasoning(): ReasoningSetting | undefined {
		const field = 'reasoning_effort';
		const wanted = this.#body.member(field);
		if (!wanted.isGiven) return undefined;
		const effort = efforts.find((one) => one === wanted.value());
		if (effort === undefined) return rejectField(field, `must be one of ${efforts.join(', ')}`);
		return { field, effort, effortField: field, budget: undefined, isShown: true };
	}

	outputFormat(): OutputFormat | undefined {
		const field = 'response_format';
		const format = this.#body.member(field);
		if (!format.isGiven) return undefined;
		switch (format.member('type').text()) {
			case 'text':
				return undefined;
			case 'json_object':
				return { kind: 'json', field };
			case 'json_schema': {
				const schema = format.member('json_schema').member('schema');
				return { kind: 'schema', field, schema: objectIn(schema) ?? rejectField(schema.path, 'must be a JSON schema as an object') };
			}
			default:
				return rejectField(`${field}.type`, 'must be `text`, `json_object` or `json_schema`');
		}
	}

	userId(): string | undefined {
		const newer = this.#body.member('safety_identifier');
		const id = newer.isGiven ? newer : this.#body.member('user');
		return id.isGiven && id.value() !== '' ? requireText(id) : undefined;
	}

	serviceTier(): ReturnType<Conversation['serviceTier']> {
		const tier = this.#body.member('service_tier');
		if (!tier.isGiven) return undefined;
		const word = tier.text();
		return word === 'auto' ? word : word === 'default' ? 'standard' : 'other';
	}
}
