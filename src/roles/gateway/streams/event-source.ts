import type { ByteFlow, ByteSink, ByteStream } from '../../../core/handler.ts';
import type { ClientDialect } from '../../../wire/dialects/dialect.ts';
import { EventBatch } from '../../../wire/events/event-batch.ts';
import { heartbeat, StreamEvent } from '../../../wire/events/stream-event.ts';
import type { GatewayError } from '../../../wire/gateway-error.ts';

/** Events on their way to the client: relay, guards and connection hand the same ones on. Rules of `ByteStream` and `ByteSink` hold. */
export interface EventSource {
	start(sink: EventSink): ByteFlow;
}

export interface EventSink {
	/** False asks for silence until `ByteFlow.resume`. */
	write(events: EventBatch): boolean;
	/** Bytes in which no events can be found: compressed ones, or of an event too long to hold. Nothing but such follows. */
	writeOpaque(bytes: Buffer): boolean;
	end(): void;
	fail(cause: unknown): void;
}

/** The body of a streaming response. */
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
 * Ends a broken stream in a way that the client's SDKs raise as an error.
 * @param missingEnd of the event before, which must end first.
 */
export function errorEvent(format: ClientDialect, error: GatewayError, missingEnd?: Buffer): EventBatch {
	const event = format.renderErrorEvent(error);
	return EventBatch.ofEvents([StreamEvent.ofBytes(missingEnd === undefined ? event : Buffer.concat([missingEnd, event]))]);
}

export const heartbeatEvent: EventBatch = EventBatch.ofBytes(heartbeat, [heartbeat.length]);
