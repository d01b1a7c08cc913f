import type { ResponseContext } from '../../src/wire/conversation/response.ts';
import type { ResponseTranslation } from '../../src/wire/conversation/translation.ts';
import { EventBatch } from '../../src/wire/events/event-batch.ts';
import { EventFramer } from '../../src/wire/events/event-framer.ts';
import { StreamEvent } from '../../src/wire/events/stream-event.ts';

/** Batch of complete events; the last one may lack its empty line. */
export function eventsIn(bytes: Buffer | string): EventBatch {
	const framer = new EventFramer(() => 'none');
	const events = framer.push(Buffer.from(bytes))?.events ?? [];
	const rest = framer.takeBuffered();
	return EventBatch.ofEvents(rest.length === 0 ? events : [...events, StreamEvent.ofBytes(rest)]);
}

/** Translation of one stream, with bytes on both sides. */
export interface ByteTranslation {
	push(events: Buffer): Buffer;
	end(): Buffer;
	readonly isTerminated: boolean;
	readonly hasFailed: boolean;
}

export function translateBytes({ translateStream }: Pick<ResponseTranslation, 'translateStream'>, call: ResponseContext): ByteTranslation {
	const stream = translateStream(call);
	return {
		push: (events) => stream.push(eventsIn(events)).bytes,
		end: () => stream.end().bytes,
		get isTerminated() {
			return stream.isTerminated;
		},
		get hasFailed() {
			return stream.hasFailed;
		},
	};
}
