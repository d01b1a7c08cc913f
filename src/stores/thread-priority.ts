import { getPriority, setPriority } from 'node:os';

const lowest = 19;

export interface PriorityPorts {
	readonly platform: NodeJS.Platform;
	/** Niceness of the calling thread. */
	get(): number;
	set(niceness: number): void;
}

const system: PriorityPorts = { platform: process.platform, get: () => getPriority(), set: (niceness) => setPriority(niceness) };

/**
 * Lowers the priority of the calling thread below that of the process. Only Linux has a niceness for each thread. The priority is never
 * raised, which needs privileges. A failure changes nothing, because sandboxes forbid the system call.
 */
export function lowerThreadPriority(steps: number, { platform, get, set }: PriorityPorts = system): void {
	if (platform !== 'linux') return;
	try {
		const niceness = get();
		const lowered = Math.min(lowest, niceness + steps);
		if (lowered > niceness) set(lowered);
	} catch {
		// The thread keeps its priority.
	}
}
