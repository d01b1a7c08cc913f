/** Resident memory of another process, as Linux reports it. */
import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';

export const megabyte = 1024 * 1024;

export interface MemoryWatch {
	/** Maximum growth of the process since the start of the watch, in bytes. */
	readonly peakGrowth: number;
	stop(): void;
}

export function residentBytes(pid: number): number {
	const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
	return Number(kilobytes) * 1024;
}

/** Processor time that a process has used so far, in milliseconds. */
export function cpuMs(pid: number): number {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
	// Ticks of a hundredth of a second, on every current Linux.
	return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Watches until it is stopped, or the test ends. */
export function watchMemory(pid: number): MemoryWatch {
	const startBytes = residentBytes(pid);
	let peak = startBytes;
	const look = (): void => {
		peak = Math.max(peak, residentBytes(pid));
	};
	const timer = setInterval(look, 20);
	onTestFinished(() => clearInterval(timer));
	return {
		get peakGrowth() {
			return peak - startBytes;
		},
		stop() {
			look();
			clearInterval(timer);
		},
	};
}
