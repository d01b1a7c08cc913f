/** How late the event loop is, how busy, and how much of its memory the process uses. */

import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { constrainedMemory, memoryUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Clock, Timer } from '../core/clock.ts';
import type { LoadSample } from '../policy/overload/load-shedder.ts';

const tickMs = 20;
/** Memory is slower to read, and slower to change. */
const sampleMs = 100;

/** Reports ten times a second, or as often as the loop allows. @returns what ends it. */
export function watchProcessLoad(clock: Clock, report: (sample: LoadSample) => void): () => void {
	let timer: Timer | undefined;
	let lateMs = 0;
	let ticks = 0;
	let before = performance.eventLoopUtilization();
	let reportMs = clock.monotonicMs() + sampleMs;
	const tick = (dueMs: number): void => {
		const nowMs = clock.monotonicMs();
		lateMs += Math.max(0, nowMs - dueMs);
		ticks += 1;
		if (nowMs >= reportMs) {
			const { utilization: busyShare } = performance.eventLoopUtilization(before);
			report({ spanMs: nowMs - reportMs + sampleMs, loopDelayMs: lateMs / ticks, busyShare, memoryShare: memoryShare() });
			before = performance.eventLoopUtilization();
			reportMs = nowMs + sampleMs;
			lateMs = 0;
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
