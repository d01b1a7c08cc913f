/** How late the event loop is, and how much of its memory the process uses. */

import { totalmem } from 'node:os';
import { constrainedMemory, memoryUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Clock, Timer } from '../core/clock.ts';

const tickMs = 20;
/** Memory is slower to read, and slower to change. */
const ticksPerSample = 5;

export interface ProcessLoad {
	/** Longest delay since the sample before. */
	readonly loopDelayMs: number;
	/** The larger of what is used of the heap and of the machine's or container's memory; 0 to 1. */
	readonly memoryShare: number;
}

/** Reports ten times a second, and at once after a delay. @returns what ends it. */
export function watchProcessLoad(clock: Clock, report: (load: ProcessLoad) => void): () => void {
	let timer: Timer | undefined;
	let longestMs = 0;
	let ticks = 0;
	const tick = (dueMs: number): void => {
		const nowMs = clock.monotonicMs();
		longestMs = Math.max(longestMs, nowMs - dueMs);
		ticks += 1;
		if (ticks >= ticksPerSample || longestMs > 2 * tickMs) {
			report({ loopDelayMs: longestMs, memoryShare: memoryShare() });
			longestMs = 0;
			ticks = 0;
		}
		timer = clock.after(tickMs, () => tick(nowMs + tickMs));
	};
	const startMs = clock.monotonicMs();
	timer = clock.after(tickMs, () => tick(startMs + tickMs));
	return () => timer?.cancel();
}

function memoryShare(): number {
	const { heap_size_limit: heapLimit, used_heap_size: heapUsed } = getHeapStatistics();
	const limit = constrainedMemory();
	const machine = totalmem();
	return Math.max(heapUsed / heapLimit, memoryUsage.rss() / (limit > 0 && limit < machine ? limit : machine));
}
