/** What one call adds: retries are at most a fifth of the calls. */
const perCall = 0.2;

/** Saved up at most, and to begin with, so that a provider with few calls has some. */
const most = 10;

/** Keeps retries from multiplying the load on a provider that has too much of it already. */
export class RetryBudget {
	#balance = most;

	countCall(): void {
		this.#balance = Math.min(this.#balance + perCall, most);
	}

	/** @returns whether one more retry is allowed; it is taken then. */
	take(): boolean {
		if (this.#balance < 1) return false;
		this.#balance--;
		return true;
	}
}
