/**
 * How long a piece of work took of this thread. The clock on the wall counts what other threads did meanwhile, and that of the CPU
 * moves in steps of 4 ms on some machines: the lesser of the two is nearer the truth.
 */
export function workedMs(work: () => void): number {
	const before = process.threadCpuUsage();
	const startMs = performance.now();
	work();
	const passedMs = performance.now() - startMs;
	const { user, system } = process.threadCpuUsage(before);
	return Math.min(passedMs, (user + system) / 1000);
}
