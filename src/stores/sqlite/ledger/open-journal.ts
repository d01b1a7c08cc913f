/**
 * Journal of opens and closes that may not be in the database yet, in files that survive the process. One appended line makes each durable,
 * whereas a separate transaction would take a thread and twenty times as long. Two files alternate, so that one can be emptied while the
 * other grows.
 */
import { closeSync, existsSync, fdatasync, fsyncSync, ftruncate, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createPrivateFile, type Durability } from '../open-database.ts';
import { isAmount, readCloseLine, readLine } from './compact-entries.ts';
import type { CompactClose, CompactOpen } from './ledger-operations.ts';

/** A few thousand rows. A file grows larger while the other one has lines that are not in the database. */
const tickBytes = 1 << 20;
/** Terminates a partial line, so that it is never parsed as a complete one. */
const torn = '~\n';
const namePattern = /^ledger-run-([0-9a-f]+)\.[01]\.journal$/;

interface JournalFile {
	readonly path: string;
	readonly descriptor: number;
	bytes: number;
	/** Number of lines that are not in the database. */
	lines: number;
	isTorn: boolean;
	isUnsynced: boolean;
	emptying: Promise<void> | undefined;
}

const safe = Promise.resolve();

/** Journal of one run of the process, whose lock is kept as long as its files exist. */
export class OpenJournal {
	/** True if lines are durable only once they are synced; otherwise they are as soon as they are appended. */
	readonly isSynced: boolean;
	#current: JournalFile;
	#other: JournalFile;
	#turn = 0;
	/** The running sync, and the one for lines that are appended meanwhile. */
	#syncing: Promise<void> | undefined;
	#nextSync: Promise<void> | undefined;
	#syncFailure: Error | undefined;

	/** @param durability `power`: lines are synced. */
	constructor(dataDir: string, run: string, durability: Durability) {
		this.isSynced = durability === 'power';
		this.#current = openFile(pathOf(dataDir, run, 0));
		this.#other = openFile(pathOf(dataDir, run, 1));
		if (this.isSynced) syncDirectory(dataDir);
	}

	/** @param lines each ends with a line feed. They count even if this throws because the disk is full. */
	append(lines: string, count = 1): void {
		if (this.#current.bytes >= tickBytes) this.#shareTransaction();
		const file = this.#current;
		file.lines += count;
		this.#write(file, file.isTorn ? torn + lines : lines);
	}

	/** @throws Error when the disk is not writable, or has not synced since a failed sync. */
	test(): void {
		this.#write(this.#current, torn);
		if (this.#syncFailure === undefined) return;
		this.whenSafe().catch(() => undefined);
		throw this.#syncFailure;
	}

	/** Resolves when everything that was appended is durable. Rejects when the disk fails: whether the lines are durable is unknown then. */
	whenSafe(): Promise<void> {
		if (!this.isSynced) return safe;
		this.#nextSync ??= this.#sync();
		return this.#nextSync;
	}

	/** Forgets the oldest `count` lines, because the database has them. */
	forget(count: number): void {
		const older = Math.min(count, this.#other.lines);
		this.#other.lines -= older;
		this.#current.lines -= count - older;
		if (older > 0) this.#emptyOther();
	}

	/** Must follow the last append. Lines that are not in the database stay for the next start. */
	async end(): Promise<void> {
		const files = [this.#current, this.#other];
		// A descriptor that is closed earlier may belong to another file by the time it is used.
		await Promise.allSettled([this.#nextSync, this.#syncing, ...files.map(({ emptying }) => emptying)]);
		const isDone = files.every(({ lines }) => lines === 0);
		for (const { descriptor, path } of files) {
			closeSync(descriptor);
			if (isDone) rmSync(path, { force: true });
		}
	}

	#write(file: JournalFile, lines: string): void {
		const text = file.bytes === 0 ? `${++this.#turn}\n${lines}` : lines;
		const written = writeSync(file.descriptor, text);
		file.bytes += written;
		file.isUnsynced = true;
		file.isTorn = written < Buffer.byteLength(text);
		if (file.isTorn) throw new Error('the disk wrote an incomplete line');
	}

	#shareTransaction(): void {
		if (this.#other.bytes === 0) [this.#current, this.#other] = [this.#other, this.#current];
		this.#emptyOther();
	}

	#emptyOther(): void {
		const file = this.#other;
		if (file.lines > 0 || file.bytes === 0) return;
		file.emptying ??= truncate(file.descriptor, 0)
			.then(() => {
				file.bytes = 0;
				file.isTorn = false;
			})
			.catch(() => undefined)
			.finally(() => {
				file.emptying = undefined;
			});
	}

	/** Runs one sync at a time, so that many callers share it. */
	async #sync(): Promise<void> {
		await this.#syncing?.catch(() => undefined);
		await nextTick();
		this.#nextSync = undefined;
		this.#syncing = this.#syncFiles();
		try {
			await this.#syncing;
		} finally {
			this.#syncing = undefined;
		}
	}

	async #syncFiles(): Promise<void> {
		const files = [this.#current, this.#other].filter(({ isUnsynced }) => isUnsynced);
		const outcomes = await Promise.allSettled(files.map(syncFile));
		const failed = outcomes.find(({ status }) => status === 'rejected');
		this.#syncFailure = failed?.status === 'rejected' ? errorFrom(failed.reason) : undefined;
		if (this.#syncFailure !== undefined) throw this.#syncFailure;
	}
}

function errorFrom(reason: unknown): Error {
	return reason instanceof Error ? reason : new Error(String(reason));
}

const truncate = promisify(ftruncate);
const sync = promisify(fdatasync);
const nextTick = promisify(setImmediate);

async function syncFile(file: JournalFile): Promise<void> {
	file.isUnsynced = false;
	try {
		await sync(file.descriptor);
	} catch (cause) {
		file.isUnsynced = true;
		throw cause;
	}
}

/** Makes the names of new files durable, too. */
function syncDirectory(path: string): void {
	const descriptor = openSync(path, 'r');
	try {
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function openFile(path: string): JournalFile {
	createPrivateFile(path);
	return { path, descriptor: openSync(path, 'a'), bytes: 0, lines: 0, isTorn: false, isUnsynced: false, emptying: undefined };
}

export interface StaleJournal {
	readonly run: string;
	/** In the order in which they were opened; most of them are in the database. */
	readonly opens: readonly CompactOpen[];
	/** Closes of these opens, and of earlier ones. */
	readonly closes: readonly CompactClose[];
	/** Requires that the database has all of them. */
	remove(): void;
}

/** Reads the journals of dead processes. */
export function readStaleJournals(dataDir: string, isAlive: (run: string) => boolean): readonly StaleJournal[] {
	const byRun = new Map<string, string[]>();
	for (const name of readdirSync(dataDir)) {
		const run = namePattern.exec(name)?.[1];
		if (run !== undefined && !isAlive(run)) byRun.set(run, [...(byRun.get(run) ?? []), join(dataDir, name)]);
	}
	return [...byRun].map(([run, paths]) => {
		const files = paths.map(readFile).toSorted((one, other) => (one.turn < other.turn ? -1 : 1));
		return {
			run,
			opens: files.flatMap(({ opens }) => opens),
			closes: files.flatMap(({ closes }) => closes),
			remove() {
				for (const path of paths) rmSync(path, { force: true });
			},
		};
	});
}

/** Reads complete lines: a torn line was never acknowledged. */
function readFile(path: string): Pick<StaleJournal, 'opens' | 'closes'> & { turn: number } {
	const [turn, ...lines] = readText(path).split('\n');
	// Text after the last line feed is not a complete line, whatever it looks like.
	const whole = lines.slice(0, -1);
	return { turn: Number(turn), opens: whole.flatMap(readOpen), closes: whole.flatMap(readClose) };
}

function readOpen(line: string): readonly CompactOpen[] {
	try {
		const row = readLine(line);
		return isSound(row) ? [row] : [];
	} catch {
		return [];
	}
}

function readClose(line: string): readonly CompactClose[] {
	try {
		const row = readCloseLine(line);
		return row === undefined ? [] : [row];
	} catch {
		return [];
	}
}

/** Rejects a row that the database would accept but could not decode, because it would block every later start. */
function isSound([
	id,
	startedMs,
	team,
	clientId,
	provider,
	model,
	dialect,
	isStreaming,
	priceVersion,
	budgets,
	endpoint,
	attributes,
	reserved,
]: CompactOpen): boolean {
	const names: unknown = JSON.parse(budgets);
	// The database parses them too.
	if (attributes !== '') JSON.parse(attributes);
	const areTexts = [id, team, clientId, provider, model, dialect, priceVersion, endpoint, attributes].every(
		(text: unknown) => typeof text === 'string',
	);
	const areNumbers = Number.isSafeInteger(startedMs) && (isStreaming === 0 || isStreaming === 1);
	return areTexts && areNumbers && isAmount(reserved) && Array.isArray(names) && names.every((name) => typeof name === 'string');
}

/** Empty if another starting process has just removed the file. */
function readText(path: string): string {
	try {
		return readFileSync(path, 'utf8');
	} catch (cause) {
		if (existsSync(path)) throw cause;
		return '';
	}
}

function pathOf(dataDir: string, run: string, place: 0 | 1): string {
	return join(dataDir, `ledger-run-${run}.${place}.journal`);
}
