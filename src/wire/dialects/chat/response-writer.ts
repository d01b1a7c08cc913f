import type { Citation } from '../../conversation/citation.ts';
import { withSignature } from '../../conversation/extensions.ts';
import { customInput } from '../../conversation/read-json.ts';
import {
	type BodyWriter,
	type ConversationUsage,
	type Finish,
	type LostContent,
	lossWarning,
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
import { annotationOf, CompletionWriter, itemsOf, nameIn } from './completion-writer.ts';
import { writeError } from './errors.ts';

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
	readonly annotations: JsonObject[] = [];
	readonly logprobs: JsonObject[] = [];
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

	addText(text: string, choice: number, logprobs: readonly JsonObject[] = []): void {
		const one = this.#choice(choice);
		one.text = (one.text ?? '') + text;
		one.logprobs.push(...logprobs);
	}

	addCitation(citation: Citation, choice: number): void {
		this.#choice(choice).annotations.push(annotationOf(citation));
	}

	lose(content: LostContent): void {
		this.call.warn?.(lossWarning(content));
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
				logprobs: choice.logprobs.length === 0 ? null : { content: choice.logprobs, refusal: null },
				finish_reason: choice.finishReason,
			})),
			...(this.serviceTier !== undefined && { service_tier: this.serviceTier }),
			...(this.#usage !== undefined && { usage: this.#usage }),
		};
	}

	#message({ text, refusal, annotations, calls, reasoning, signed, signature }: Choice, completion: string, choice: number): JsonObject {
		return {
			role: 'assistant',
			content: text ?? (calls.length > 0 ? null : ''),
			refusal,
			...(annotations.length > 0 && { annotations }),
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
		this.#tail = this.#endOf(this.#wantsUsage ? { usage: null } : {});
	}

	/** The service tier may be known only with the end of the stream. */
	override setServiceTier(tier: string): void {
		super.setServiceTier(tier);
		this.#tail = this.#endOf(this.#wantsUsage ? { usage: null } : {});
	}

	#endOf(members: JsonObject): string {
		const tier = this.serviceTier === undefined ? {} : { service_tier: this.serviceTier };
		const rest = JSON.stringify({ ...tier, ...members }).slice(1);
		return `]${rest === '}' ? '' : ','}${rest}\n\n`;
	}

	startChoice(choice: number): void {
		this.#begin(choice, true);
	}

	addText(text: string, choice: number, logprobs?: readonly JsonObject[]): void {
		this.#begin(choice, true).isNull = false;
		const written = logprobs === undefined ? 'null' : JSON.stringify({ content: logprobs, refusal: null });
		this.#write(`{"content":${JSON.stringify(text)}}`, choice, 'null', written);
	}

	addCitation(citation: Citation, choice: number): void {
		this.#begin(choice, true);
		this.#write(JSON.stringify({ annotations: [annotationOf(citation)] }), choice);
	}

	/** A stream cannot warn: its header is sent. */
	lose(): void {}

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
		if (this.#wantsUsage && usage !== undefined) this.#events.push(`${this.#head}${this.#endOf({ usage })}`);
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

	/** @param delta in JSON. @param reason in JSON. @param logprobs in JSON. */
	#write(delta: string, choice: number, reason = 'null', logprobs = 'null'): void {
		this.#events.push(`${this.#head}{"index":${choice},"delta":${delta},"logprobs":${logprobs},"finish_reason":${reason}}${this.#tail}`);
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

export const chatWriting: ResponseWriting = {
	createStreamWriter: (call, toolNameOf) => new CompletionStreamWriter(call, toolNameOf),
	createBodyWriter: (call, toolNameOf) => new CompletionBodyWriter(call, toolNameOf),
	writeError,
	toolNames,
	finishField: 'finish_reason',
};
