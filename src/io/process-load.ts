/** Samples the load of the process: event loop delay, wait for cooperative work, event loop utilization, and memory use. */

import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { constrainedMemory, memoryUsage, threadCpuUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Clock, Timer } from '../core/clock.ts';
import { yieldToEventLoop } from '../core/cooperative-task.ts';
import type { LoadSample } from '../policy/overload/load-shedder.ts';

/** Processor time of the thread after the roles listen that still belongs to startup, because code is slow on its first runs. */
const warmUpMs = 1000;
const tickMs = 20;
/** Below this utilization the loop is checked once a sample: no request waits, and an idle process should cost next to nothing. */
const idleShare = 0.05;
/** Memory is slower to read and changes more slowly. */
const sampleMs = 100;
/** The memory limit is slower still and hardly ever changes. */
const limitMs = 10_000;

export interface ProcessLoadWatch {
	/** Marks the time from which the roles listen. Work before it, and the extra cost of the first requests, does not count as overload. */
	noteListening(): void;
	stop(): void;
}

/**
 * Reports ten times a second, or as often as the loop allows.
 * @param workedMs returns the processor time of this thread. On a busy machine, the start takes many times as long in wall-clock time.
 */
export function watchProcessLoad(
	clock: Clock,
	report: (sample: LoadSample) => void,
	workedMs: () => number = readThreadTime,
): ProcessLoadWatch {
	let warmAtMs = Number.POSITIVE_INFINITY;
	let timer: Timer | undefined;
	let lateMs = 0;
	let ticks = 0;
	let pauseMs = tickMs;
	let waitedMs = 0;
	let requestedMs: number | undefined;
	const requestTurn = (nowMs: number): void => {
		if (requestedMs !== undefined) return;
		requestedMs = nowMs;
		void yieldToEventLoop().then(() => {
			waitedMs = Math.max(waitedMs, clock.monotonicMs() - nowMs);
			requestedMs = undefined;
		});
	};
	let before = performance.eventLoopUtilization();
	let reportMs = clock.monotonicMs() + sampleMs;
	let limitBytes = readLimit();
	let residentBytes = 0;
	let limitDueMs = reportMs + limitMs;
	const tick = (wasDueMs: number): void => {
		const nowMs = clock.monotonicMs();
		lateMs += Math.max(0, nowMs - wasDueMs);
		ticks += 1;
		// A timer may fire a fraction early.
		if (nowMs + 1 >= reportMs) {
			const { utilization: busyShare } = performance.eventLoopUtilization(before);
			const loopDelayMs = Math.max(lateMs / ticks, waitedMs, nowMs - (requestedMs ?? nowMs));
			if (nowMs >= limitDueMs) {
				limitBytes = readLimit();
				limitDueMs = nowMs + limitMs;
			}
			residentBytes = readResident() ?? residentBytes;
			const memoryShare = Math.max(heapShare(), residentBytes / limitBytes);
			const isStarting = workedMs() < warmAtMs;
			report({ spanMs: nowMs - reportMs + sampleMs, loopDelayMs, busyShare, memoryShare, isStarting });
			pauseMs = busyShare < idleShare ? sampleMs : tickMs;
			waitedMs = 0;
			before = performance.eventLoopUtilization();
			reportMs = nowMs + sampleMs;
			lateMs = 0;
			ticks = 0;
		}
		requestTurn(nowMs);
		const dueMs = nowMs + pauseMs;
		timer = clock.after(pauseMs, () => tick(dueMs));
	};
	const startMs = clock.monotonicMs();
	timer = clock.after(tickMs, () => tick(startMs + tickMs));
	return {
		noteListening() {
			warmAtMs = workedMs() + warmUpMs;
		},
		stop: () => timer?.cancel(),
	};
}

function readThreadTime(): number {
	const { user, system } = threadCpuUsage();
	return (user + system) / 1000;
}

function heapShare(): number {
	const { heap_size_limit: heapLimit, used_heap_size: heapUsed } = getHeapStatistics();
	return heapUsed / heapLimit;
}

/** Bytes; undefined if the process has no free descriptor to read them with. */
function readResident(): number | undefined {
	try {
		return memoryUsage.rss();
	} catch {
		return undefined;
	}
}

/** Memory limit of the process: that of its control group, or the machine's. */
function readLimit(): number {
	const [limit, machine] = [constrainedMemory(), totalmem()];
	return limit > 0 && limit < machine ? limit : machine;
}
