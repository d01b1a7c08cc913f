/** Sheds load: rejects new requests before accepted ones wait too long. In-flight requests are never affected. */

export interface LoadShedderSettings {
	/** Maximum in-flight requests, including open streams; the next one is rejected. */
	readonly maxInFlight: number;
	/** Maximum mean delay of the event loop before requests are rejected. During load shedding, the target is an eighth of it. */
	readonly targetDelayMs: number;
	/** Share of the process's memory limit above which all new requests are rejected; 0 to 1. */
	readonly maxMemoryShare: number;
}

/** Measurements of the process since the previous sample. */
export interface LoadSample {
	/** Time since the previous sample. */
	readonly spanMs: number;
	/** Delay of the event loop, averaged over some turns, or the time that work waited after it yielded to the event loop. */
	readonly loopDelayMs: number;
	/** Share of the time in which the loop was not idle; 0 to 1. */
	readonly busyShare: number;
	/** Used share of the heap, or of the machine's or container's memory, whichever is larger; 0 to 1. */
	readonly memoryShare: number;
	/** Marks startup work, such as loading and compiling code. */
	readonly isStarting: boolean;
}

export type ShedReason = 'in_flight' | 'loop_delay' | 'memory';

/** Minimum duration of a delay before requests are rejected: a pause, or a burst of a thousand requests, is no overload. */
const sustainedMs = 1000;
/** Maximum contribution of a single sample to that duration, however long the loop was blocked. */
const maxSpanMs = sustainedMs / 2;

/** Target delay during load shedding, as a share of the maximum. */
const steadyShare = 1 / 8;

/** Minimum busy share. An idle loop that is late waits for a machine that other processes use; rejecting requests would not help. */
const busyEnough = 0.9;

/**
 * Steps of the rejected share from sample to sample: fast up and slowly down. The share decreases more slowly with less headroom below the
 * target delay, so that it settles near the excess load.
 */
const increase = 0.1;
/**
 * Ratio of the delay to its maximum at which a queue precedes the loop, and accepted requests wait behind it. The share then increases
 * faster, up to tenfold.
 */
const farTooLate = 4;
const maxIncrease = 1;
const decrease = 0.04;
/** Minimum headroom in that formula, for a loop that is late because of the machine: it has none, but no load to reject either. */
const minSpare = 0.1;
/** Limits the share, so that enough requests remain to measure the delay, and its end. */
const maxShed = 0.97;

export class LoadShedder {
	readonly #settings: LoadShedderSettings;
	#shed = 0;
	#lateForMs = 0;
	#isMemoryShort = false;

	constructor(settings: LoadShedderSettings) {
		this.#settings = settings;
	}

	/** Share of new requests that is rejected because of the event loop's delay; 0 to 1. */
	get share(): number {
		return this.#shed;
	}

	/** Takes a sample; runs several times a second. */
	observe({ spanMs, loopDelayMs, busyShare, memoryShare, isStarting }: LoadSample): void {
		const { targetDelayMs, maxMemoryShare } = this.#settings;
		// Many waiting clients are no overload. Once load is shed there is more work than capacity, and no request should wait long.
		const maxMs = this.#shed > 0 ? targetDelayMs * steadyShare : targetDelayMs;
		const isLate = loopDelayMs > maxMs && busyShare >= busyEnough && !isStarting;
		this.#lateForMs = isLate ? this.#lateForMs + Math.min(spanMs, maxSpanMs) : 0;
		if (this.#lateForMs === 0) this.#shed = Math.max(0, this.#shed - decrease * Math.max(minSpare, 1 - loopDelayMs / maxMs));
		else if (this.#shed > 0 || this.#lateForMs >= sustainedMs) {
			const step = Math.min(maxIncrease, increase * Math.max(1, loopDelayMs / maxMs / farTooLate));
			this.#shed = Math.min(maxShed, this.#shed + step);
		}
		this.#isMemoryShort = memoryShare > maxMemoryShare;
	}

	/**
	 * @param inFlight requests without a complete response, excluding the new one.
	 * @param chance from 0 to below 1, another value for each request.
	 * @param tickMs duration of the current turn of the event loop since it last polled for events.
	 * @returns the reason to reject a new request; undefined to accept it.
	 */
	judge(inFlight: number, chance: number, tickMs: number): ShedReason | undefined {
		if (inFlight >= this.#settings.maxInFlight) return 'in_flight';
		if (this.#isMemoryShort) return 'memory';
		if (this.#shed === 0) return undefined;
		// Requests that arrive in one turn are processed in one: accepting all of them would make the next turn as late.
		return chance < this.#shed || tickMs > (this.#settings.targetDelayMs * steadyShare) / 2 ? 'loop_delay' : undefined;
	}
}
