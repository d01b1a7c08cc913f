/**
 * Runs of the processes that reserve in shared counters. Each process locks the file of its run while it lives. The next process with the
 * same directory finds the stale runs, and releases their reservations that have no ledger entry.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile, takeUnlocked } from './sqlite/ledger/instance-lock.ts';

const namePattern = /^counters-run-([0-9a-f]+)\.lock$/;

export interface CounterInstance {
	/** Owner of the reservations of this process. */
	readonly owner: string;
	end(): void;
}

/** Requires an existing directory. */
export function registerCounterInstance(dataDir: string): CounterInstance {
	const owner = randomBytes(8).toString('hex');
	return { owner, end: lockFile(join(dataDir, `counters-run-${owner}.lock`)) };
}

/**
 * Releases the reservations of stale runs. A run whose release fails stays for the next attempt, here or in another process.
 * @param release releases the reservations of one owner. @returns the number of released reservations.
 */
export async function releaseStaleInstances(dataDir: string, release: (owner: string) => Promise<number>): Promise<number> {
	let released = 0;
	for (const name of readdirSync(dataDir)) {
		const owner = namePattern.exec(name)?.[1];
		const taken = owner === undefined ? undefined : takeUnlocked(join(dataDir, name));
		if (owner === undefined || taken === undefined) continue;
		try {
			released += await release(owner);
			taken.remove();
		} finally {
			taken.unlock();
		}
	}
	return released;
}
