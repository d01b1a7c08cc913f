/** Time of day for processes that a test starts. The test can change it while they run; their timers run normally. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from './system-programs.ts';

export interface MovableClock {
	/** Variables for the processes that use this clock. */
	readonly environment: Readonly<Record<string, string>>;
	/** Current time in Unix milliseconds. */
	nowMs(): number;
	/** Sets the time, which processes see a second later. */
	moveTo(timeMs: number): void;
	close(): void;
}

export function openMovableClock(startMs: number): MovableClock {
	requireProgram('faketime');
	const library = findLibrary(3);
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-clock-'));
	const path = join(directory, 'offset');
	let offsetSeconds = 0;
	const moveTo = (timeMs: number): void => {
		offsetSeconds = Math.round((timeMs - Date.now()) / 1000);
		writeFileSync(`${path}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
		renameSync(`${path}.new`, path);
	};
	moveTo(startMs);
	return {
		environment: {
			LD_PRELOAD: library,
			FAKETIME_TIMESTAMP_FILE: path,
			FAKETIME_CACHE_DURATION: '1',
			FAKETIME_DONT_FAKE_MONOTONIC: '1',
		},
		nowMs: () => Date.now() + offsetSeconds * 1000,
		moveTo,
		close: () => rmSync(directory, { recursive: true, force: true }),
	};
}

/** Retries: the wrapper fails if a killed process with the same number left its semaphore, and the next process has another number. */
function findLibrary(attempts: number): string {
	try {
		return execFileSync('faketime', ['-m', '-f', '+0s', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).trim();
	} catch (cause) {
		if (attempts === 1) throw cause;
		return findLibrary(attempts - 1);
	}
}
