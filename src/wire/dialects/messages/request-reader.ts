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
import { isTrue, type JsonView, numberIn, objectIn, rejectField, requireObject, visibleTextIn } from '../../conversation/json-view.ts';
import type { RequestReader, RequestWarnings } from '../../conversation/request-translation.ts';
import { readToolChoice, readTools } from './request-tools.ts';
import { readTurns } from './request-turns.ts';

export const readMessagesRequest: RequestReader = (body, takes, warnings) => {
	checkOtherFields(body, takes, warnings);
	return new MessagesRequest(body, takes, warnings);
};

const numberFields: Readonly<Record<NumberSetting, string | undefined>> = {
	temperature: 'temperature',
	topP: 'top_p',
	topK: 'top_k',
	seed: undefined,
	frequencyPenalty: undefined,
	presencePenalty: undefined,
};

class MessagesRequest implements Conversation {
	readonly turnsField = 'messages';
	readonly #body: JsonView;
	readonly #takes: ReadonlySet<Capability>;
	readonly #warnings: RequestWarnings;

	constructor(body: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings) {
		this.#body = body;
		this.#takes = takes;
		this.#warnings = warnings;
	}

	get isStreaming(): boolean {
		return isTrue(this.#body.member('stream'));
	}

	readTurns(take: (turn: Turn) => void): void {
		readTurns(this.#body, this.#takes, this.#warnings, take);
	}

	tools(): readonly Tool[] {
		return readTools(this.#body);
	}

	toolChoice(): ToolChoice {
		return readToolChoice(this.#body.member('tool_choice'));
	}

	outputCap(max: number | undefined): OutputCap {
		const field = 'max_tokens';
		const requested = numberIn(this.#body.member(field));
		if (requested === undefined || !Number.isInteger(requested) || requested < 0) {
			return rejectField(field, 'must be an integer of at least 1');
		}
		if (requested === 0) rejectField(field, 'must be at least 1: the model’s provider cannot write a prompt cache without output');
		if (max !== undefined && requested > max) this.#warnings.add(field, `lowered to ${max}, the output limit of the model`);
		return { field, value: Math.min(requested, max ?? requested), includesReasoning: true };
	}

	number(name: NumberSetting): Setting<number> | undefined {
		const field = numberFields[name];
		if (field === undefined || !this.#body.has(field)) return undefined;
		const value = numberIn(this.#body.member(field));
		return value === undefined ? undefined : { field, value };
	}

	/** Blank stop sequences are rejected as by their own vendor: another provider might stop at them. */
	stops(): Setting<readonly string[]> {
		const field = 'stop_sequences';
		const stops = this.#body.has(field) ? this.#body.member(field).items() : [];
		const value = stops.map((stop) => visibleTextIn(stop) ?? rejectField(stop.path, 'must be a string with a visible character'));
		return { field, value };
	}

	candidates(): undefined {
		return undefined;
	}

	reasoning(): ReasoningSetting | undefined {
		if (!this.#body.has('thinking') && !this.#body.has('output_config')) return undefined;
		const thinking = this.#body.member('thinking');
		const requested = this.#body.member('output_config').member('effort');
		if (thinking.kind !== 'object' && !requested.isGiven) return undefined;
		const type = thinking.textOf('type');
		const fields = { field: thinking.kind === 'object' ? 'thinking' : requested.path, effortField: requested.path };
		if (type === 'disabled') return { ...fields, effort: 'none', budget: undefined, isVisible: false };
		const isVisible = (type === 'enabled' || type === 'adaptive') && thinking.textOf('display') !== 'omitted';
		return {
			...fields,
			effort: requested.isGiven ? (efforts.find((one) => one === requested.value()) ?? 'unknown') : undefined,
			budget: type === 'enabled' ? numberIn(thinking.member('budget_tokens')) : undefined,
			isVisible,
		};
	}

	outputFormat(): OutputFormat | undefined {
		if (!this.#body.has('output_config') && !this.#body.has('output_format')) return undefined;
		const config = this.#body.member('output_config');
		for (const name of config.names()) {
			if (name !== 'effort' && name !== 'format') this.#warnings.add(`output_config.${name}`, 'ignored');
		}
		const newer = config.member('format');
		// Beta versions used the older name.
		const format = newer.isGiven ? newer : this.#body.member('output_format');
		if (!format.isGiven) return undefined;
		const type = requireObject(format).member('type');
		if (type.text() !== 'json_schema') rejectField(type.path, 'must be `json_schema`');
		const schema = format.member('schema');
		return { kind: 'schema', field: newer.path, schema: objectIn(schema) ?? rejectField(schema.path, 'must be an object') };
	}

	userId(): string | undefined {
		const id = this.#body.member('metadata').textOf('user_id');
		return id === '' ? undefined : id;
	}

	serviceTier(): ReturnType<Conversation['serviceTier']> {
		if (!this.#body.has('service_tier')) return undefined;
		const word = this.#body.textOf('service_tier');
		return word === 'auto' ? word : word === 'standard_only' ? 'standard' : 'other';
	}

	openai(): undefined {
		return undefined;
	}
}

/** Fields that the conversation carries, or that have no meaning outside their vendor. */
const handledElsewhere: ReadonlySet<string> = new Set([
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

/**
 * Judges the fields without an equivalent: all but one are hints.
 * @throws `Rejection` `field_invalid`.
 */
function checkOtherFields(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings): void {
	for (const name of request.names()) {
		if (handledElsewhere.has(name) || !request.has(name) || (name === 'top_k' && takes.has('topK'))) continue;
		if (name !== 'mcp_servers') {
			warnings.add(name, 'ignored');
			continue;
		}
		const servers = request.member(name);
		if (servers.kind !== 'array' || servers.items().length > 0) {
			rejectField(name, 'has no equivalent at the model’s provider: omit it');
		}
	}
	if (request.member('thinking').textOf('type') === 'between_tools') warnings.add('thinking', 'ignored');
}
