import type { Usage } from '../../../core/usage.ts';
import type { Citation } from '../../conversation/citation.ts';
import { itemSignature, withSignature } from '../../conversation/extensions.ts';
import { fitName } from '../../conversation/fit-name.ts';
import { parseArguments } from '../../conversation/read-json.ts';
import {
	type BodyWriter,
	type ConversationUsage,
	clientMessage,
	type Finish,
	type FinishReason,
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
import { writeError } from './errors.ts';

/** The dialect allows 128 characters and more; other ids are changed here, because its vendor would reject them when sent back. */
const maxToolUseIdLength = 128;

const stopReasons: Readonly<Record<FinishReason, string>> = {
	stop: 'end_turn',
	calls: 'tool_use',
	length: 'max_tokens',
	filtered: 'refusal',
	refused: 'refusal',
};

/** Shared by the streaming and the non-streaming response of one request. */
abstract class MessageWriter {
	/** Unsigned reasoning is forwarded only to clients that asked for thinking. */
	readonly wantsReasoning: boolean;
	readonly takesChoices = false;
	/** False for a client that asked for no thinking and may not know its blocks. */
	readonly #takesThinking: boolean;
	protected readonly call: ResponseContext;
	readonly #toolNameOf: ToolNaming;
	#callCount = 0;
	#serviceTier: string | undefined;
	protected stop: JsonObject = {};

	constructor(call: ResponseContext, toolNameOf: ToolNaming) {
		const { thinking } = call.request;
		this.#takesThinking = isJsonObject(thinking) && thinking.type !== 'disabled';
		this.wantsReasoning = this.#takesThinking && isJsonObject(thinking) && thinking.display !== 'omitted';
		this.call = call;
		this.#toolNameOf = toolNameOf;
	}

	startChoice(): void {}

	/** A `refusal` of another vendor's model becomes text of the message. */
	addModelRefusal(text: string): void {
		this.addText(text);
	}

	abstract addText(text: string): void;

	/** The dialect names the sources that its vendor's tools found, which only its vendor can issue. */
	addCitation(_citation: Citation): void {
		this.lose('citations');
	}

	abstract lose(content: LostContent): void;

	/** Tiers without a word of the dialect are left out. */
	setServiceTier(tier: string): void {
		this.#serviceTier = tier === 'default' ? 'standard' : tier === 'priority' ? tier : undefined;
	}

	/** Signs thinking with OpenAI's encrypted reasoning, so that the client returns it. Other vendors' signatures have no meaning here. */
	addSignedReasoning(block: JsonObject): void {
		if (block.type === 'encrypted_reasoning' && this.#takesThinking) this.signThinking(itemSignature(block));
	}

	/** Signs the thinking just written, or writes a block of encrypted thinking if there is none. */
	protected abstract signThinking(signature: string): void;

	/** A text's signature is optional, so it is dropped. */
	addSignature(): void {}

	finish({ reason, explanation }: Finish): void {
		const stopReason = stopReasons[reason];
		const details = { type: 'refusal', category: null, explanation: explanation ?? null };
		this.stop = { stop_reason: stopReason, stop_sequence: null, stop_details: stopReason === 'refusal' ? details : null };
	}

	protected messageId(id: unknown): string {
		const own = typeof id === 'string' && id !== '' ? id : this.call.requestId;
		return `msg_${own.replace(/^(?:chatcmpl-|msg_|resp_)/, '')}`;
	}

	/** Returns the provider's name of the model, as same-format responses do. */
	protected modelName(model: unknown): string {
		return typeof model === 'string' && model !== '' ? model : this.call.model;
	}

	protected toolUse({ id, name, signature }: StartedCall): JsonObject {
		const position = this.#callCount++;
		const ownId = typeof id === 'string' && id !== '' ? id : `toolu_${this.call.requestId}_${position}`;
		return {
			type: 'tool_use',
			id: fitName(ownId, maxToolUseIdLength),
			name: this.#toolNameOf(name),
			input: {},
			...withSignature(signature),
		};
	}

	/**
	 * Buckets do not overlap, unlike those of other vendors.
	 * @param usage undefined if the provider has reported none yet, or none at all: then the input is estimated.
	 */
	protected usageOf(usage: Usage | undefined): JsonObject {
		return {
			input_tokens: usage?.inputTokens ?? this.call.estimatedInputTokens ?? 0,
			cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
			cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
			output_tokens: usage?.outputTokens ?? 0,
			...(usage !== undefined && usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
			...(this.#serviceTier !== undefined && { service_tier: this.#serviceTier }),
		};
	}

	protected finalUsage({ usage }: ConversationUsage): JsonObject {
		return this.usageOf(clientMessage(usage, this.call));
	}
}

class MessageBodyWriter extends MessageWriter implements BodyWriter {
	readonly #content: JsonObject[] = [];
	/** Arguments of the last block, if it is a call. */
	#arguments: string | undefined;
	#start: ResponseStart = { id: undefined, model: undefined };
	#usage: JsonObject = {};

	lose(content: LostContent): void {
		this.call.warn?.(lossWarning(content));
	}

	start(start: ResponseStart): void {
		this.#start = start;
	}

	addText(text: string): void {
		this.#add('text', text, {});
	}

	addReasoning(text: string): void {
		// The signature is empty: other providers sign the content that follows, not their thinking.
		if (this.wantsReasoning) this.#add('thinking', text, { signature: '' });
	}

	protected signThinking(signature: string): void {
		this.#endCall();
		const last = this.#content.at(-1);
		if (isUnsigned(last)) this.#content[this.#content.length - 1] = { ...last, signature };
		else this.#content.push({ type: 'redacted_thinking', data: signature });
	}

	startCall(started: StartedCall): void {
		this.#endCall();
		this.#content.push(this.toolUse(started));
		this.#arguments = '';
	}

	addArguments(fragment: string): void {
		this.#arguments += fragment;
	}

	end(usage: ConversationUsage): void {
		this.#endCall();
		this.#usage = this.finalUsage(usage);
	}

	/** Reading a body throws instead. */
	fail(): void {}

	body(): JsonObject {
		const { id, model } = this.#start;
		return {
			id: this.messageId(id),
			type: 'message',
			role: 'assistant',
			model: this.modelName(model),
			content: this.#content,
			...this.stop,
			usage: this.#usage,
		};
	}

	/** Adjacent content of one kind forms one block, as in a stream. */
	#add(type: 'text' | 'thinking', text: string, more: JsonObject): void {
		if (text === '') return;
		this.#endCall();
		const last = this.#content.at(-1);
		const earlier = last?.type === type && (type === 'text' || isUnsigned(last)) ? last[type] : undefined;
		if (typeof earlier === 'string') this.#content[this.#content.length - 1] = { ...last, [type]: earlier + text };
		else this.#content.push({ type, [type]: text, ...more });
	}

	#endCall(): void {
		if (this.#arguments === undefined) return;
		this.#content.push({ ...this.#content.pop(), input: parseArguments(this.#arguments) ?? {} });
		this.#arguments = undefined;
	}
}

function isUnsigned(block: JsonObject | undefined): boolean {
	return block?.type === 'thinking' && block.signature === '';
}

type BlockKind = 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';

/** Writes the events of one message: blocks strictly one after the other, numbered from 0. */
class MessageStreamWriter extends MessageWriter implements ResponseSink, WrittenStream {
	isTerminated = false;
	hasFailed = false;
	#events: string[] = [];
	#index = -1;
	#open: BlockKind | undefined;

	/** A stream cannot warn: its header is sent. */
	lose(): void {}

	take(): readonly string[] {
		const events = this.#events;
		this.#events = [];
		return events;
	}

	start({ id, model, usage }: ResponseStart): void {
		const message = {
			id: this.messageId(id),
			type: 'message',
			role: 'assistant',
			model: this.modelName(model),
			content: [],
			stop_reason: null,
			stop_sequence: null,
			stop_details: null,
			usage: this.usageOf(usage),
		};
		this.#write('message_start', { type: 'message_start', message });
	}

	addText(text: string): void {
		if (this.#open !== 'text') this.#startBlock('text', { type: 'text', text: '' });
		this.#delta(`"text_delta","text":${JSON.stringify(text)}`);
	}

	addReasoning(text: string): void {
		if (!this.wantsReasoning) return;
		if (this.#open !== 'thinking') this.#startBlock('thinking', { type: 'thinking', thinking: '', signature: '' });
		this.#delta(`"thinking_delta","thinking":${JSON.stringify(text)}`);
	}

	protected signThinking(signature: string): void {
		if (this.#open !== 'thinking') this.#startBlock('redacted_thinking', { type: 'redacted_thinking', data: signature });
		this.#closeBlock(signature);
	}

	startCall(started: StartedCall): void {
		this.#startBlock('tool_use', this.toolUse(started));
	}

	addArguments(fragment: string): void {
		this.#delta(`"input_json_delta","partial_json":${JSON.stringify(fragment)}`);
	}

	end(usage: ConversationUsage): void {
		this.#closeBlock();
		this.#write('message_delta', { type: 'message_delta', delta: this.stop, usage: this.finalUsage(usage) });
		this.#write('message_stop', { type: 'message_stop' });
		this.isTerminated = true;
	}

	fail(error: ProviderError): void {
		this.#write('error', writeError(error, this.call));
		this.hasFailed = true;
	}

	#startBlock(kind: BlockKind, block: JsonObject): void {
		this.#closeBlock();
		this.#index++;
		this.#open = kind;
		this.#write('content_block_start', { type: 'content_block_start', index: this.#index, content_block: block });
	}

	/** @param signature of thinking; empty if the provider signs nothing. */
	#closeBlock(signature = ''): void {
		if (this.#open === undefined) return;
		if (this.#open === 'thinking') this.#delta(`"signature_delta","signature":${JSON.stringify(signature)}`);
		this.#events.push(`event: content_block_stop\ndata: {"type":"content_block_stop","index":${this.#index}}\n\n`);
		this.#open = undefined;
	}

	#delta(delta: string): void {
		this.#events.push(
			`event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{"type":${delta}}}\n\n`,
		);
	}

	#write(name: string, data: JsonObject): void {
		this.#events.push(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
	}
}

function toolNames({ tools }: JsonObject): readonly string[] {
	const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
	return list.flatMap((tool) => (isJsonObject(tool) && typeof tool.name === 'string' ? [tool.name] : []));
}

export const messagesWriting: ResponseWriting = {
	createStreamWriter: (call, toolNameOf) => new MessageStreamWriter(call, toolNameOf),
	createBodyWriter: (call, toolNameOf) => new MessageBodyWriter(call, toolNameOf),
	writeError,
	toolNames,
	finishField: 'stop_reason',
};
