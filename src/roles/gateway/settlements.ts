/** What calls that have ended are still being booked; the process waits for it before it goes. */
export class Settlements {
	#running = 0;
	readonly #waiting: (() => void)[] = [];

	get count(): number {
		return this.#running;
	}

	begin(): void {
		this.#running++;
	}

	end(): void {
		this.#running--;
		if (this.#running > 0) return;
		for (const resolve of this.#waiting.splice(0)) resolve();
	}

	/** Resolves when nothing is under way. */
	settled(): Promise<void> {
		return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve));
	}
}
