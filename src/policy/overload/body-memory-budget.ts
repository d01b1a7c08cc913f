/** Limits the memory for request bodies of the whole process. */
import { Rejection } from '../../core/rejection.ts';

/** Maximum size of a small body. Small bodies can use memory that larger ones cannot. */
const mostSmallBytes = 65_536;

/** Share for larger bodies; the rest is reserved for small ones, so that a few uploads cannot block all other requests. */
const shareOfLarge = 0.75;

/** Memory of all bodies of one holder. */
interface Held {
	bytes: number;
	/** Memory of its small bodies. */
	smallBytes: number;
}

const nothing: Readonly<Held> = { bytes: 0, smallBytes: 0 };

/** Number of holders up to which idle ones are kept. */
const fewestHolders = 1024;

/** Memory budget for request bodies. One instance per process, because its counts outlive configurations. */
export class BodySpace {
	/** Idle holders are kept for a while, because entries that come and go with each request would rebuild the table (see `IdHashTable`). */
	readonly #held = new Map<string, Held>();
	#mostHolders = fewestHolders;
	#heldBytes = 0;

	get heldBytes(): number {
		return this.#heldBytes;
	}

	get holderCount(): number {
		return this.#held.size;
	}

	held(holder: string): Readonly<Held> {
		return this.#held.get(holder) ?? nothing;
	}

	/** Opens the reservation of one request's body, at first empty. @param holder owner of the request. */
	hold(holder: string, limitBytes: number): BodyHold {
		return new BodyHold(this, holder, limitBytes);
	}

	/** Use `BodyHold`. */
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

	/** Runs rarely enough that each new holder costs the check of two others. */
	#forgetIdle(): void {
		for (const [holder, { bytes }] of this.#held) if (bytes === 0) this.#held.delete(holder);
		this.#mostHolders = Math.max(fewestHolders, 2 * this.#held.size);
	}
}

/** Reservation of one request. */
export class BodyHold {
	#bytes = 0;
	/** Small bytes of the reservation: all of them, or none. */
	#smallBytes = 0;
	readonly #space: BodySpace;
	readonly #holder: string;
	readonly #limitBytes: number;

	constructor(space: BodySpace, holder: string, limitBytes: number) {
		this.#space = space;
		this.#holder = holder;
		this.#limitBytes = limitBytes;
	}

	/** @throws {Rejection} `overloaded` when the additional memory is not available; the existing reservation stays. */
	grow(bytes: number): void {
		const isSmall = this.#bytes + bytes <= mostSmallBytes;
		const most = isSmall ? this.#limitBytes : this.#limitBytes * shareOfLarge;
		const freeBytes = most - this.#space.heldBytes - bytes;
		const held = this.#space.held(this.#holder);
		const ownBytes = isSmall ? held.smallBytes : held.bytes;
		// Beyond one request, a holder must leave as much to all others as it has itself, so that a new holder always finds free memory.
		const isUnfair = ownBytes > this.#bytes && ownBytes + bytes > freeBytes;
		if (freeBytes < 0 || isUnfair) {
			throw new Rejection('overloaded', {
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
