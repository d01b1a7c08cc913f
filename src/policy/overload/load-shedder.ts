/** Turns new requests away before those that were taken wait too long. What is in flight is never touched. */

export interface LoadShedderSettings {
	/** Requests in flight at once, open streams included; the next one is turned away. */
	readonly maxInFlight: number;
	/** How late the event loop may be before requests are turned away. */
	readonly targetDelayMs: number;
	/** Share of the memory that the process may use, beyond which nothing new is taken; 0 to 1. */
	readonly maxMemoryShare: number;
}

/** What is known of the process now. */
export interface LoadSample {
	/** Longest that the event loop was late since the sample before. */
	readonly loopDelayMs: number;
	/** Of the memory that the process may use; 0 to 1. */
	readonly memoryShare: number;
}

export type ShedReason = 'in_flight' | 'loop_delay' | 'memory';

/** A pause, such as a collection of garbage or a busy neighbour, is no overload yet. */
const sustainedMs = 1000;

/** Steps of the share that is turned away, from sample to sample: fast up, slowly down, so that it settles near what is too much. */
const increase = 0.25;
const decrease = 0.03;
/** So that the delay is still felt, and its end noticed. */
const mostShed = 0.97;

export class LoadShedder {
	readonly #settings: LoadShedderSettings;
	#shed = 0;
	#lateForMs = 0;
	#isMemoryShort = false;

	constructor(settings: LoadShedderSettings) {
		this.#settings = settings;
	}

	/** Share of new requests that is turned away because the event loop is late; 0 to 1. */
	get share(): number {
		return this.#shed;
	}

	/** To be told several times a second. */
	observe({ loopDelayMs, memoryShare }: LoadSample): void {
		const { targetDelayMs, maxMemoryShare } = this.#settings;
		this.#lateForMs = loopDelayMs > targetDelayMs ? this.#lateForMs + loopDelayMs : 0;
		if (this.#lateForMs >= sustainedMs) this.#shed = Math.min(mostShed, this.#shed + increase);
		else if (this.#lateForMs === 0) this.#shed = Math.max(0, this.#shed - decrease);
		this.#isMemoryShort = memoryShare > maxMemoryShare;
	}

	/**
	 * @param inFlight requests whose answer is not over, without the one that is asked about.
	 * @param chance from 0 to below 1, another one for each request.
	 * @returns why a new request is turned away; undefined when it is taken.
	 */
	judge(inFlight: number, chance: number): ShedReason | undefined {
		if (inFlight >= this.#settings.maxInFlight) return 'in_flight';
		if (this.#isMemoryShort) return 'memory';
		return chance < this.#shed ? 'loop_delay' : undefined;
	}
}
