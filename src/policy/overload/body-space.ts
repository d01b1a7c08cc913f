/** How much of the request bodies of a whole process may be in memory at once. */
import { Refusal } from '../../core/refusal.ts';

/** Bodies up to this size are small: they may use room that larger ones may not. */
const mostSmallBytes = 65_536;

/** What larger ones may fill; the rest is kept for small ones, so that a few uploads cannot shut everybody out. */
const shareOfLarge = 0.75;

/** Of all bodies of one holder that are in memory. */
interface Held {
	bytes: number;
	/** Of them, those of small bodies. */
	smallBytes: number;
}

const nothing: Readonly<Held> = { bytes: 0, smallBytes: 0 };

/** One for a process: what it counts outlives configurations. */
export class BodySpace {
	readonly #held = new Map<string, Held>();
	#heldBytes = 0;

	get heldBytes(): number {
		return this.#heldBytes;
	}

	/** Of one holder. */
	held(holder: string): Readonly<Held> {
		return this.#held.get(holder) ?? nothing;
	}

	/** Room for one request's body, at first for none. @param holder whose request it is. */
	hold(holder: string, limitBytes: number): BodyHold {
		return new BodyHold(this, holder, limitBytes);
	}

	/** For `BodyHold` alone. */
	add(holder: string, bytes: number, smallBytes: number): void {
		this.#heldBytes += bytes;
		const held = this.#held.get(holder);
		if (held === undefined) {
			this.#held.set(holder, { bytes, smallBytes });
			return;
		}
		held.bytes += bytes;
		held.smallBytes += smallBytes;
		if (held.bytes === 0) this.#held.delete(holder);
	}
}

/** What one request holds. */
export class BodyHold {
	#bytes = 0;
	/** All of them, or none. */
	#smallBytes = 0;
	readonly #space: BodySpace;
	readonly #holder: string;
	readonly #limitBytes: number;

	constructor(space: BodySpace, holder: string, limitBytes: number) {
		this.#space = space;
		this.#holder = holder;
		this.#limitBytes = limitBytes;
	}

	/** @throws Refusal `overloaded` when there is no room for so much more; what was held before is held still. */
	grow(bytes: number): void {
		const isSmall = this.#bytes + bytes <= mostSmallBytes;
		const most = isSmall ? this.#limitBytes : this.#limitBytes * shareOfLarge;
		const freeBytes = most - this.#space.heldBytes - bytes;
		const held = this.#space.held(this.#holder);
		const ownBytes = isSmall ? held.smallBytes : held.bytes;
		// Beyond one request a holder leaves as much to all others as it has itself: however many fill the room, a newcomer finds some.
		const isUnfair = ownBytes > this.#bytes && ownBytes + bytes > freeBytes;
		if (freeBytes < 0 || isUnfair) {
			throw new Refusal('overloaded', { message: 'Too many large requests are in flight: retry in a second', retryAfterSeconds: 1 });
		}
		this.#add(bytes, isSmall ? bytes : -this.#smallBytes);
	}

	/** Idempotent. */
	release(): void {
		this.#add(-this.#bytes, -this.#smallBytes);
	}

	#add(bytes: number, smallBytes: number): void {
		if (bytes === 0) return;
		this.#space.add(this.#holder, bytes, smallBytes);
		this.#bytes += bytes;
		this.#smallBytes += smallBytes;
	}
}
