/** Pools of connections by what they reach. */

/** More than any configuration names; the oldest pool gives way. */
const maxPools = 64;

/** What a client's pools have in common. */
export interface Retirable {
	/** Takes no further requests; those it has go on. */
	retire(): void;
	destroy(cause: Error): void;
}

export class PoolCache<Pool extends Retirable> {
	readonly #pools = new Map<string, Pool>();

	/** @param create called where there is none for the key */
	of(key: string, create: () => Pool): Pool {
		let pool = this.#pools.get(key);
		if (pool === undefined) {
			pool = create();
			this.#makeRoom();
			this.#pools.set(key, pool);
		}
		return pool;
	}

	/** For a process that stops. */
	destroy(): void {
		const pools = [...this.#pools.values()];
		this.#pools.clear();
		for (const pool of pools) pool.destroy(new Error('The process is stopping'));
	}

	#makeRoom(): void {
		const [oldest] = this.#pools;
		if (oldest === undefined || this.#pools.size < maxPools) return;
		this.#pools.delete(oldest[0]);
		oldest[1].retire();
	}
}
