/** Limits the memory for request bodies of the whole process. */
import { Rejection } from '../../core/rejection.ts';

/** Maximum size of a small body. Small bodies can use memory that larger ones cannot. */
const maxSmallBytes = 65_536;

/** Share for larger bodies; the rest is reserved for small ones, so that a few uploads cannot block all other requests. */
const shareOfLarge = 0.75;

/** Memory of all bodies of one holder. */
interface OwnerUsage {
	bytes: number;
	/** Memory of its small bodies. */
	smallBytes: number;
}

const emptyUsage: Readonly<OwnerUsage> = { bytes: 0, smallBytes: 0 };

/** Number of holders up to which idle ones are kept. */
const minOwners = 1024;

/** Memory budget for request bodies. One instance per process, because its counts outlive configurations. */
export class BodyMemoryBudget {
	/** Idle holders are kept for a while, because entries that come and go with each request would rebuild the table (see `IdHashTable`). */
	readonly #reserved = new Map<string, OwnerUsage>();
	#maxOwners = minOwners;
	#reservedBytes = 0;

	get reservedBytes(): number {
		return this.#reservedBytes;
	}

	get ownerCount(): number {
		return this.#reserved.size;
	}

	reserved(owner: string): Readonly<OwnerUsage> {
		return this.#reserved.get(owner) ?? emptyUsage;
	}

	/** Opens the reservation of one request's body, at first empty. @param owner owner of the request. */
	reserve(owner: string, limitBytes: number): BodyMemoryReservation {
		return new BodyMemoryReservation(this, owner, limitBytes);
	}

	/** Use `BodyMemoryReservation`. */
	add(owner: string, bytes: number, smallBytes: number): void {
		this.#reservedBytes += bytes;
		let reserved = this.#reserved.get(owner);
		if (reserved === undefined) {
			if (this.#reserved.size >= this.#maxOwners) this.#forgetIdle();
			reserved = { bytes: 0, smallBytes: 0 };
			this.#reserved.set(owner, reserved);
		}
		reserved.bytes += bytes;
		reserved.smallBytes += smallBytes;
	}

	/** Runs rarely enough that each new holder costs the check of two others. */
	#forgetIdle(): void {
		for (const [owner, { bytes }] of this.#reserved) if (bytes === 0) this.#reserved.delete(owner);
		this.#maxOwners = Math.max(minOwners, 2 * this.#reserved.size);
	}
}

/** Reservation of one request. */
export class BodyMemoryReservation {
	#bytes = 0;
	/** Small bytes of the reservation: all of them, or none. */
	#smallBytes = 0;
	readonly #space: BodyMemoryBudget;
	readonly #owner: string;
	readonly #limitBytes: number;

	constructor(space: BodyMemoryBudget, owner: string, limitBytes: number) {
		this.#space = space;
		this.#owner = owner;
		this.#limitBytes = limitBytes;
	}

	/** @throws {Rejection} `overloaded` when the additional memory is not available; the existing reservation stays. */
	grow(bytes: number): void {
		const isSmall = this.#bytes + bytes <= maxSmallBytes;
		const max = isSmall ? this.#limitBytes : this.#limitBytes * shareOfLarge;
		const freeBytes = max - this.#space.reservedBytes - bytes;
		const reserved = this.#space.reserved(this.#owner);
		const ownBytes = isSmall ? reserved.smallBytes : reserved.bytes;
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
		this.#space.add(this.#owner, bytes, smallBytes);
		this.#bytes += bytes;
		this.#smallBytes += smallBytes;
	}
}
