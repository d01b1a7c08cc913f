import type { Clock, Timer } from '../../core/clock.ts';
import { Fault } from '../../core/fault.ts';
import { Refusal } from '../../core/refusal.ts';
import type { TrafficTerms } from '../../policy/resilience/traffic-terms.ts';
import type { OpenCall } from './open-calls.ts';

/** Until some of the calls that wait are through, one may hope. */
const retryAfterSeconds = 1;

interface Waiter {
	readonly timer: Timer;
	admit(): void;
}

/** Bounds how many calls one provider has at a time, so that a slow one cannot take what the others need. */
export class ProviderGate {
	#inFlight = 0;
	#terms: TrafficTerms | undefined;
	/** Of earlier configurations, under which some calls may still come back for a retry. */
	readonly #superseded = new WeakSet<TrafficTerms>();
	readonly #waiters = new Set<Waiter>();

	get inFlight(): number {
		return this.#inFlight;
	}

	get queued(): number {
		return this.#waiters.size;
	}

	/**
	 * Takes a place, which `open` gives back when it ends, at the latest. The first call under new terms makes them count for all.
	 * @returns undefined when there was one; else a promise, of undefined when one became free, or of why there was none: Refusal
	 * `provider_busy`, Fault `provider_first_byte_timeout`. It rejects with what the call was ended with.
	 */
	enter(open: OpenCall, terms: TrafficTerms, maxWaitMs: number, clock: Clock): Promise<Fault | Refusal | undefined> | undefined {
		const { maxConcurrent, maxQueued } = this.#follow(terms);
		if (this.#inFlight < maxConcurrent && this.#waiters.size === 0) {
			this.#inFlight++;
			open.occupy(this);
			return undefined;
		}
		if (this.#waiters.size >= maxQueued) return Promise.resolve(new Refusal('provider_busy', { retryAfterSeconds }));
		return this.#wait(open, maxWaitMs, clock);
	}

	leave(): void {
		this.#inFlight--;
		if (this.#terms !== undefined) this.#admit(this.#terms);
	}

	/** @returns the terms that count. */
	#follow(terms: TrafficTerms): TrafficTerms {
		if (this.#terms === terms) return terms;
		if (this.#terms !== undefined) {
			if (this.#superseded.has(terms)) return this.#terms;
			this.#superseded.add(this.#terms);
		}
		this.#terms = terms;
		this.#admit(terms);
		return terms;
	}

	#admit({ maxConcurrent }: TrafficTerms): void {
		for (const waiter of this.#waiters) {
			if (this.#inFlight >= maxConcurrent) return;
			this.#inFlight++;
			waiter.admit();
		}
	}

	#wait(open: OpenCall, maxWaitMs: number, clock: Clock): Promise<Fault | undefined> {
		return new Promise((resolve, reject) => {
			const settle = (): void => {
				this.#waiters.delete(waiter);
				waiter.timer.cancel();
			};
			const waiter: Waiter = {
				timer: clock.after(maxWaitMs, () => {
					settle();
					const message = 'The provider had no place for the call within `gateway.timeouts.first_byte_ms`';
					resolve(new Fault('provider_first_byte_timeout', { message }));
				}),
				admit: () => {
					settle();
					open.occupy(this);
					resolve(undefined);
				},
			};
			this.#waiters.add(waiter);
			open.whenEnded((reason) => {
				settle();
				reject(reason);
			});
		});
	}
}
