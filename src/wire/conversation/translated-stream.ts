import { Fault } from '../../core/fault.ts';
import { readEvents } from '../translation/read-events.ts';
import type { StreamTranslation } from '../translation/translation.ts';
import type { StreamReader, WrittenStream } from './response.ts';

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

	push(events: Buffer): Buffer {
		if (this.#fault !== undefined) throw this.#fault;
		try {
			readEvents(events, this.#read);
		} catch (cause) {
			if (!(cause instanceof Fault)) throw cause;
			this.#fault = cause;
		}
		const text = this.#written.take();
		if (text === '' && this.#fault !== undefined) throw this.#fault;
		return Buffer.from(text);
	}

	/** @throws Fault `provider_disconnected` when the provider has not said why it ended. */
	end(): Buffer {
		if (this.#fault !== undefined) throw this.#fault;
		if (!this.isTerminated && !this.hasFailed) this.#reader.end();
		return Buffer.from(this.#written.take());
	}

	readonly #read = (data: string, name: string): void => {
		if (!this.isTerminated && !this.hasFailed) this.#reader.read({ data, name });
	};
}
