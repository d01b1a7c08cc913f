/** Turns new requests away before those that were taken wait too long. What is in flight is never touched. */

export interface LoadShedderSettings {
	/** Requests in flight at once, open streams included; the next one is turned away. */
	readonly maxInFlight: number;
	/** How late the event loop may be, on average, before requests are turned away. While they are, it is held to an eighth of it. */
	readonly targetDelayMs: number;
	/** Share of the memory that the process may use, beyond which nothing new is taken; 0 to 1. */
	readonly maxMemoryShare: number;
}

/** What is known of the process since the sample before. */
export interface LoadSample {
	/** Since the sample before. */
	readonly spanMs: number;
	/** How late the event loop was, on average over some of its turns, or how long work waited for a turn of its own. */
	readonly loopDelayMs: number;
	/** Of the time, what the loop did not wait for something to do; 0 to 1. */
	readonly busyShare: number;
	/** The larger of what is used of the heap and of the machine's or container's memory; 0 to 1. */
	readonly memoryShare: number;
	/** The process does what it does once: it loads and compiles its code. */
	readonly isStarting: boolean;
}

export type ShedReason = 'in_flight' | 'loop_delay' | 'memory';

/** For so long at a stretch before anything is turned away: a pause, or a burst of a thousand requests, is no overload yet. */
const sustainedMs = 1000;
/** A single sample counts for this much of it, however long the loop stood still. */
const maxSpanMs = sustainedMs / 2;

/** Of the delay at which it begins, what is aimed at while requests are turned away. */
const steadyShare = 1 / 8;

/** A loop that is late without work of its own waits for a machine that others keep busy: turning requests away would not help. */
const busyEnough = 0.9;

/**
 * Steps of the share that is turned away, from sample to sample: fast up, slowly down, and the more slowly the less there is
 * to spare, so that it settles near what is too much.
 */
const increase = 0.1;
/** So many times later than it may be, the loop has a queue before it that those who are taken now wait behind: then faster, up to tenfold. */
const farTooLate = 4;
const mostIncrease = 1;
const decrease = 0.04;
/** Where the loop is late for want of the machine, there is nothing to spare, and nothing to be turned away either. */
const minSpare = 0.1;
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
	observe({ spanMs, loopDelayMs, busyShare, memoryShare, isStarting }: LoadSample): void {
		const { targetDelayMs, maxMemoryShare } = this.#settings;
		// Many callers who wait for their answers are no overload; more work than can be done is, and then nobody is to wait long.
		const mostMs = this.#shed > 0 ? targetDelayMs * steadyShare : targetDelayMs;
		const isLate = loopDelayMs > mostMs && busyShare >= busyEnough && !isStarting;
		this.#lateForMs = isLate ? this.#lateForMs + Math.min(spanMs, maxSpanMs) : 0;
		if (this.#lateForMs === 0) this.#shed = Math.max(0, this.#shed - decrease * Math.max(minSpare, 1 - loopDelayMs / mostMs));
		else if (this.#shed > 0 || this.#lateForMs >= sustainedMs) {
			const step = Math.min(mostIncrease, increase * Math.max(1, loopDelayMs / mostMs / farTooLate));
			this.#shed = Math.min(mostShed, this.#shed + step);
		}
		this.#isMemoryShort = memoryShare > maxMemoryShare;
	}

	/**
	 * @param inFlight requests whose answer is not over, without the one that is asked about.
	 * @param chance from 0 to below 1, another one for each request.
	 * @param turnMs how long the event loop has been at work since it last looked for what is new.
	 * @returns why a new request is turned away; undefined when it is taken.
	 */
	judge(inFlight: number, chance: number, turnMs: number): ShedReason | undefined {
		if (inFlight >= this.#settings.maxInFlight) return 'in_flight';
		if (this.#isMemoryShort) return 'memory';
		if (this.#shed === 0) return undefined;
		// What comes in one turn is answered in one: taking it all would make the next turn as late.
		return chance < this.#shed || turnMs > (this.#settings.targetDelayMs * steadyShare) / 2 ? 'loop_delay' : undefined;
	}
}
