/** How late the event loop is, or work that waits for a turn of its own, how busy the loop is, and how much of its memory the process uses. */

import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { constrainedMemory, memoryUsage, threadCpuUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Clock, Timer } from '../core/clock.ts';
import { ownTurn } from '../core/steps.ts';
import type { LoadSample } from '../policy/overload/load-shedder.ts';

/** Code that runs for the first times is slow: processor time of the thread that belongs to the start, once the roles listen. */
const warmUpMs = 1000;
const tickMs = 20;
/** A loop that was busy for less of its time is looked at once a sample: nobody waits there, and an idle process shall cost next to nothing. */
const idleShare = 0.05;
/** Memory is slower to read, and slower to change. */
const sampleMs = 100;
/** What limits it is slower still, and hardly ever changes. */
const limitMs = 10_000;

export interface ProcessLoadWatch {
	/** The roles listen: what was done so far, and what the first requests cost more than later ones, is no overload. */
	noteListening(): void;
	stop(): void;
}

/**
 * Reports ten times a second, or as often as the loop allows.
 * @param workedMs processor time of this thread. On a busy machine the start takes many times as long by the clock.
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
	let askedMs: number | undefined;
	const askForTurn = (nowMs: number): void => {
		if (askedMs !== undefined) return;
		askedMs = nowMs;
		void ownTurn().then(() => {
			waitedMs = Math.max(waitedMs, clock.monotonicMs() - nowMs);
			askedMs = undefined;
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
		// A timer may be a fraction early.
		if (nowMs + 1 >= reportMs) {
			const { utilization: busyShare } = performance.eventLoopUtilization(before);
			const loopDelayMs = Math.max(lateMs / ticks, waitedMs, nowMs - (askedMs ?? nowMs));
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
		askForTurn(nowMs);
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

/** In bytes; undefined when the process has no descriptor left to read it with. */
function readResident(): number | undefined {
	try {
		return memoryUsage.rss();
	} catch {
		return undefined;
	}
}

/** What the process may have, of its group's or the machine's. */
function readLimit(): number {
	const [limit, machine] = [constrainedMemory(), totalmem()];
	return limit > 0 && limit < machine ? limit : machine;
}
