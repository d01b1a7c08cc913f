import type { Clock, Timer } from '../../../core/clock.ts';

interface Waiting {
	readonly begin: () => void;
	readonly timer: Timer;
}

/** So many may work at a time; a bounded number waits, in order, for as long as each may. */
export class Places {
	readonly #clock: Clock;
	readonly #mostWaiting: number;
	readonly #waiting = new Set<Waiting>();
	#free: number;

	constructor(clock: Clock, count: number, mostWaiting: number) {
		this.#clock = clock;
		this.#free = count;
		this.#mostWaiting = mostWaiting;
	}

	/** @returns whether there was a place in time; who got one gives it back with `leave`. */
	enter(mostMs: number): Promise<boolean> {
		if (this.#free > 0) {
			this.#free--;
			return Promise.resolve(true);
		}
		if (this.#waiting.size >= this.#mostWaiting || mostMs <= 0) return Promise.resolve(false);
		return new Promise((resolve) => {
			const waiting: Waiting = {
				begin: () => resolve(true),
				timer: this.#clock.after(mostMs, () => {
					this.#waiting.delete(waiting);
					resolve(false);
				}),
			};
			this.#waiting.add(waiting);
		});
	}

	leave(): void {
		const [next] = this.#waiting;
		if (next === undefined) {
			this.#free++;
			return;
		}
		this.#waiting.delete(next);
		next.timer.cancel();
		next.begin();
	}
}
