import type { Clock, Timer } from '../../core/clock.ts';

/** Longer than the time between the end of one request and the start of the next, under load. */
const maxWaitMs = 3;

/** Number of waiting commands that are sent at once. */
const maxWaiting = 25;

/** Delays commands whose response no request waits for: they are sent with the next command, or together after a moment. */
export class CommandCoalescer {
	readonly #clock: Clock;
	#waiting: (() => void)[] = [];
	#timer: Timer | undefined;

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	/** @returns the result of `send`, which runs when the waiting commands are sent. */
	wait<T>(send: () => Promise<T>): Promise<T> {
		return new Promise((resolve) => {
			this.#waiting.push(() => resolve(send()));
			if (this.#waiting.length >= maxWaiting) this.go();
			else this.#timer ??= this.#clock.after(maxWaitMs, () => this.go());
		});
	}

	/** Sends the waiting commands. Must run before anything else is sent, to preserve the order of commands. */
	go(): void {
		if (this.#waiting.length === 0) return;
		this.#timer?.cancel();
		this.#timer = undefined;
		const waiting = this.#waiting;
		this.#waiting = [];
		for (const send of waiting) send();
	}
}
