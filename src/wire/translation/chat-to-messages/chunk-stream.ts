import { Fault } from '../../../core/fault.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { messagesUsage } from '../../usage/usage-reader.ts';
import { ChatChunks } from '../chat/chat-chunks.ts';
import { EventByEvent } from '../event-by-event.ts';
import { readEvents } from '../read-events.ts';
import { readObject } from '../read-json.ts';
import type { TranslatedCall } from '../translation.ts';
import { callId, completionId } from './answer-id.ts';
import { chatUsage } from './chat-usage.ts';
import { finishReason, refusalText } from './finish-reason.ts';
import { isReplayable } from './thinking-blocks.ts';
import { chatError } from './translate-error.ts';

/** The block that is being streamed, as far as its end depends on its beginning. */
interface OpenBlock {
	readonly type: unknown;
	/** Of a call: as the block began with it, for some vendors send it whole. */
	readonly input: unknown;
	/** Of a call. */
	hasFragments: boolean;
	/** Of thinking: put together to be handed out whole. */
	thinking: string;
	signature: string;
	readonly data: unknown;
}

/** Messages events into chat completion chunks. One answer. */
export class ChunkStream extends EventByEvent {
	readonly #call: TranslatedCall;
	readonly #chunks: ChatChunks;
	#id = '';
	#block: OpenBlock | undefined;
	/** Calls alone are counted, not blocks: the callers' libraries take an index for a place in the list of calls. */
	#callCount = 0;
	readonly #thinkingBlocks: JsonObject[] = [];
	#usage: JsonObject | undefined;
	#isFinished = false;

	constructor(call: TranslatedCall) {
		super();
		this.#call = call;
		this.#chunks = new ChatChunks(call);
	}

	protected takeEvents(events: Buffer): void {
		readEvents(events, this.#takeEvent);
	}

	protected written(): string {
		return this.#chunks.take();
	}

	/** Nothing is ever owed. */
	protected finish(): never {
		throw new Fault('provider_disconnected');
	}

	readonly #takeEvent = (data: string, name: string): void => {
		if (this.isTerminated || this.hasFailed) return;
		const event = readObject(data);
		if (event === undefined) throw invalid('an event that is no JSON object');
		switch (event.type ?? name) {
			case 'message_start':
				return this.#start(event.message);
			case 'content_block_start':
				return this.#startBlock(event.content_block);
			case 'content_block_delta':
				return this.#addDelta(event.delta);
			case 'content_block_stop':
				return this.#stopBlock();
			case 'message_delta':
				return this.#endMessage(event);
			case 'message_stop':
				return this.#stop();
			case 'error':
				return this.#fail(event);
			default:
		}
	};

	#start(message: unknown): void {
		if (!isJsonObject(message)) throw invalid('a start without a message');
		if (this.#chunks.hasStarted) throw invalid('a second start of the message');
		this.#id = completionId(message.id, this.#call.requestId);
		this.#chunks.start(this.#id, message.model);
		this.#mergeUsage(message.usage);
		this.#chunks.startChoice();
	}

	#startBlock(block: unknown): void {
		if (!isJsonObject(block)) throw invalid('a block without content');
		const { type, input, data } = block;
		this.#block = { type, input, data, hasFragments: false, thinking: '', signature: '' };
		if (type === 'tool_use') this.#startCall(block);
		else if (type === 'text') this.#sendText(block.text);
		else if (type === 'thinking') this.#think(block.thinking, block.signature);
	}

	#startCall({ id, name }: JsonObject): void {
		if (typeof name !== 'string') throw invalid('a tool call without a name');
		const index = this.#callCount++;
		this.#writing().startCall({ index, id: callId(id, this.#id, index), name });
	}

	#addDelta(delta: unknown): void {
		if (!isJsonObject(delta)) throw invalid('a delta without content');
		switch (delta.type) {
			case 'text_delta':
				return this.#sendText(delta.text);
			case 'input_json_delta':
				return this.#addFragment(delta.partial_json);
			case 'thinking_delta':
				return this.#think(delta.thinking, undefined);
			case 'signature_delta':
				return this.#think(undefined, delta.signature);
			default:
		}
	}

	#addFragment(fragment: unknown): void {
		if (this.#block?.type !== 'tool_use' || typeof fragment !== 'string' || fragment === '') return;
		this.#block.hasFragments = true;
		this.#sendArguments(fragment);
	}

	#sendText(text: unknown): void {
		if (typeof text === 'string' && text !== '') this.#writing().addText(text);
	}

	#sendArguments(fragment: string): void {
		this.#writing().addArguments(this.#callCount - 1, fragment);
	}

	#think(text: unknown, signature: unknown): void {
		if (this.#block?.type !== 'thinking') return;
		if (typeof signature === 'string') this.#block.signature += signature;
		if (typeof text !== 'string' || text === '') return;
		this.#block.thinking += text;
		this.#writing().addReasoning(text);
	}

	#stopBlock(): void {
		if (this.#block === undefined) return;
		const { type, input, hasFragments, thinking, signature, data } = this.#block;
		this.#block = undefined;
		// Callers parse what they joined, and an empty string is no JSON.
		if (type === 'tool_use' && !hasFragments) this.#sendArguments(JSON.stringify(isJsonObject(input) ? input : {}));
		const block = type === 'thinking' ? { type, thinking, signature } : { type, data };
		if (isReplayable(block)) this.#thinkingBlocks.push(block);
	}

	#endMessage({ usage, delta }: JsonObject): void {
		this.#mergeUsage(usage);
		const { stop_reason, stop_details } = isJsonObject(delta) ? delta : {};
		if (typeof stop_reason === 'string') this.#finish(stop_reason, stop_details);
	}

	#finish(stopReason: unknown, stopDetails: unknown): void {
		if (this.#isFinished) return;
		const chunks = this.#writing();
		if (this.#thinkingBlocks.length > 0) chunks.add(`{"thinking_blocks":${JSON.stringify(this.#thinkingBlocks)}}`);
		if (stopReason === 'refusal') chunks.add(`{"refusal":${JSON.stringify(refusalText(stopDetails))}}`);
		chunks.add('{}', 0, `"${finishReason(stopReason, this.#callCount > 0, chunks.isLegacy)}"`);
		this.#isFinished = true;
	}

	#stop(): void {
		this.#finish(undefined, undefined);
		this.#chunks.end(chatUsage(this.#usage, this.#call));
		this.isTerminated = true;
	}

	#fail(event: JsonObject): void {
		this.#chunks.fail(chatError(event, 500));
		this.hasFailed = true;
	}

	#mergeUsage(told: unknown): void {
		if (isJsonObject(told)) this.#usage = messagesUsage.merge(this.#usage, told);
	}

	#writing(): ChatChunks {
		if (!this.#chunks.hasStarted) throw invalid('content before the start of the message');
		return this.#chunks;
	}
}

function invalid(what: string): Fault {
	return new Fault('provider_answer_invalid', { message: `The provider’s stream holds ${what}: retry later` });
}
