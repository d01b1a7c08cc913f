/**
 * Tracks the live processes of a ledger. Each one keeps an SQLite lock on a file of its own, which the system releases when the process
 * dies. Neither process ids nor clocks matter.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createPrivateFile, sqliteBusy, sqliteCode } from '../open-database.ts';

const namePattern = /^ledger-run-[0-9a-f]+\.lock$/;

/** Requires an existing directory. @returns a function that ends this run. */
export function lockInstance(dataDir: string, run: string): () => void {
	return lockFile(pathOf(dataDir, run));
}

/** @returns a function that unlocks and removes the file. */
export function lockFile(path: string): () => void {
	for (let remainingTries = 100; ; remainingTries--) {
		createPrivateFile(path);
		const lock = new DatabaseSync(path, { timeout: 0 });
		if (tryToLock(lock) && existsSync(path)) {
			return () => {
				lock.close();
				rmSync(path, { force: true });
			};
		}
		// Between these lines another process may have removed the file as stale.
		lock.close();
		if (remainingTries === 0) throw new Error(`${path} cannot be locked`);
	}
}

export function isInstanceAlive(dataDir: string, run: string): boolean {
	return existsSync(pathOf(dataDir, run));
}

/** Removes the locks of dead processes, so that `isInstanceAlive` is accurate afterwards. */
export function removeStaleInstances(dataDir: string): void {
	for (const name of readdirSync(dataDir)) {
		const path = join(dataDir, name);
		if (namePattern.test(name)) removeUnlessLocked(path);
	}
}

/** Lock of the process that sends the outbox, of all processes that share a ledger. */
export interface SendingLock {
	/** @returns true if this process has the lock, now or from an earlier call. */
	take(): boolean;
	release(): void;
}

export function createSendingLock(dataDir: string): SendingLock {
	const path = join(dataDir, 'ledger-sending.lock');
	let reserved: DatabaseSync | undefined;
	return {
		take() {
			if (reserved !== undefined) return true;
			createPrivateFile(path);
			const lock = new DatabaseSync(path, { timeout: 0 });
			if (tryToLock(lock)) reserved = lock;
			else lock.close();
			return reserved !== undefined;
		},
		release() {
			reserved?.close();
			reserved = undefined;
		},
	};
}

/**
 * Removes the file while it is locked here. A process that has just created it and locks it afterwards notices that it is gone, and creates
 * another.
 */
function removeUnlessLocked(path: string): void {
	const taken = takeUnlocked(path);
	taken?.remove();
	taken?.unlock();
}

/** Lock file of a dead process, locked here. */
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
		// Its process ended and removed the file meanwhile.
		if (existsSync(path)) throw cause;
	}
	lock?.close();
	return undefined;
}

function tryToLock(lock: DatabaseSync): boolean {
	try {
		// Nothing is ever written, so a journal would only be one more file to remove.
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
