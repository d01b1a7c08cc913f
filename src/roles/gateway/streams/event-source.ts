import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { ClientDialect, ErrorEnding } from '../../../wire/dialects/dialect.ts';
import { EventBatch } from '../../../wire/events/event-batch.ts';
import { heartbeat, StreamEvent } from '../../../wire/events/stream-event.ts';
import type { GatewayError } from '../../../wire/gateway-error.ts';

/**
 * Source of events for the client: relay, guards and connection pass the same events on. The rules of `ByteStream` and `ByteSink` apply.
 */
export interface EventSource {
	start(sink: EventSink): ByteFlow;
}

export interface EventSink {
	/** Returns false to pause the source until `ByteFlow.resume`. */
	write(events: EventBatch): boolean;
	/** Writes bytes without recognizable events: compressed ones, or an event above the buffer limit. Only such bytes follow. */
	writeOpaque(bytes: Buffer): boolean;
	end(): void;
	fail(cause: unknown): void;
}

export class EventBody implements ByteStream {
	readonly source: EventSource;

	constructor(source: EventSource) {
		this.source = source;
	}

	start(sink: ByteSink): ByteFlow {
		return this.source.start({
			write: ({ bytes }) => sink.write(bytes),
			writeOpaque: (bytes) => sink.write(bytes),
			end: () => sink.end(),
			fail: (cause) => sink.fail(cause),
		});
	}
}

/**
 * Creates the error event of a broken stream, which the client's SDKs raise as an error.
 * @param ending followed the stream, if the format needs it. @param missingEnd of the event before, which must end first.
 */
export function errorEvent(format: ClientDialect, error: GatewayError, ending?: ErrorEnding, missingEnd?: Buffer): EventBatch {
	const [first, ...others] = ending?.end(error) ?? [format.renderErrorEvent(error)];
	const begin = missingEnd === undefined ? first : Buffer.concat([missingEnd, first ?? missingEnd]);
	return EventBatch.ofEvents([begin, ...others].flatMap((bytes) => (bytes === undefined ? [] : [StreamEvent.ofBytes(bytes)])));
}

export const heartbeatEvent: EventBatch = EventBatch.ofBytes(heartbeat, [heartbeat.length]);
