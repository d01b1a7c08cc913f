/** Until a provider learns that its stream was ended: what it generates meanwhile is billed, and never seen. */
const abortMs = 50;
/** Over so long at least a rate is measured. */
const rateWindowMs = 250;
/** Of the newest arrival in the mean. */
const newestShare = 1 / 4;

/** How a stream's output arrives: in pieces of some size, at some rate. Pure. */
export class StreamPace {
	#tokens = 0;
	#pieceTokens = 0;
	#tokensPerMs = 0;
	#windowTokens = 0;
	#windowMs: number | undefined;

	/** @param tokens of the output so far. @param nowMs by a monotonic clock. */
	arrived(tokens: number, nowMs: number): void {
		const piece = tokens - this.#tokens;
		if (piece <= 0) return;
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

	/** Of a usual arrival. */
	get pieceTokens(): number {
		return Math.ceil(this.#pieceTokens);
	}

	tokensWithin(ms: number): number {
		return Math.ceil(this.#tokensPerMs * ms);
	}

	/**
	 * About what the provider has generated beyond what arrived, once it learns that the stream is ended. What waits while the process is busy
	 * arrives in larger pieces: as much as the last piece is on its way again, and as much follows.
	 */
	get inFlightTokens(): number {
		return Math.ceil(2 * this.#pieceTokens + this.#tokensPerMs * abortMs);
	}
}
