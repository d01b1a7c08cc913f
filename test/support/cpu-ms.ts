/**
 * Duration of a synchronous task in this thread: the minimum of two clocks. The wall clock includes the work of other threads, and the CPU
 * clock has steps of 4 ms on some machines.
 */
export function workedMs(work: () => void): number {
	const before = process.threadCpuUsage();
	const startMs = performance.now();
	work();
	const passedMs = performance.now() - startMs;
	const { user, system } = process.threadCpuUsage(before);
	return Math.min(passedMs, (user + system) / 1000);
}
