import { Fault } from '../../core/fault.ts';
import { EventBatch, noEvents } from '../events/event-batch.ts';
import type { StreamEvent } from '../events/stream-event.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { ResponseReading, ResponseWriting, StreamReader, ToolNaming, TranslatedCall, WrittenStream } from './response.ts';

/** How the responses of a provider of one dialect are written for a client of another. Pure. */
export interface ResponseTranslation {
	/** A whole answer of status 200. @throws Fault `provider_response_invalid` for what is no answer of the provider's format. */
	translateAnswer(body: JsonObject, call: TranslatedCall): JsonObject;
	/** What a whole answer says that the caller's format cannot, in the form of a request's warnings. */
	answerWarnings?(body: JsonObject): readonly string[];
	/**
	 * The body of an error response, as the client's own vendor would word it. The gateway sets its status, by one rule for all formats.
	 * @param status as the provider sent it. @param body undefined when it is not JSON.
	 */
	translateError(status: number, body: JsonObject | undefined, call: TranslatedCall): TranslatedError;
	translateStream(call: TranslatedCall): StreamTranslation;
}

export interface TranslatedError {
	readonly body: JsonObject;
	/** Told in the body alone, where the provider has no header field for it. */
	readonly retryAfterSeconds?: number;
}

/** One stream: events of the provider's dialect in, events of the client's out. */
export interface StreamTranslation {
	/** @throws Fault `provider_response_invalid` for an event that cannot be understood. */
	push(events: EventBatch): EventBatch;
	/** The provider's stream has ended in order: what is still owed to the client. */
	end(): EventBatch;
	/** True once the caller's terminal event is out. */
	readonly isTerminated: boolean;
	/** True once an error event of the provider's was passed on. */
	readonly hasFailed: boolean;
}

/** Reads a stream event by event. What stood before an invalid event is written first; then it throws. */
export class TranslatedStream implements StreamTranslation {
	readonly #reader: StreamReader;
	readonly #written: WrittenStream;
	#fault: Fault | undefined;

	constructor(reader: StreamReader, written: WrittenStream) {
		this.#reader = reader;
		this.#written = written;
	}

	get isTerminated(): boolean {
		return this.#written.isTerminated;
	}

	get hasFailed(): boolean {
		return this.#written.hasFailed;
	}

	push(batch: EventBatch): EventBatch {
		if (this.#fault !== undefined) throw this.#fault;
		try {
			for (const event of batch.events) this.#read(event);
		} catch (cause) {
			if (!(cause instanceof Fault)) throw cause;
			this.#fault = cause;
		}
		const events = this.#take();
		if (events === noEvents && this.#fault !== undefined) throw this.#fault;
		return events;
	}

	/** @throws Fault `provider_disconnected` when the provider has not said why it ended. */
	end(): EventBatch {
		if (this.#fault !== undefined) throw this.#fault;
		if (!this.isTerminated && !this.hasFailed) this.#reader.end();
		return this.#take();
	}

	#read(event: StreamEvent): void {
		if (!this.isTerminated && !this.hasFailed && event.data !== undefined) this.#reader.read(event);
	}

	#take(): EventBatch {
		const events = this.#written.take();
		return events.length === 0 ? noEvents : EventBatch.ofTexts(events);
	}
}

/** The way back from a provider dialect to a client dialect. */
export function translateResponses(reading: ResponseReading, writing: ResponseWriting): ResponseTranslation {
	return {
		translateAnswer(body, call) {
			const writer = writing.createBodyWriter(
				call,
				toolNaming(reading, () => writing.toolNames(call.request)),
			);
			reading.readBody(body, writer);
			return writer.body();
		},
		answerWarnings: (body) => (reading.finishWarnings?.(body) ?? []).map((warning) => `${writing.finishField}: ${warning}`),
		translateError(status, body, call) {
			const error = reading.readError(status, body);
			const { retryAfterSeconds } = error;
			return { body: writing.writeError(error, call), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
		},
		translateStream(call) {
			const writer = writing.createStreamWriter(
				call,
				toolNaming(reading, () => writing.toolNames(call.request)),
			);
			return new TranslatedStream(reading.createStreamReader(writer), writer);
		},
	};
}

/** Looks at the offered tools only when one is called. */
function toolNaming({ fitToolName }: ResponseReading, namesOf: () => readonly string[]): ToolNaming {
	let offered: ReadonlyMap<string, string> | undefined;
	return (name) => {
		offered ??= new Map(namesOf().map((one) => [fitToolName(one), one]));
		return offered.get(name) ?? name;
	};
}
