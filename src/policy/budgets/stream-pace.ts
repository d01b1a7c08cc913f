/** Time until a provider stops after its stream was aborted: the output until then is billed, but never received. */
const abortMs = 50;
/** Minimum time over which a rate is measured. */
const rateWindowMs = 250;
/** Weight of the newest arrival in the mean. */
const newestShare = 1 / 4;
/** Maximum arrivals in flight when each brings several events. */
const maxArrivals = 4;

/** Measures how a stream's output arrives: the size of its pieces and its rate. Pure. */
export class StreamPace {
	#tokens = 0;
	#pieceTokens = 0;
	#newestTokens = 0;
	#texts = 0;
	/** Mean number of events in one arrival. */
	#textsAtOnce = 1;
	#tokensPerMs = 0;
	#windowTokens = 0;
	#windowMs: number | undefined;

	/** @param tokens of the output so far. @param texts number of its events. @param nowMs by a monotonic clock. */
	arrived(tokens: number, texts: number, nowMs: number): void {
		const piece = tokens - this.#tokens;
		if (piece <= 0) return;
		this.#textsAtOnce += (Math.max(1, texts - this.#texts) - this.#textsAtOnce) * newestShare;
		this.#texts = texts;
		this.#newestTokens = piece;
		this.#pieceTokens = this.#tokens === 0 ? piece : this.#pieceTokens + (piece - this.#pieceTokens) * newestShare;
		this.#tokens = tokens;
		if (this.#windowMs === undefined) {
			this.#windowMs = nowMs;
			this.#windowTokens = tokens;
			return;
		}
		const elapsedMs = nowMs - this.#windowMs;
		if (elapsedMs < rateWindowMs) return;
		const tokensPerMs = (tokens - this.#windowTokens) / elapsedMs;
		this.#tokensPerMs = this.#tokensPerMs === 0 ? tokensPerMs : (this.#tokensPerMs + tokensPerMs) / 2;
		this.#windowMs = nowMs;
		this.#windowTokens = tokens;
	}

	/** Tokens of one arrival: the mean, or the last one if it was larger. */
	get pieceTokens(): number {
		return Math.ceil(Math.max(this.#pieceTokens, this.#newestTokens));
	}

	tokensWithin(ms: number): number {
		return Math.ceil(this.#tokensPerMs * ms);
	}

	/**
	 * Estimates the output that was generated but not received when the provider stops: tokens in flight, and those generated until then.
	 * Several events at once show that one of the two processes is busy, so both parts grow.
	 */
	get inFlightTokens(): number {
		const following = Math.min(this.#textsAtOnce, maxArrivals - 1);
		return this.pieceTokens + Math.ceil(following * this.#pieceTokens + this.#tokensPerMs * abortMs);
	}
}
