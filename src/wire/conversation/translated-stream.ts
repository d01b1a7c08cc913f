import { Fault } from '../../core/fault.ts';
import { EventBatch, noEvents } from '../events/event-batch.ts';
import type { StreamEvent } from '../events/stream-event.ts';
import type { StreamReader, WrittenStream } from './response.ts';
import type { StreamTranslation } from './translation.ts';

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
