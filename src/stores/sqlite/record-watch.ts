/** Notifies listeners of changes: those of this process at once, those of other processes by polling SQLite twice a second. */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { integerOf } from '../row.ts';

const pollEveryMs = 500;

export interface RecordWatch {
	onChange(listener: () => void): () => void;
	announce(): void;
	close(): void;
}

export function createRecordWatch(database: DatabaseSync, clock: Clock, log: Log): RecordWatch {
	const listeners = new Set<() => void>();
	const selectVersion = database.prepare('PRAGMA data_version');
	// Changes only on commits of other connections.
	const readVersion = (): number => integerOf(selectVersion.get() ?? {}, 'data_version');
	let seenVersion = readVersion();
	let timer: Timer | undefined;

	const announce = (): void => {
		for (const listener of [...listeners]) listener();
	};
	const poll = (): void => {
		timer = clock.after(pollEveryMs, poll);
		let version: number;
		try {
			version = readVersion();
		} catch (cause) {
			log.warn('record changes cannot be watched', { cause });
			return;
		}
		if (version === seenVersion) return;
		seenVersion = version;
		announce();
	};
	return {
		announce,
		onChange(listener) {
			const registered = (): void => listener();
			listeners.add(registered);
			timer ??= clock.after(pollEveryMs, poll);
			return () => listeners.delete(registered);
		},
		close() {
			timer?.cancel();
			listeners.clear();
		},
	};
}
