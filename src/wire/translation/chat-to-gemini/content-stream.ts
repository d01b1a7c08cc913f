import { Fault } from '../../../core/fault.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { ChatChunks } from '../chat/chat-chunks.ts';
import { EventByEvent } from '../event-by-event.ts';
import { blockReasonOf, candidatesOf, finishOf } from '../gemini/finish.ts';
import { answerInvalid, CandidateReader, type CandidateSink, type ToldCall } from '../gemini/read-answer.ts';
import { readContents } from '../gemini/read-contents.ts';
import { withSignature } from '../thought-signature.ts';
import type { TranslatedCall } from '../translation.ts';
import { callId, completionId, finishReason, toolNamesOf } from './chat-answer.ts';
import { chatUsage } from './chat-usage.ts';
import { chatError } from './translate-error.ts';

/** Partial answers of Gemini's into chat completion chunks. Nothing tells the last one: what ends the answer waits for the stream's end. */
export class ContentStream extends EventByEvent {
	readonly #call: TranslatedCall;
	readonly #chunks: ChatChunks;
	readonly #choices = new Map<number, ChoiceWriter>();
	readonly #nameOf: (name: string) => string;
	#id = '';
	#usage: unknown;
	#isBlocked = false;

	constructor(call: TranslatedCall) {
		super();
		this.#call = call;
		this.#chunks = new ChatChunks(call);
		this.#nameOf = toolNamesOf(call.request);
	}

	protected takeEvents(events: Buffer): void {
		readContents(events, this.#take);
	}

	protected written(): string {
		return this.#chunks.take();
	}

	readonly #take = (told: JsonObject): void => {
		if (this.isTerminated || this.hasFailed) return;
		if (told.error !== undefined) {
			this.#chunks.fail(chatError(200, told));
			this.hasFailed = true;
			return;
		}
		if (told.usageMetadata !== undefined) this.#usage = told.usageMetadata;
		if (blockReasonOf(told) !== undefined) this.#isBlocked = true;
		const candidates = candidatesOf(told);
		if (candidates.length === 0 && !this.#isBlocked) return;
		this.#start(told);
		for (const [at, candidate] of candidates.entries()) {
			this.#choice(Number.isInteger(candidate.index) ? Number(candidate.index) : at).reader.read(candidate);
		}
	};

	#start(told: JsonObject): void {
		if (this.#chunks.hasStarted) return;
		this.#id = completionId(told.responseId, this.#call);
		this.#chunks.start(this.#id, told.modelVersion);
	}

	#choice(index: number): ChoiceWriter {
		let choice = this.#choices.get(index);
		if (choice === undefined) {
			choice = new ChoiceWriter(this.#chunks, index, this.#id, this.#nameOf);
			this.#choices.set(index, choice);
		}
		return choice;
	}

	protected finish(): void {
		if (this.#isBlocked && this.#choices.size === 0) {
			this.#chunks.startChoice();
			this.#chunks.add('{}', 0, '"content_filter"');
		} else {
			if (this.#choices.size === 0) throw answerInvalid('with a stream without a candidate');
			for (const { reader } of this.#choices.values()) if (reader.finishReason === undefined) throw new Fault('provider_disconnected');
			for (const [index, choice] of this.#choices) {
				const reason = finishReason(finishOf(choice.reader), this.#chunks.isLegacy);
				choice.requireContent();
				this.#chunks.add('{}', index, `"${reason}"`);
			}
		}
		this.#chunks.end(chatUsage(this.#usage, this.#call));
		this.isTerminated = true;
	}
}

class ChoiceWriter implements CandidateSink {
	readonly reader: CandidateReader;
	readonly #chunks: ChatChunks;
	readonly #index: number;
	readonly #completion: string;
	readonly #nameOf: (name: string) => string;
	#callCount = 0;
	/** What the choice began with, and whether its content is still null. */
	#hasStarted = false;
	#isNull = false;

	constructor(chunks: ChatChunks, index: number, completion: string, nameOf: (name: string) => string) {
		this.reader = new CandidateReader(this);
		this.#chunks = chunks;
		this.#index = index;
		this.#completion = completion;
		this.#nameOf = nameOf;
	}

	addText(text: string): void {
		this.#start(true);
		this.#isNull = false;
		this.#chunks.addText(text, this.#index);
	}

	addThinking(text: string): void {
		this.#start(false);
		this.#chunks.addReasoning(text, this.#index);
	}

	addCall(call: ToldCall): void {
		this.#start(false);
		const index = this.#callCount++;
		const id = callId(call, this.#completion, this.#index, index);
		this.#chunks.startCall({ index, id, name: this.#nameOf(call.name), more: withSignature(call.signature) }, this.#index);
		this.#chunks.addArguments(index, JSON.stringify(call.args), this.#index);
	}

	addSignature(signature: string): void {
		this.#start(false);
		this.#chunks.add(JSON.stringify(withSignature(signature)), this.#index);
	}

	/** Null is the content of calls alone. */
	requireContent(): void {
		this.#start(true);
		if (this.#isNull && this.#callCount === 0) this.#chunks.addText('', this.#index);
	}

	#start(hasText: boolean): void {
		if (this.#hasStarted) return;
		this.#hasStarted = true;
		this.#isNull = !hasText;
		this.#chunks.startChoice(this.#index, hasText);
	}
}
