/** Time as the product sees it, so that tests can hold it still. */
export interface Clock {
	/** Unix time in milliseconds; may jump. */
	nowMs(): number;
	/** Milliseconds since some fixed moment; never goes back. */
	monotonicMs(): number;
	/** Runs `task` once after `delayMs`, unless cancelled. Does not keep the process alive. */
	after(delayMs: number, task: () => void): Timer;
}

export interface Timer {
	cancel(): void;
}
