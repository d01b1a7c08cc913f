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

/** So many holders are known at least before those that hold nothing are forgotten. */
const fewestHolders = 1024;

/** One for a process: what it counts outlives configurations. */
export class BodySpace {
	/** Who holds nothing stays for a while: entries that come and go with each request would make tables anew (see `CallTable`). */
	readonly #held = new Map<string, Held>();
	#mostHolders = fewestHolders;
	#heldBytes = 0;

	get heldBytes(): number {
		return this.#heldBytes;
	}

	/** Of whom something is known. */
	get holderCount(): number {
		return this.#held.size;
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
		let held = this.#held.get(holder);
		if (held === undefined) {
			if (this.#held.size >= this.#mostHolders) this.#forgetIdle();
			held = { bytes: 0, smallBytes: 0 };
			this.#held.set(holder, held);
		}
		held.bytes += bytes;
		held.smallBytes += smallBytes;
	}

	/** Rarely enough that it costs each newcomer the look at two others. */
	#forgetIdle(): void {
		for (const [holder, { bytes }] of this.#held) if (bytes === 0) this.#held.delete(holder);
		this.#mostHolders = Math.max(fewestHolders, 2 * this.#held.size);
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
			throw new Refusal('overloaded', {
				message: 'The memory budget for request bodies is exhausted (`gateway.max_buffered_request_bytes`): retry in 1 s',
				retryAfterSeconds: 1,
			});
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
