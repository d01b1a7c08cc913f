import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnusable } from '../contracts/store-unusable.ts';

/** Maximum time that a statement waits for another process that is writing. */
const busyTimeoutMs = 2_000;

/** Failure that a committed transaction survives: the death of the process, or also a power loss (an fsync for each). */
export type Durability = 'process' | 'power';

const synchronous: Readonly<Record<Durability, string>> = { process: 'NORMAL', power: 'FULL' };

/**
 * Opens, and on first use creates, a database that only its owner may read, in WAL mode, shared between processes.
 * @throws StoreUnusable
 */
export function openDatabase(path: string, prepare: (database: DatabaseSync) => void, durability: Durability = 'power'): DatabaseSync {
	try {
		makeDirectory(dirname(path));
		createPrivateFile(path);
	} catch (cause) {
		throw unusable(path, cause);
	}
	let database: DatabaseSync | undefined;
	try {
		database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
		useWriteAheadLog(database);
		database.exec(`PRAGMA synchronous = ${synchronous[durability]}`);
		prepare(database);
		return database;
	} catch (cause) {
		database?.close();
		throw unusable(path, cause);
	}
}

/** Not `recursive`: if the system returns ENOENT under a directory that exists, as in `/proc`, Node 26 then retries forever. */
function makeDirectory(directory: string): void {
	if (existsSync(directory)) return;
	makeDirectory(dirname(directory));
	try {
		mkdirSync(directory, { mode: 0o700 });
	} catch (cause) {
		// Another process may have created it meanwhile.
		if (!existsSync(directory)) throw cause;
	}
}

/**
 * Creates the file with private permissions: SQLite would make it readable to all, and its -wal and -shm files inherit the mode of this
 * one. An existing file is not opened, because closing any descriptor of it drops the locks that this process has on it through SQLite.
 */
export function createPrivateFile(path: string): void {
	try {
		closeSync(openSync(path, 'ax', 0o600));
	} catch (cause) {
		if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
		if (statSync(path).isDirectory()) throw Object.assign(new Error('it is a directory', { cause }), { code: 'EISDIR' });
	}
}

/** Retries, because changing the journal mode does not respect the busy timeout, so that two first starts can collide. */
function useWriteAheadLog(database: DatabaseSync): void {
	for (let remainingTries = 40; ; remainingTries--) {
		try {
			database.exec('PRAGMA journal_mode = WAL');
			return;
		} catch (cause) {
			if (sqliteCode(cause) !== sqliteBusy || remainingTries === 0) throw cause;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyTimeoutMs / 40);
		}
	}
}

export const sqliteBusy = 5;
const sqliteReadOnly = 8;
const sqliteCannotOpen = 14;
const sqliteNotADatabase = 26;

/** Primary result code of an SQLite error. */
export function sqliteCode(cause: unknown): number | undefined {
	if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return undefined;
	return cause.errcode & 0xff;
}

function unusable(path: string, cause: unknown): StoreUnusable {
	const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
	const sqlite = sqliteCode(cause);
	const place = `The data directory ${dirname(path)}`;
	if (sqlite === sqliteNotADatabase) {
		return new StoreUnusable(
			`${path} is not a Tollgate database. Restore it from a backup, or move it: a new one is created at the next start.`,
			{ cause },
		);
	}
	if (sqlite === sqliteBusy) {
		return new StoreUnusable(`${path} is locked by another process. Stop that process or wait for it, then try again.`, { cause });
	}
	if (code === 'ENOTDIR' || code === 'EEXIST') {
		return new StoreUnusable(`${place} cannot be created: a file with this name exists. Set \`data_dir\` to a directory.`, { cause });
	}
	if (code === 'EISDIR') return new StoreUnusable(`${path} is a directory, not a database file. Move it.`, { cause });
	if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || sqlite === sqliteReadOnly || sqlite === sqliteCannotOpen) {
		return new StoreUnusable(
			`${place} is not writable for this user, so ${path} cannot be opened. Correct its owner and mode, or set \`data_dir\` to a directory that is.`,
			{ cause },
		);
	}
	if (code === 'ENOENT') return new StoreUnusable(`${place} cannot be created there. Set \`data_dir\` to another directory.`, { cause });
	const reason = cause instanceof Error ? cause.message : String(cause);
	return new StoreUnusable(`${path} cannot be opened: ${reason}. Correct this, or set \`data_dir\` to another directory.`, { cause });
}
