import type { Clock } from '../core/clock.ts';

/** Longest delay of a runtime timer; longer ones would fire at once. */
const maxDelayMs = 2 ** 31 - 1;

export const systemClock: Clock = {
	nowMs: () => Date.now(),
	monotonicMs: () => performance.now(),
	after(delayMs, task) {
		const timeout = setTimeout(task, Math.min(delayMs, maxDelayMs));
		timeout.unref();
		return { cancel: () => clearTimeout(timeout) };
	},
};
