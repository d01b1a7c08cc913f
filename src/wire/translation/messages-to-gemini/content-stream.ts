import { Fault } from '../../../core/fault.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { usageOfGemini } from '../../usage/told-usage.ts';
import { EventByEvent } from '../event-by-event.ts';
import { blockReasonOf, candidatesOf, finishOf } from '../gemini/finish.ts';
import { answerInvalid, CandidateReader, type CandidateSink, type ToldCall } from '../gemini/read-answer.ts';
import { readContents } from '../gemini/read-contents.ts';
import { messageId, modelName, renderUsage, toolUseId, wantsThinking } from '../messages/message-answer.ts';
import { MessageEvents } from '../messages/message-events.ts';
import { withSignature } from '../thought-signature.ts';
import { type TranslatedCall, toldToCaller } from '../translation.ts';
import { stopOf, stopOfBlocked, toolNamesOf } from './told-stop.ts';
import { messageError } from './translate-error.ts';

/** Partial answers of Gemini's become the events of a message. Nothing tells the last one: what ends the message waits for the stream's end. */
export class ContentStream extends EventByEvent {
	readonly #call: TranslatedCall;
	readonly #events = new MessageEvents();
	readonly #reader: CandidateReader;
	#hasStarted = false;
	#hasCandidate = false;
	#usage: unknown;
	#blockReason: string | undefined;

	constructor(call: TranslatedCall) {
		super();
		this.#call = call;
		this.#reader = new CandidateReader(new BlockWriter(this.#events, call));
	}

	protected takeEvents(events: Buffer): void {
		readContents(events, this.#take);
	}

	protected written(): string {
		return this.#events.take();
	}

	readonly #take = (told: JsonObject): void => {
		if (this.isTerminated || this.hasFailed) return;
		if (told.error !== undefined) {
			this.#events.fail(messageError(200, told, this.#call));
			this.hasFailed = true;
			return;
		}
		if (told.usageMetadata !== undefined) this.#usage = told.usageMetadata;
		this.#blockReason ??= blockReasonOf(told);
		const candidate = candidatesOf(told).find(({ index }) => (index ?? 0) === 0);
		if (candidate === undefined && this.#blockReason === undefined) return;
		this.#start(told);
		if (candidate === undefined) return;
		this.#hasCandidate = true;
		this.#reader.read(candidate);
	};

	#start({ responseId, modelVersion }: JsonObject): void {
		if (this.#hasStarted) return;
		this.#hasStarted = true;
		// The first piece tells of the input already, and what it tells of the output is not yet all.
		const told = usageOfGemini(this.#usage);
		const usage = renderUsage(told && { ...told, outputTokens: 0, reasoningTokens: 0 }, this.#call);
		this.#events.startMessage(messageId(responseId, this.#call), modelName(modelVersion, this.#call), usage);
	}

	protected finish(): void {
		if (!this.#hasStarted) throw answerInvalid('with a stream without a candidate');
		const isBlocked = !this.#hasCandidate && this.#blockReason !== undefined;
		if (!isBlocked && this.#reader.finishReason === undefined) throw new Fault('provider_disconnected');
		const stop = isBlocked ? stopOfBlocked(this.#blockReason ?? '') : stopOf(finishOf(this.#reader));
		this.#events.endMessage(stop, renderUsage(toldToCaller(usageOfGemini(this.#usage), this.#call), this.#call));
		this.isTerminated = true;
	}
}

class BlockWriter implements CandidateSink {
	readonly #events: MessageEvents;
	readonly #call: TranslatedCall;
	readonly #showsThinking: boolean;
	readonly #nameOf: (name: string) => string;
	#callCount = 0;

	constructor(events: MessageEvents, call: TranslatedCall) {
		this.#events = events;
		this.#call = call;
		this.#showsThinking = wantsThinking(call);
		this.#nameOf = toolNamesOf(call.request);
	}

	addText(text: string): void {
		this.#events.addText(text);
	}

	addThinking(text: string): void {
		if (this.#showsThinking) this.#events.addThinking(text);
	}

	addCall({ id, name, args, signature }: ToldCall): void {
		this.#events.startTool(toolUseId(id, this.#callCount++, this.#call), this.#nameOf(name), withSignature(signature));
		this.#events.addInput(JSON.stringify(args));
	}

	/** Of a text, which may come back without it. */
	addSignature(): void {}
}
