/** Source of time. Tests replace it by a clock that they advance. */
export interface Clock {
	/** Unix time in milliseconds; may jump. */
	nowMs(): number;
	/** Milliseconds since a fixed moment; never decreases. */
	monotonicMs(): number;
	/** Runs `task` once after `delayMs`, unless cancelled. The timer does not keep the process alive. */
	after(delayMs: number, task: () => void): Timer;
}

export interface Timer {
	cancel(): void;
}
