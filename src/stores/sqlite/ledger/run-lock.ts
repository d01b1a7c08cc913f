/**
 * Which processes with this ledger are alive. Each holds an SQLite lock on a file of its own, which the system takes away
 * when the process dies, so that neither process ids nor clocks are trusted.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateFile, sqliteBusy, sqliteCode } from '../open-database.ts';

const namePattern = /^ledger-run-[0-9a-f]+\.lock$/;

/** @returns the way to end this life. The directory exists. */
export function lockRun(dataDir: string, run: string): () => void {
	return lockFile(pathOf(dataDir, run));
}

/** @returns the way to unlock and remove it. */
export function lockFile(path: string): () => void {
	for (let triesLeft = 100; ; triesLeft--) {
		createPrivateFile(path);
		const lock = new DatabaseSync(path, { timeout: 0 });
		if (tryToLock(lock) && existsSync(path)) {
			return () => {
				lock.close();
				rmSync(path, { force: true });
			};
		}
		// Between these lines another process may have taken the file for one that a dead process left.
		lock.close();
		if (triesLeft === 0) throw new Error(`${path} cannot be locked`);
	}
}

export function isRunAlive(dataDir: string, run: string): boolean {
	return existsSync(pathOf(dataDir, run));
}

/** Removes the locks of the dead, after which `isRunAlive` tells the truth. */
export function buryDeadRuns(dataDir: string): void {
	for (const name of readdirSync(dataDir)) {
		const path = join(dataDir, name);
		if (namePattern.test(name)) removeUnlessLocked(path);
	}
}

/** Of the processes that share a ledger one sends its outbox: whoever holds this. */
export interface SendingLock {
	/** @returns whether it is ours, now or since before. */
	take(): boolean;
	release(): void;
}

export function createSendingLock(dataDir: string): SendingLock {
	const path = join(dataDir, 'ledger-sending.lock');
	let held: DatabaseSync | undefined;
	return {
		take() {
			if (held !== undefined) return true;
			createPrivateFile(path);
			const lock = new DatabaseSync(path, { timeout: 0 });
			if (tryToLock(lock)) held = lock;
			else lock.close();
			return held !== undefined;
		},
		release() {
			held?.close();
			held = undefined;
		},
	};
}

/** While it is locked here: whoever has just made it and locks it afterwards finds it gone, and makes another. */
function removeUnlessLocked(path: string): void {
	const taken = takeUnlocked(path);
	taken?.remove();
	taken?.unlock();
}

/** The file of a process that has died, locked here. */
export interface TakenLock {
	remove(): void;
	unlock(): void;
}

/** @returns undefined when its process is alive, or the file is gone. */
export function takeUnlocked(path: string): TakenLock | undefined {
	let lock: DatabaseSync | undefined;
	try {
		const opened = new DatabaseSync(path, { timeout: 0 });
		lock = opened;
		if (tryToLock(opened) && existsSync(path)) {
			return { remove: () => rmSync(path, { force: true }), unlock: () => opened.close() };
		}
	} catch (cause) {
		// It ended, and removed its file, while we looked.
		if (existsSync(path)) throw cause;
	}
	lock?.close();
	return undefined;
}

function tryToLock(lock: DatabaseSync): boolean {
	try {
		// Nothing is ever written, so that a journal would be one more file to clear away.
		lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
		return true;
	} catch (cause) {
		if (sqliteCode(cause) === sqliteBusy) return false;
		throw cause;
	}
}

function pathOf(dataDir: string, run: string): string {
	return join(dataDir, `ledger-run-${run}.lock`);
}
