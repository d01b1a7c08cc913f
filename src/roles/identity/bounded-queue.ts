import { Refusal } from '../../core/refusal.ts';

export interface BoundedQueue {
	/** Runs `task` when its turn comes. @throws Refusal `overloaded` at once when too many wait; what the task throws. */
	run<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** First come, first served: at most `concurrency` tasks run and `capacity` wait. */
export function createBoundedQueue(concurrency: number, capacity: number): BoundedQueue {
	const waiting: (() => void)[] = [];
	let running = 0;
	return {
		async run(task) {
			if (running >= concurrency) {
				if (waiting.length >= capacity) {
					throw new Refusal('overloaded', { message: 'Too many secrets are being checked, retry in a second', retryAfterSeconds: 1 });
				}
				// Whoever ends hands its place over, so that nobody takes it between the two.
				await new Promise<void>((resolve) => waiting.push(resolve));
			} else {
				running++;
			}
			try {
				return await task();
			} finally {
				const next = waiting.shift();
				if (next === undefined) running--;
				else next();
			}
		},
	};
}
