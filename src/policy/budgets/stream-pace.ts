/** Until a provider learns that its stream was ended: what it generates meanwhile is billed, and never seen. */
const abortMs = 50;
/** Over so long at least a rate is measured. */
const rateWindowMs = 250;
/** Of the newest arrival in the mean. */
const newestShare = 1 / 4;
/** So many arrivals may be in flight when each brings several events. */
const mostArrivals = 4;

/** How a stream's output arrives: in pieces of some size, at some rate. Pure. */
export class StreamPace {
	#tokens = 0;
	#pieceTokens = 0;
	#newestTokens = 0;
	#texts = 0;
	/** Of an arrival, in the mean. */
	#textsAtOnce = 1;
	#tokensPerMs = 0;
	#windowTokens = 0;
	#windowMs: number | undefined;

	/** @param tokens of the output so far. @param texts in which they came, an event each. @param nowMs by a monotonic clock. */
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

	/** Of an arrival: a usual one, or the last where that was larger. */
	get pieceTokens(): number {
		return Math.ceil(Math.max(this.#pieceTokens, this.#newestTokens));
	}

	tokensWithin(ms: number): number {
		return Math.ceil(this.#tokensPerMs * ms);
	}

	/**
	 * About what the provider has generated beyond what arrived, once it learns that the stream is ended: what is on its way, and what follows
	 * until then. Several events at once are a sign that one of the two processes is busy, so that both take longer.
	 */
	get inFlightTokens(): number {
		const following = Math.min(this.#textsAtOnce, mostArrivals - 1);
		return this.pieceTokens + Math.ceil(following * this.#pieceTokens + this.#tokensPerMs * abortMs);
	}
}
