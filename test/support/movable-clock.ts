/** A time of day for processes of a test's own, which it can move while they run; their timers go on as they should. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from './system-programs.ts';

export interface MovableClock {
	/** For whoever is to go by it. */
	readonly environment: Readonly<Record<string, string>>;
	/** Unix milliseconds. */
	nowMs(): number;
	/** Processes see it a second later. */
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

/** The wrapper fails where a process of the same number was killed earlier and left its semaphore: the next has another number. */
function findLibrary(attempts: number): string {
	try {
		return execFileSync('faketime', ['-m', '-f', '+0s', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).trim();
	} catch (cause) {
		if (attempts === 1) throw cause;
		return findLibrary(attempts - 1);
	}
}
