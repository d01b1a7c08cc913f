/**
 * Counts requests by source over a sliding window. Memory is allocated once, in flat arrays, and every step has constant cost. A new source
 * evicts the longest silent one when there is no space.
 */
import type { SourceKey } from './source-key.ts';

export interface IpRateSettings {
	/** Maximum requests of one source in any window. */
	readonly requests: number;
	readonly windowSeconds: number;
	readonly maxSources: number;
}

/** A window of 300 s has slices of 10 s. */
const slicesPerWindow = 30;

/** The current slice is incomplete: with one slice more than the window has, no window at any position exceeds the limit. */
const retainedSlices = slicesPerWindow + 1;

/** Requests that are not yet reported to other processes, as a share of the limit: with four processes less than 1 % of it. */
const unsyncedShare = 1 / 400;

/** Interval of exchanges about a source that is rejected because of its requests to other processes. */
const retryMs = 1000;

/**
 * Limits the extrapolation of remote counts, which are outdated on arrival and until the next exchange. Sources are assumed to continue at
 * their rate.
 */
const maxForesightMs = 500;
const maxForeseenShare = 0.05;

const none = -1;

export class IpRateWindow {
	readonly #limit: number;
	readonly #sliceMs: number;
	readonly #seed: number;
	readonly #capacity: number;
	#size = 0;

	/** First source of each hash bucket; the others follow in `#nextInBucket`. */
	readonly #buckets: Int32Array;
	readonly #nextInBucket: Int32Array;
	/** Links all sources from the most recent to the longest silent one. */
	readonly #older: Int32Array;
	readonly #newer: Int32Array;
	#newest = none;
	#oldest = none;

	readonly #high: Uint32Array;
	readonly #low: Uint32Array;
	readonly #lastSlice: Uint32Array;
	readonly #total: Uint32Array;
	readonly #counts: Uint16Array | Uint32Array;

	/** Requests that other processes counted for the same sources; 0 for a single process. */
	readonly #elsewhere: Uint32Array;
	/** Recent growth of `elsewhere`, in requests per millisecond. */
	readonly #elsewherePace: Float32Array;
	readonly #heardMs: Float64Array;
	readonly #unsynced: Uint32Array;
	readonly #windowMs: number;

	/** @param hashSeed any secret number, so that no client can choose addresses that fall into one bucket. */
	constructor({ requests, windowSeconds, maxSources }: IpRateSettings, hashSeed: number) {
		this.#limit = requests;
		this.#windowMs = windowSeconds * 1000;
		this.#sliceMs = (windowSeconds * 1000) / slicesPerWindow;
		this.#seed = hashSeed;
		this.#capacity = maxSources;
		this.#buckets = new Int32Array(2 ** Math.ceil(Math.log2(maxSources + 1))).fill(none);
		this.#nextInBucket = new Int32Array(maxSources);
		this.#older = new Int32Array(maxSources);
		this.#newer = new Int32Array(maxSources);
		this.#high = new Uint32Array(maxSources);
		this.#low = new Uint32Array(maxSources);
		this.#lastSlice = new Uint32Array(maxSources);
		this.#total = new Uint32Array(maxSources);
		this.#elsewhere = new Uint32Array(maxSources);
		this.#elsewherePace = new Float32Array(maxSources);
		this.#heardMs = new Float64Array(maxSources);
		this.#unsynced = new Uint32Array(maxSources);
		this.#counts = requests > 0xffff ? new Uint32Array(maxSources * retainedSlices) : new Uint16Array(maxSources * retainedSlices);
	}

	/**
	 * Counts the request if it is within the limit. A rejected request is not counted, so a source is accepted again when its admitted
	 * requests have left the window, however many it sends meanwhile.
	 * @param nowMs monotonic.
	 */
	admit(source: SourceKey, nowMs: number): boolean {
		const slice = Math.floor(nowMs / this.#sliceMs) >>> 0;
		const index = this.#find(source) ?? this.#add(source, slice);
		this.#touch(index);
		this.#forgetUntil(index, slice);
		if ((this.#total[index] ?? 0) + this.#countElsewhere(index, nowMs) >= this.#limit) return false;
		const cell = index * retainedSlices + (slice % retainedSlices);
		this.#counts[cell] = (this.#counts[cell] ?? 0) + 1;
		this.#total[index] = (this.#total[index] ?? 0) + 1;
		this.#unsynced[index] = (this.#unsynced[index] ?? 0) + 1;
		return true;
	}

	/**
	 * Tells whether an exchange about the source is due: after some requests, and near the limit after each one. While the source is rejected
	 * because of its requests to other processes, an exchange is due once a second.
	 */
	hasNews(source: SourceKey, nowMs: number): boolean {
		const index = this.#find(source);
		if (index === undefined) return false;
		const elsewhere = this.#countElsewhere(index, nowMs);
		const known = (this.#total[index] ?? 0) + (this.#elsewhere[index] ?? 0);
		const everywhere = (this.#total[index] ?? 0) + elsewhere;
		const unsynced = this.#unsynced[index] ?? 0;
		if (unsynced > 0 && unsynced >= (everywhere < this.#limit * 0.9 ? Math.ceil(this.#limit * unsyncedShare) : 1)) return true;
		const isDue = known < this.#limit || nowMs - (this.#heardMs[index] ?? 0) >= retryMs;
		return everywhere >= this.#limit && elsewhere > 0 && isDue;
	}

	/** Returns the unreported requests of the source, and marks them as reported. */
	tell(source: SourceKey): number {
		const index = this.#find(source);
		if (index === undefined) return 0;
		const unsynced = this.#unsynced[index] ?? 0;
		this.#unsynced[index] = 0;
		return unsynced;
	}

	/** @param everywhere requests of the source in the window, including all those reported from here. */
	hear(source: SourceKey, everywhere: number, nowMs: number): void {
		const index = this.#find(source);
		if (index === undefined) return;
		this.#forgetUntil(index, Math.floor(nowMs / this.#sliceMs) >>> 0);
		const elsewhere = Math.max(0, everywhere - (this.#total[index] ?? 0) + (this.#unsynced[index] ?? 0));
		const sinceMs = nowMs - (this.#heardMs[index] ?? 0);
		const pace = sinceMs > 0 && sinceMs < maxForesightMs ? Math.max(0, elsewhere - (this.#elsewhere[index] ?? 0)) / sinceMs : 0;
		this.#elsewherePace[index] = (pace + (this.#elsewherePace[index] ?? 0)) / 2;
		this.#elsewhere[index] = elsewhere;
		this.#heardMs[index] = nowMs;
	}

	/** Number of tracked sources. */
	get size(): number {
		return this.#size;
	}

	/** Counts remote requests: the last exchanged count is valid for one window, plus an extrapolation since then. */
	#countElsewhere(index: number, nowMs: number): number {
		const elsewhere = this.#elsewhere[index] ?? 0;
		if (elsewhere === 0) return 0;
		const sinceMs = nowMs - (this.#heardMs[index] ?? 0);
		if (sinceMs >= this.#windowMs) return 0;
		if (sinceMs >= maxForesightMs) return elsewhere;
		return elsewhere + Math.min(sinceMs * (this.#elsewherePace[index] ?? 0), this.#limit * maxForeseenShare);
	}

	#forgetUntil(index: number, slice: number): void {
		const last = this.#lastSlice[index] ?? 0;
		if (last === slice) return;
		const base = index * retainedSlices;
		const passed = Math.min(slice - last, retainedSlices);
		for (let step = 1; step <= passed; step++) {
			const cell = base + ((last + step) % retainedSlices);
			this.#total[index] = (this.#total[index] ?? 0) - (this.#counts[cell] ?? 0);
			this.#counts[cell] = 0;
		}
		this.#lastSlice[index] = slice;
	}

	#find({ high, low }: SourceKey): number | undefined {
		let index = this.#buckets[this.#bucketOf(high, low)] ?? none;
		while (index !== none) {
			if (this.#low[index] === low && this.#high[index] === high) return index;
			index = this.#nextInBucket[index] ?? none;
		}
		return undefined;
	}

	#add({ high, low }: SourceKey, slice: number): number {
		const index = this.#size < this.#capacity ? this.#size++ : this.#forgetOldest();
		this.#high[index] = high;
		this.#low[index] = low;
		this.#lastSlice[index] = slice;
		const bucket = this.#bucketOf(high, low);
		this.#nextInBucket[index] = this.#buckets[bucket] ?? none;
		this.#buckets[bucket] = index;
		this.#older[index] = none;
		this.#newer[index] = none;
		this.#link(index);
		return index;
	}

	#forgetOldest(): number {
		const index = this.#oldest;
		this.#unlink(index);
		const bucket = this.#bucketOf(this.#high[index] ?? 0, this.#low[index] ?? 0);
		const next = this.#nextInBucket[index] ?? none;
		if (this.#buckets[bucket] === index) {
			this.#buckets[bucket] = next;
		} else {
			let before = this.#buckets[bucket] ?? none;
			while (this.#nextInBucket[before] !== index) before = this.#nextInBucket[before] ?? none;
			this.#nextInBucket[before] = next;
		}
		this.#counts.fill(0, index * retainedSlices, (index + 1) * retainedSlices);
		this.#total[index] = 0;
		this.#elsewhere[index] = 0;
		this.#elsewherePace[index] = 0;
		this.#unsynced[index] = 0;
		return index;
	}

	#touch(index: number): void {
		if (this.#newest === index) return;
		this.#unlink(index);
		this.#link(index);
	}

	#link(index: number): void {
		this.#older[index] = this.#newest;
		this.#newer[index] = none;
		if (this.#newest === none) this.#oldest = index;
		else this.#newer[this.#newest] = index;
		this.#newest = index;
	}

	#unlink(index: number): void {
		const older = this.#older[index] ?? none;
		const newer = this.#newer[index] ?? none;
		if (older === none) this.#oldest = newer;
		else this.#newer[older] = newer;
		if (newer === none) this.#newest = older;
		else this.#older[newer] = older;
	}

	#bucketOf(high: number, low: number): number {
		let mixed = Math.imul(high ^ this.#seed, 0x9e37_79b1) ^ low;
		mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
		mixed = Math.imul(mixed ^ (mixed >>> 13) ^ this.#seed, 0xc2b2_ae35);
		return (mixed ^ (mixed >>> 16)) & (this.#buckets.length - 1);
	}
}
