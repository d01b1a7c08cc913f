/** Tests that must run within one UTC minute. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for the next minute unless this one has enough time left. */
export async function untilMinuteHasCapacity(neededMs: number): Promise<void> {
	const remainingMs = 60_000 - (Date.now() % 60_000);
	if (remainingMs < neededMs) await sleep(remainingMs + 20);
}
