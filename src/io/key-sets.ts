/** Key sets of all accepted issuers, which are fetched independently of each other. */
import type { KeySet } from './key-set.ts';

export interface KeySetsState {
	/** True if tokens of at least one issuer can be verified. */
	readonly isReady: boolean;
	/** True if tokens of every issuer can be verified. */
	readonly isComplete: boolean;
	readonly keyCount: number;
	readonly fetches: number;
	readonly failures: number;
}

export class KeySets {
	/** Key set of the first issuer. */
	readonly first: KeySet;
	/** Key sets of the others, by issuer. */
	readonly others: ReadonlyMap<string, KeySet>;

	constructor(first: KeySet, others: ReadonlyMap<string, KeySet>) {
		this.first = first;
		this.others = others;
	}

	get #all(): readonly KeySet[] {
		return [this.first, ...this.others.values()];
	}

	/** Resolves after the first attempt of each. */
	async start(): Promise<void> {
		await Promise.all(this.#all.map((keySet) => keySet.start()));
	}

	stop(): void {
		for (const keySet of this.#all) keySet.stop();
	}

	state(): KeySetsState {
		const states = this.#all.map((keySet) => keySet.state());
		const sum = (name: 'keyCount' | 'fetches' | 'failures'): number => states.reduce((total, state) => total + state[name], 0);
		return {
			isReady: states.some(({ isReady }) => isReady),
			isComplete: states.every(({ isReady }) => isReady),
			keyCount: sum('keyCount'),
			fetches: sum('fetches'),
			failures: sum('failures'),
		};
	}
}
