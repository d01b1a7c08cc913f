import { totalTokens, type Usage } from '../../../core/usage.ts';
import { withSignature } from '../../conversation/extensions.ts';
import { viewOf } from '../../conversation/json-view.ts';
import { customInput } from '../../conversation/read-json.ts';
import {
	type BodyWriter,
	type ConversationUsage,
	clientMessage,
	type Finish,
	type FinishReason,
	type ProviderError,
	type ResponseContext,
	type ResponseSink,
	type ResponseStart,
	type ResponseWriting,
	type StartedCall,
	type ToolNaming,
	type WrittenStream,
} from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { writeError } from './errors.ts';
import { usesFunctions } from './request-tools.ts';

const finishReasons: Readonly<Record<FinishReason, string>> = {
	stop: 'stop',
	calls: 'tool_calls',
	length: 'length',
	filtered: 'content_filter',
	refused: 'content_filter',
};

/** Shared by the streaming and the non-streaming response of one request. */
abstract class CompletionWriter {
	readonly wantsReasoning = true;
	readonly takesChoices = true;
	protected readonly call: ResponseContext;
	protected readonly isLegacy: boolean;
	protected readonly toolNameOf: ToolNaming;

	constructor(call: ResponseContext, toolNameOf: ToolNaming) {
		this.call = call;
		this.isLegacy = usesFunctions(viewOf(call.request));
		this.toolNameOf = toolNameOf;
	}

	protected completionId(id: unknown): string {
		return `chatcmpl-${typeof id === 'string' && id !== '' ? id.replace(/^(?:msg|resp)_/, '') : this.call.requestId}`;
	}

	protected modelName(model: unknown): string {
		return typeof model === 'string' ? model : this.call.model;
	}

	/** A result could not name a call without an id. */
	protected callId({ id }: StartedCall, completion: string, choice: number, index: number): string {
		if (typeof id === 'string' && id !== '') return id;
		return `call_${completion.slice('chatcmpl-'.length)}${choice === 0 ? '' : `_${choice}`}_${index}`;
	}

	protected finishReason({ reason }: Finish): string {
		return reason === 'calls' && this.isLegacy ? 'function_call' : finishReasons[reason];
	}

	/** True for a custom tool of the client, which is called as a function with one text. */
	protected isCustom(name: string): boolean {
		return !this.isLegacy && itemsOf(this.call.request.tools).some((tool) => isJsonObject(tool) && nameIn(tool.custom) === name);
	}

	/** @returns undefined if no usage is known. */
	protected usageOf({ usage: reported, reportsCacheWrites, reportsReasoning }: ConversationUsage): JsonObject | undefined {
		const usage = clientMessage(reported, this.call);
		return usage && writeUsage(usage, reportsCacheWrites, reportsReasoning);
	}
}

/** Input includes cache reads and writes, output includes reasoning. */
export function writeUsage(usage: Usage, hasCacheWrites = false, hasReasoning = true): JsonObject {
	return {
		prompt_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
		completion_tokens: usage.outputTokens,
		total_tokens: totalTokens(usage),
		prompt_tokens_details: {
			cached_tokens: usage.cacheReadTokens,
			...(hasCacheWrites && { cache_write_tokens: usage.cacheWriteTokens }),
		},
		...(hasReasoning && { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
	};
}

interface CalledFunction {
	readonly name: string;
	readonly arguments: string;
}

interface WrittenCall {
	readonly started: StartedCall;
	text: string;
}

class Choice {
	text: string | undefined;
	refusal: string | null = null;
	reasoning = '';
	signature: string | undefined;
	finishReason = 'stop';
	readonly signed: JsonObject[] = [];
	readonly calls: WrittenCall[] = [];
}

class CompletionBodyWriter extends CompletionWriter implements BodyWriter {
	readonly #choices = new Map<number, Choice>();
	#start: ResponseStart = { id: undefined, model: undefined };
	#usage: JsonObject | undefined;

	start(start: ResponseStart): void {
		this.#start = start;
	}

	startChoice(): void {}

	addText(text: string, choice: number): void {
		const one = this.#choice(choice);
		one.text = (one.text ?? '') + text;
	}

	addModelRefusal(text: string, choice: number): void {
		const one = this.#choice(choice);
		one.refusal = (one.refusal ?? '') + text;
	}

	addReasoning(text: string, choice: number): void {
		this.#choice(choice).reasoning += text;
	}

	addSignedReasoning(block: JsonObject, choice: number): void {
		this.#choice(choice).signed.push(block);
	}

	startCall(started: StartedCall, choice: number): void {
		this.#choice(choice).calls.push({ started, text: '' });
	}

	addArguments(fragment: string, choice: number): void {
		const call = this.#choice(choice).calls.at(-1);
		if (call !== undefined) call.text += fragment;
	}

	addSignature(signature: string, choice: number): void {
		this.#choice(choice).signature = signature;
	}

	finish(finish: Finish, choice: number): void {
		const one = this.#choice(choice);
		one.finishReason = this.finishReason(finish);
		if (finish.reason === 'refused') one.refusal ??= finish.explanation ?? '';
	}

	end(usage: ConversationUsage): void {
		this.#usage = this.usageOf(usage);
	}

	/** Reading a body throws instead. */
	fail(): void {}

	body(): JsonObject {
		const id = this.completionId(this.#start.id);
		return {
			id,
			object: 'chat.completion',
			created: this.call.nowSeconds,
			model: this.modelName(this.#start.model),
			choices: [...this.#choices].map(([index, choice]) => ({
				index,
				message: this.#message(choice, id, index),
				logprobs: null,
				finish_reason: choice.finishReason,
			})),
			...(this.#usage !== undefined && { usage: this.#usage }),
		};
	}

	#message({ text, refusal, calls, reasoning, signed, signature }: Choice, completion: string, choice: number): JsonObject {
		return {
			role: 'assistant',
			content: text ?? (calls.length > 0 ? null : ''),
			refusal,
			...this.#calls(calls, completion, choice),
			...(reasoning !== '' && { reasoning_content: reasoning }),
			...(signed.length > 0 && { thinking_blocks: signed }),
			...withSignature(signature),
		};
	}

	#calls(calls: readonly WrittenCall[], completion: string, choice: number): JsonObject {
		const [first] = calls;
		if (first === undefined) return {};
		const functionOf = ({ started, text }: WrittenCall): CalledFunction => ({ name: this.toolNameOf(started.name), arguments: text });
		if (this.isLegacy) return { function_call: functionOf(first) };
		const list = calls.map((call, index) => {
			const id = this.callId(call.started, completion, choice, index);
			const called = functionOf(call);
			if (this.isCustom(called.name)) return { id, type: 'custom', custom: { name: called.name, input: customInput(called.arguments) } };
			return { id, type: 'function', function: called, ...withSignature(call.started.signature) };
		});
		return { tool_calls: list };
	}

	#choice(index: number): Choice {
		const known = this.#choices.get(index) ?? new Choice();
		this.#choices.set(index, known);
		return known;
	}
}

interface StreamedChoice {
	/** True while the content is null: the response may consist of calls only, as in a non-streaming response. */
	isNull: boolean;
	/** Counts calls only: clients use an index as a position in their list of calls. */
	callCount: number;
	hasRefusal: boolean;
	/** Arguments of an open call of a custom tool. */
	customArguments: string | undefined;
	readonly signed: JsonObject[];
}

/** Writes the chunks of one chat completion, in the shape that its client requested. */
class CompletionStreamWriter extends CompletionWriter implements ResponseSink, WrittenStream {
	isTerminated = false;
	hasFailed = false;
	readonly #wantsUsage: boolean;
	readonly #choices = new Map<number, StreamedChoice>();
	#id = '';
	#events: string[] = [];
	/** First and last bytes of all chunks. */
	#head = '';
	#tail = '';

	constructor(call: ResponseContext, toolNameOf: ToolNaming) {
		super(call, toolNameOf);
		this.#wantsUsage = wantsUsage(call);
	}

	take(): readonly string[] {
		const events = this.#events;
		this.#events = [];
		return events;
	}

	start({ id, model }: ResponseStart): void {
		this.#id = this.completionId(id);
		const members = JSON.stringify({
			id: this.#id,
			object: 'chat.completion.chunk',
			created: this.call.nowSeconds,
			model: this.modelName(model),
		});
		this.#head = `data: ${members.slice(0, -1)},"choices":[`;
		this.#tail = `]${this.#wantsUsage ? ',"usage":null' : ''}}\n\n`;
	}

	startChoice(choice: number): void {
		this.#begin(choice, true);
	}

	addText(text: string, choice: number): void {
		this.#begin(choice, true).isNull = false;
		this.#write(`{"content":${JSON.stringify(text)}}`, choice);
	}

	addModelRefusal(text: string, choice: number): void {
		this.#begin(choice, false).hasRefusal = true;
		this.#write(`{"refusal":${JSON.stringify(text)}}`, choice);
	}

	addReasoning(text: string, choice: number): void {
		this.#begin(choice, false);
		this.#write(`{"reasoning_content":${JSON.stringify(text)}}`, choice);
	}

	addSignedReasoning(block: JsonObject, choice: number): void {
		this.#begin(choice, false).signed.push(block);
	}

	/** The old shape of response can contain one call; further calls are omitted. */
	startCall(started: StartedCall, choice: number): void {
		this.#endCustomCall(choice);
		const index = this.#begin(choice, false).callCount++;
		const called = { name: this.toolNameOf(started.name), arguments: '' };
		if (this.isLegacy) {
			if (index === 0) this.#write(`{"function_call":${JSON.stringify(called)}}`, choice);
			return;
		}
		const id = this.callId(started, this.#id, choice, index);
		if (this.isCustom(called.name)) {
			this.#begin(choice, false).customArguments = '';
			this.#write(`{"tool_calls":[${JSON.stringify({ index, id, type: 'custom', custom: { name: called.name, input: '' } })}]}`, choice);
			return;
		}
		const call = { index, id, type: 'function', function: called, ...withSignature(started.signature) };
		this.#write(`{"tool_calls":[${JSON.stringify(call)}]}`, choice);
	}

	addArguments(fragment: string, choice: number): void {
		const streamed = this.#begin(choice, false);
		if (streamed.customArguments !== undefined) {
			streamed.customArguments += fragment;
			return;
		}
		const index = streamed.callCount - 1;
		const text = JSON.stringify(fragment);
		if (!this.isLegacy) this.#write(`{"tool_calls":[{"index":${index},"function":{"arguments":${text}}}]}`, choice);
		else if (index === 0) this.#write(`{"function_call":{"arguments":${text}}}`, choice);
	}

	/** Writes the input of a custom tool, which is known once all arguments are. */
	#endCustomCall(choice: number): void {
		const streamed = this.#choices.get(choice);
		if (streamed?.customArguments === undefined) return;
		const input = JSON.stringify(customInput(streamed.customArguments));
		streamed.customArguments = undefined;
		this.#write(`{"tool_calls":[{"index":${streamed.callCount - 1},"custom":{"input":${input}}}]}`, choice);
	}

	addSignature(signature: string, choice: number): void {
		this.#begin(choice, false);
		this.#write(JSON.stringify(withSignature(signature)), choice);
	}

	finish(finish: Finish, choice: number): void {
		this.#endCustomCall(choice);
		const { isNull, callCount, hasRefusal, signed } = this.#begin(choice, true);
		if (isNull && callCount === 0) this.addText('', choice);
		if (signed.length > 0) this.#write(`{"thinking_blocks":${JSON.stringify(signed)}}`, choice);
		if (finish.reason === 'refused' && !hasRefusal) this.#write(`{"refusal":${JSON.stringify(finish.explanation ?? '')}}`, choice);
		this.#write('{}', choice, `"${this.finishReason(finish)}"`);
	}

	end(reported: ConversationUsage): void {
		const usage = this.usageOf(reported);
		if (this.#wantsUsage && usage !== undefined) this.#events.push(`${this.#head}],"usage":${JSON.stringify(usage)}}\n\n`);
		this.#events.push('data: [DONE]\n\n');
		this.isTerminated = true;
	}

	fail(error: ProviderError): void {
		this.#events.push(`data: ${JSON.stringify(writeError(error, this.call))}\n\n`);
		this.hasFailed = true;
	}

	#begin(index: number, hasText: boolean): StreamedChoice {
		const known = this.#choices.get(index);
		if (known !== undefined) return known;
		const choice: StreamedChoice = { isNull: !hasText, callCount: 0, hasRefusal: false, customArguments: undefined, signed: [] };
		this.#choices.set(index, choice);
		this.#write(`{"role":"assistant","content":${hasText ? '""' : 'null'},"refusal":null}`, index);
		return choice;
	}

	/** @param delta in JSON. @param reason in JSON. */
	#write(delta: string, choice: number, reason = 'null'): void {
		this.#events.push(`${this.#head}{"index":${choice},"delta":${delta},"logprobs":null,"finish_reason":${reason}}${this.#tail}`);
	}
}

/** True if a stream must end with usage. */
export function wantsUsage({ request: { stream_options: options } }: ResponseContext): boolean {
	return isJsonObject(options) && options.include_usage === true;
}

function toolNames({ tools, functions }: JsonObject): readonly string[] {
	return [...itemsOf(tools), ...itemsOf(functions)].flatMap((tool) => {
		const { function: called, custom } = isJsonObject(tool) ? tool : {};
		return nameIn(called) ?? nameIn(custom) ?? nameIn(tool) ?? [];
	});
}

function nameIn(definition: unknown): string | undefined {
	return isJsonObject(definition) && typeof definition.name === 'string' ? definition.name : undefined;
}

function itemsOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

export const chatWriting: ResponseWriting = {
	createStreamWriter: (call, toolNameOf) => new CompletionStreamWriter(call, toolNameOf),
	createBodyWriter: (call, toolNameOf) => new CompletionBodyWriter(call, toolNameOf),
	writeError,
	toolNames,
	finishField: 'finish_reason',
};
