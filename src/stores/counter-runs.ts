/**
 * Runs of the processes that reserve in shared counters. The file of a run is locked while its process lives, so that the next process with
 * the same directory finds the runs that have died, and releases what they reserved without a ledger entry.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockFile, takeUnlocked } from './sqlite/ledger/run-lock.ts';

const namePattern = /^counters-run-([0-9a-f]+)\.lock$/;

export interface CounterRun {
	/** The owner of what this process reserves. */
	readonly owner: string;
	end(): void;
}

/** The directory exists. */
export function beginCounterRun(dataDir: string): CounterRun {
	const owner = randomBytes(8).toString('hex');
	return { owner, end: lockFile(join(dataDir, `counters-run-${owner}.lock`)) };
}

/**
 * A run whose release fails stays for the next attempt, here or in another process.
 * @param release of one owner. @returns how many reservations were released.
 */
export async function releaseDeadRuns(dataDir: string, release: (owner: string) => Promise<number>): Promise<number> {
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
