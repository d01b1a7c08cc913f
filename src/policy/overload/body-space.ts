/** How much of the request bodies of a whole process may be in memory at once. */
import { Refusal } from '../../core/refusal.ts';

/** Bodies up to this size are small: they may use room that larger ones may not. */
const smallBytes = 65_536;

/** What larger ones may fill; the rest is kept for small ones, so that a few uploads cannot shut everybody out. */
const shareOfLarge = 0.75;

/** One for a process: what it counts outlives configurations. */
export class BodySpace {
	#heldBytes = 0;

	get heldBytes(): number {
		return this.#heldBytes;
	}

	/** Room for one request's body, at first for none. */
	hold(limitBytes: number): BodyHold {
		return new BodyHold(limitBytes, (bytes) => (this.#heldBytes += bytes));
	}
}

/** What one request holds. */
export class BodyHold {
	#bytes = 0;
	readonly #limitBytes: number;
	readonly #add: (bytes: number) => number;

	/** @param add changes what is held by all. @returns it. */
	constructor(limitBytes: number, add: (bytes: number) => number) {
		this.#limitBytes = limitBytes;
		this.#add = add;
	}

	/** @throws Refusal `overloaded` when there is no room for so much more; what was held before is held still. */
	grow(bytes: number): void {
		const most = this.#bytes + bytes <= smallBytes ? this.#limitBytes : this.#limitBytes * shareOfLarge;
		if (this.#add(bytes) > most) {
			this.#add(-bytes);
			throw new Refusal('overloaded', { message: 'Too many large requests are in flight: retry in a second', retryAfterSeconds: 1 });
		}
		this.#bytes += bytes;
	}

	/** Idempotent. */
	release(): void {
		this.#add(-this.#bytes);
		this.#bytes = 0;
	}
}
