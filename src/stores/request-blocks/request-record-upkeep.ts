import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';

export interface RequestRetention {
	/** Records of requests that started longer ago are deleted. */
	readonly retainDays: number;
	/** The oldest records are deleted above this size of the store. */
	readonly maxBytes: number;
}

export interface RequestRecordUpkeepPorts {
	/** @returns true if there may be more to merge. */
	mergeSome(): Promise<boolean>;
	/** @returns true if there may be more to delete. */
	pruneSome(beforeMs: number, maxBytes: number): Promise<boolean>;
	readonly clock: Clock;
	readonly log: Log;
}

const msPerDay = 86_400_000;
const pruneEveryMs = 60_000;
const writesPerMerge = 16;

/** Merges and deletes blocks in small steps, between which records are written. */
export class RequestRecordUpkeep {
	readonly #ports: RequestRecordUpkeepPorts;
	readonly #retention: RequestRetention;
	#timer: Timer | undefined;
	#writes = 0;
	#merging: Promise<void> | undefined;
	#pruning: Promise<void> | undefined;
	#isFailing = false;
	#hasEnded = false;

	constructor(retention: RequestRetention, ports: RequestRecordUpkeepPorts) {
		this.#retention = retention;
		this.#ports = ports;
		this.#schedule();
	}

	/** Counts a written block. */
	noteWrite(): void {
		if (++this.#writes < writesPerMerge || this.#merging !== undefined || this.#hasEnded) return;
		this.#writes = 0;
		this.#merging = this.#repeat(() => this.#ports.mergeSome()).finally(() => {
			this.#merging = undefined;
		});
	}

	/** Deletes what retention does not keep. */
	prune(): Promise<void> {
		const { clock, pruneSome } = this.#ports;
		const { retainDays, maxBytes } = this.#retention;
		this.#pruning ??= this.#repeat(() => pruneSome(clock.nowMs() - retainDays * msPerDay, maxBytes)).finally(() => {
			this.#pruning = undefined;
		});
		return this.#pruning;
	}

	/** Resolves when nothing runs any more. */
	async end(): Promise<void> {
		this.#hasEnded = true;
		this.#timer?.cancel();
		await Promise.all([this.#merging, this.#pruning]);
	}

	#schedule(): void {
		this.#timer = this.#ports.clock.after(pruneEveryMs, () => {
			if (this.#hasEnded) return;
			void this.prune();
			this.#schedule();
		});
	}

	/** Never rejects: it is tried again later. */
	async #repeat(step: () => Promise<boolean>): Promise<void> {
		try {
			while (!this.#hasEnded && (await step()));
			this.#isFailing = false;
		} catch (cause) {
			if (!this.#isFailing) this.#ports.log.warn('request records cannot be merged or deleted; this is retried', { cause });
			this.#isFailing = true;
		}
	}
}
