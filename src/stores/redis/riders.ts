import type { Clock, Timer } from '../../core/clock.ts';

/** Between one call's end and the next call's begin there is less, where there is load. */
const longestWaitMs = 3;

/** So many do not wait for company. */
const mostWaiting = 25;

/** Commands whose answers nobody waits for: they go along with the next that goes anyway, or a moment later together. */
export class Riders {
	readonly #clock: Clock;
	#waiting: (() => void)[] = [];
	#timer: Timer | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** @returns what `send` returns once it was its turn. */
	wait<T>(send: () => Promise<T>): Promise<T> {
		return new Promise((resolve) => {
			this.#waiting.push(() => resolve(send()));
			if (this.#waiting.length >= mostWaiting) this.go();
			else this.#timer ??= this.#clock.after(longestWaitMs, () => this.go());
		});
	}

	/** To be called before anything else is sent, so that the order of commands is the order in which they were given. */
	go(): void {
		if (this.#waiting.length === 0) return;
		this.#timer?.cancel();
		this.#timer = undefined;
		const waiting = this.#waiting;
		this.#waiting = [];
		for (const send of waiting) send();
	}
}
