import { UpstreamError } from '../../core/upstream-error.ts';
import { EventBatch, noEvents } from '../events/event-batch.ts';
import type { StreamEvent } from '../events/stream-event.ts';
import type { JsonObject } from '../json/parse-body.ts';
import type { ResponseContext, ResponseReading, ResponseWriting, StreamReader, ToolNaming, WrittenStream } from './response.ts';

/** Translates the responses of one provider dialect for clients of another. Pure. */
export interface ResponseTranslation {
	/**
	 * Translates a non-streaming response of status 200. @throws `UpstreamError` `provider_response_invalid` for a body outside the provider's
	 * format.
	 */
	translateResponse(body: JsonObject, call: ResponseContext): JsonObject;
	/** Returns warnings for content of a non-streaming response that the client's format cannot express. */
	responseWarnings?(body: JsonObject): readonly string[];
	/**
	 * Translates the body of an error response into the format of the client's vendor. The gateway sets its status, by one rule for all
	 * formats.
	 * @param status as the provider sent it. @param body undefined if it is not JSON.
	 */
	translateError(status: number, body: JsonObject | undefined, call: ResponseContext): TranslatedError;
	translateStream(call: ResponseContext): StreamTranslation;
}

export interface TranslatedError {
	readonly body: JsonObject;
	/** Delay from the body, if the provider sends no header field for it. */
	readonly retryAfterSeconds?: number;
}

/** Translates one stream: events of the provider's dialect in, events of the client's out. */
export interface StreamTranslation {
	/** @throws `UpstreamError` `provider_response_invalid` for an invalid event. */
	push(events: EventBatch): EventBatch;
	/** Handles the regular end of the provider's stream. @returns the remaining events for the client. */
	end(): EventBatch;
	/** True once the client's terminal event is written. */
	readonly isTerminated: boolean;
	/** True once an error event of the provider is forwarded. */
	readonly hasFailed: boolean;
}

/** Reads a stream event by event. Events before an invalid one are written first; then it throws. */
export class TranslatedStream implements StreamTranslation {
	readonly #reader: StreamReader;
	readonly #written: WrittenStream;
	#malformed: UpstreamError | undefined;

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
		if (this.#malformed !== undefined) throw this.#malformed;
		try {
			for (const event of batch.events) this.#read(event);
		} catch (cause) {
			if (!(cause instanceof UpstreamError)) throw cause;
			this.#malformed = cause;
		}
		const events = this.#take();
		if (events === noEvents && this.#malformed !== undefined) throw this.#malformed;
		return events;
	}

	/** @throws `UpstreamError` `provider_disconnected` if the provider sent no finish reason. */
	end(): EventBatch {
		if (this.#malformed !== undefined) throw this.#malformed;
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

/** Composes the translation from a provider dialect to a client dialect. */
export function translateResponses(reading: ResponseReading, writing: ResponseWriting): ResponseTranslation {
	return {
		translateResponse(body, call) {
			const writer = writing.createBodyWriter(
				call,
				toolNaming(reading, call, () => writing.toolNames(call.request)),
			);
			reading.readBody(body, writer);
			return writer.body();
		},
		responseWarnings: (body) => (reading.finishWarnings?.(body) ?? []).map((warning) => `${writing.finishField}: ${warning}`),
		translateError: errorTranslation(reading.readError, writing.writeError),
		translateStream(call) {
			const writer = writing.createStreamWriter(
				call,
				toolNaming(reading, call, () => writing.toolNames(call.request)),
			);
			return new TranslatedStream(reading.createStreamReader(writer), writer);
		},
	};
}

/** Composes the translation of errors from a provider dialect to a client dialect. */
export function errorTranslation(
	readError: ResponseReading['readError'],
	writeError: ResponseWriting['writeError'],
): ResponseTranslation['translateError'] {
	return (status, body, call) => {
		const error = readError(status, body);
		const { retryAfterSeconds } = error;
		return { body: writeError(error, call), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
	};
}

/** Reads the offered tools only when one is called. Models invent tools at times; their calls are forwarded. */
function toolNaming({ fitToolName }: ResponseReading, { warn }: ResponseContext, namesOf: () => readonly string[]): ToolNaming {
	let offered: ReadonlyMap<string, string> | undefined;
	return (name) => {
		offered ??= new Map(namesOf().map((one) => [fitToolName(one), one]));
		const own = offered.get(name);
		if (own === undefined) warn?.('tools: the model called a tool that the request does not offer');
		return own ?? name;
	};
}
