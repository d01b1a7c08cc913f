import { Fault } from '../../core/fault.ts';
import type { StreamTranslation } from './translation.ts';

/** A stream whose events are taken one by one. What stood before one that is invalid comes out first; then it throws. */
export abstract class EventByEvent implements StreamTranslation {
	isTerminated = false;
	hasFailed = false;
	#fault: Fault | undefined;

	push(events: Buffer): Buffer {
		if (this.#fault !== undefined) throw this.#fault;
		try {
			this.takeEvents(events);
		} catch (cause) {
			if (!(cause instanceof Fault)) throw cause;
			this.#fault = cause;
		}
		const text = this.written();
		if (text === '' && this.#fault !== undefined) throw this.#fault;
		return Buffer.from(text);
	}

	/** @throws Fault `provider_disconnected` when the provider has not said why it ended. */
	end(): Buffer {
		if (this.#fault !== undefined) throw this.#fault;
		if (!this.isTerminated && !this.hasFailed) this.finish();
		return Buffer.from(this.written());
	}

	/** @throws Fault `provider_answer_invalid`. */
	protected abstract takeEvents(events: Buffer): void;

	/** What is still owed to the caller; of a stream that is neither terminated nor failed. @throws Fault `provider_*`. */
	protected abstract finish(): void;

	/** Takes what was written for the caller since the last time. */
	protected abstract written(): string;
}
