import { Fault } from '../../../core/fault.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usageOfChat } from '../../usage/told-usage.ts';
import { EventByEvent } from '../event-by-event.ts';
import { messageId, modelName, renderUsage, toolUseId, wantsThinking } from '../messages/message-answer.ts';
import { MessageEvents } from '../messages/message-events.ts';
import { readEvents } from '../read-events.ts';
import { readObject } from '../read-json.ts';
import { type TranslatedCall, toldToCaller } from '../translation.ts';
import { StreamedCalls } from './streamed-calls.ts';
import { contentText, reasoningText, renderStop } from './told-answer.ts';
import { answerInvalid } from './translate-answer.ts';
import { translateStreamError } from './translate-error.ts';
import { toolNamesOf } from './translate-tools.ts';

/** Chat completion chunks become the events of a message. What ends it waits for the provider's end, since usage comes last. */
export class ChunkStream extends EventByEvent {
	readonly #call: TranslatedCall;
	readonly #showsThinking: boolean;
	readonly #events = new MessageEvents();
	#calls: StreamedCalls | undefined;
	#hasStarted = false;
	#usage: unknown;
	#finishReason: unknown;
	#refusal = '';

	constructor(call: TranslatedCall) {
		super();
		this.#call = call;
		this.#showsThinking = wantsThinking(call);
	}

	protected takeEvents(events: Buffer): void {
		readEvents(events, this.#take);
	}

	protected written(): string {
		return this.#events.take();
	}

	protected finish(): void {
		if (this.#finishReason === undefined) throw new Fault('provider_disconnected');
		this.#finish();
	}

	readonly #take = (data: string, name: string): void => {
		if (this.isTerminated || this.hasFailed) return;
		if (data.trim() === '[DONE]') {
			this.#finish();
			return;
		}
		const chunk = readObject(data);
		if (chunk === undefined) throw answerInvalid('with an event that is not a JSON object');
		if (name === 'error' || isJsonObject(chunk.error) || typeof chunk.error === 'string') {
			this.#events.fail(translateStreamError(chunk, this.#call));
			this.hasFailed = true;
			return;
		}
		if (isJsonObject(chunk.usage)) this.#usage = chunk.usage;
		const choice = firstChoice(chunk.choices);
		if (choice === undefined) return;
		if (!this.#hasStarted) this.#start(chunk);
		if (isJsonObject(choice.delta)) this.#addDelta(choice.delta);
		if (typeof choice.finish_reason === 'string') this.#finishReason = choice.finish_reason;
	};

	#start(chunk: JsonObject): void {
		this.#hasStarted = true;
		this.#events.startMessage(messageId(chunk.id, this.#call), modelName(chunk.model, this.#call), renderUsage(undefined, this.#call));
	}

	#addDelta(delta: JsonObject): void {
		const reasoning = this.#showsThinking ? reasoningText(delta) : '';
		if (reasoning !== '') {
			this.#calls?.flush();
			this.#events.addThinking(reasoning);
		}
		const text = contentText(delta.content);
		if (text !== '') this.#addText(text);
		const refusal = contentText(delta.refusal);
		if (refusal !== '') {
			this.#refusal += refusal;
			this.#addText(refusal);
		}
		if (Array.isArray(delta.tool_calls)) this.#toolCalls().add(delta.tool_calls);
		else if (isJsonObject(delta.function_call)) this.#toolCalls().add([{ index: 0, function: delta.function_call }]);
	}

	#addText(text: string): void {
		this.#calls?.flush();
		this.#events.addText(text);
	}

	#toolCalls(): StreamedCalls {
		if (this.#calls === undefined) {
			const toolName = toolNamesOf(this.#call.request);
			this.#calls = new StreamedCalls(this.#events, { toolName, toolUseId: (id, position) => toolUseId(id, position, this.#call) });
		}
		return this.#calls;
	}

	#finish(): void {
		if (!this.#hasStarted) throw answerInvalid('with a stream without a choice');
		this.#calls?.flush();
		if (this.#finishReason !== 'length') this.#calls?.requireWhole();
		const hasCalls = this.#calls?.hasWritten === true;
		this.#events.endMessage(
			renderStop(this.#finishReason, hasCalls, this.#refusal),
			renderUsage(toldToCaller(usageOfChat(this.#usage), this.#call), this.#call),
		);
		this.isTerminated = true;
	}
}

/** Others than the first were not asked for. */
function firstChoice(choices: unknown): JsonObject | undefined {
	if (!Array.isArray(choices)) return undefined;
	const list: readonly unknown[] = choices;
	return list.find((choice): choice is JsonObject => isJsonObject(choice) && (choice.index ?? 0) === 0);
}
