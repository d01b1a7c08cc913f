/** Schedule of repeated deliveries: exponential backoff with jitter. */

const firstDelayMs = 1000;
const maxDelayMs = 3_600_000;

/** Age from which a delivery is not tried again. */
export const maxDeliveryAgeMs = 24 * 3_600_000;

/**
 * Returns the delay until the next attempt: 1 s after the first failure, doubled up to 1 h, of which a random half is removed at most.
 * @param attempts made so far, from 1. @param chance returns a uniform random number in [0, 1).
 */
export function retryDelayMs(attempts: number, chance: () => number): number {
	const fullMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1));
	return Math.round(fullMs * (0.5 + chance() / 2));
}

/** Returns the time of the next attempt, unix milliseconds; undefined if the delivery has failed for good. */
export function nextAttemptMs(createdMs: number, attempts: number, nowMs: number, chance: () => number): number | undefined {
	const nextMs = nowMs + retryDelayMs(attempts, chance);
	return nextMs - createdMs > maxDeliveryAgeMs ? undefined : nextMs;
}
