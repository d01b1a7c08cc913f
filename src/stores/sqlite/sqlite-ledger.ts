/** The ledger in one SQLite file, written by one thread and read by another; several processes may share the file. */
import { randomBytes } from 'node:crypto';
import { extname, join } from 'node:path';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { Ledger, LedgerReader } from '../contracts/ledger.ts';
import type { LedgerSpool } from '../contracts/ledger-spool.ts';
import { createStoreThread, type StoreThread, type WorkerOperations } from '../store-thread.ts';
import { msPerDay, msPerHour } from '../sum-tables.ts';
import { AssessmentQueue } from './ledger/assessment-queue.ts';
import { ledgerEntryOf } from './ledger/compact-entries.ts';
import { lockInstance } from './ledger/instance-lock.ts';
import type { ReaderOperations, UnsentAssessments, WriterOperations } from './ledger/ledger-operations.ts';
import { LedgerQueue, type LedgerQueueDeps } from './ledger/ledger-queue.ts';
import { ledgerFileName } from './ledger/ledger-schema.ts';
import type { LedgerThreadData } from './ledger/ledger-worker.ts';
import { OpenJournal } from './ledger/open-journal.ts';
import { packBatch } from './ledger/packed-batch.ts';
import type { Durability } from './open-database.ts';

export interface SqliteLedgerSettings {
	/** Created when it does not exist, readable only by its owner. */
	readonly dataDir: string;
	readonly durability: Durability;
	/** Entries of requests that started longer ago are deleted, at the start and every hour; null keeps them forever. */
	readonly retainDays: number | null;
}

export interface SqliteLedgerDeps {
	readonly clock: Clock;
	readonly log: Log;
}

/** A few ten megabytes of write-ahead log when batches are small. */
const batchesPerCheckpoint = 250;

/** A ledger with an outbox. */
export interface SpoolingLedger extends Ledger {
	readonly spool: LedgerSpool;
	/** Assessments that are not in the fleet's database yet. */
	readonly unsentAssessments: { read(limit: number): Promise<UnsentAssessments>; forget(through: number): Promise<void> };
	/** Rejects entries from now on; resolves when queued ones are in the outbox, or cannot be written. Must precede `end`. */
	stopTaking(): Promise<void>;
}

/** @throws StoreUnusable when the file cannot be opened. */
export async function openSqliteLedger(settings: SqliteLedgerSettings, deps: SqliteLedgerDeps): Promise<Ledger> {
	const { spool, unsentAssessments, stopTaking, ...ledger } = await openLedger(settings, deps, undefined);
	return ledger;
}

/**
 * Opens a ledger that adds each opened or closed entry to an outbox, in the same transaction.
 * @param noted called after entries were added.
 * @throws StoreUnusable when the file cannot be opened.
 */
export function openSpoolingLedger(settings: SqliteLedgerSettings, deps: SqliteLedgerDeps, noted: () => void): Promise<SpoolingLedger> {
	return openLedger(settings, deps, noted);
}

async function openLedger(
	settings: SqliteLedgerSettings,
	deps: SqliteLedgerDeps,
	noted: (() => void) | undefined,
): Promise<SpoolingLedger> {
	const { clock, log } = deps;
	const data = { ...settings, run: randomBytes(8).toString('hex'), spools: noted !== undefined };
	const writer = createLedgerThread<WriterOperations>(threadData('writer', data));
	const { journal, unlockInstance } = await startWriting(writer, data);
	const reader: StoreThread<ReaderOperations> = createLedgerThread(threadData('reader', data));
	const wideReader: StoreThread<ReaderOperations> = createLedgerThread(threadData('reader', data));
	const write = createWrite(writer, reader, noted);
	const queue = new LedgerQueue({ write, journal, clock, log, path: join(settings.dataDir, ledgerFileName) });
	const assessments = new AssessmentQueue({ write: (rows) => writer.request('assess', rows), clock, log });
	const prune = async (beforeMs: number): Promise<number> => {
		await queue.flush();
		await untilNone(() => unlessUnavailable(writer.request('pruneAssessments', beforeMs)));
		return untilNone(() => unlessUnavailable(writer.request('pruneSome', beforeMs)));
	};
	const stopRetention = settings.retainDays === null ? undefined : retain(settings.retainDays, prune, deps);
	const end = async (): Promise<void> => {
		stopRetention?.();
		await Promise.all([queue.end(), assessments.end()]);
		await Promise.all([writer.stop(), reader.stop(), wideReader.stop()]);
		await journal.end();
		unlockInstance();
	};
	let ending: Promise<void> | undefined;
	return {
		open: (row) => queue.open(row),
		close: (row, notified) => queue.close(row, notified),
		async closeInterrupted() {
			const rows = await unlessUnavailable(writer.request('closeInterrupted', clock.nowMs()));
			noted?.();
			return rows;
		},
		prune,
		assess: (some) => assessments.add(some),
		health: () => ({ ...queue.health(), droppedAssessments: assessments.dropped }),
		// Assessments that cannot be written do not delay the read.
		...createReading(
			reader,
			wideReader,
			() => queue.flush(),
			() => assessments.flush().catch(() => undefined),
		),
		async stopTaking() {
			await Promise.all([queue.end(), assessments.end()]);
		},
		unsentAssessments: {
			async read(limit) {
				await assessments.flush();
				return reader.request('readUnsentAssessments', limit);
			},
			forget: async (through) => void (await writer.request('forgetAssessments', through)),
		},
		spool: {
			async read(limit) {
				await queue.flush();
				return reader.request('readOutbox', limit);
			},
			forget: async (done) => void (await writer.request('forget', done)),
			pruneSent: (beforeMs) => untilNone(() => writer.request('pruneSentSome', beforeMs)),
		},
		end() {
			ending ??= end();
			return ending;
		},
	};
}

/** Makes the reader run a checkpoint after a number of batches. */
function createWrite(
	writer: StoreThread<WriterOperations>,
	reader: StoreThread<ReaderOperations>,
	noted: (() => void) | undefined,
): LedgerQueueDeps['write'] {
	let batchesSinceCheckpoint = 0;
	return async (batch) => {
		if (++batchesSinceCheckpoint === batchesPerCheckpoint) {
			batchesSinceCheckpoint = 0;
			reader.request('checkpoint', null).catch(() => undefined);
		}
		const exceptions = await writer.request('write', packBatch(batch));
		noted?.();
		return exceptions;
	};
}

async function untilNone(deleteSome: () => Promise<number>): Promise<number> {
	let deleted = 0;
	for (let some = 1; some > 0; deleted += some) some = await deleteSome();
	return deleted;
}

async function startWriting(
	writer: StoreThread<WriterOperations>,
	{ dataDir, run, durability }: Pick<LedgerThreadData, 'dataDir' | 'run' | 'durability'>,
): Promise<{ journal: OpenJournal; unlockInstance: () => void }> {
	let unlockInstance: (() => void) | undefined;
	try {
		await writer.request('open', null);
		unlockInstance = lockInstance(dataDir, run);
		return { journal: new OpenJournal(dataDir, run, durability), unlockInstance };
	} catch (cause) {
		unlockInstance?.();
		await writer.stop();
		throw cause;
	}
}

/** Reader for processes that serve no requests. @throws StoreUnusable when the file cannot be opened. */
export async function openSqliteLedgerReader(settings: Pick<SqliteLedgerSettings, 'dataDir'>): Promise<LedgerReader> {
	const data = threadData('reader', { ...settings, durability: 'process', run: '', spools: false });
	const reader: StoreThread<ReaderOperations> = createLedgerThread(data);
	try {
		await reader.request('open', null);
	} catch (cause) {
		await reader.stop();
		throw cause;
	}
	return createReading(reader, reader, isIdle, isIdle);
}

async function isIdle(): Promise<void> {}

/**
 * @param wideReader serves reads over all teams: they take long, and requests may wait for reads of their team.
 * @param written resolves when earlier entries can be read.
 * @param assessed resolves when earlier assessments can be read.
 */
function createReading(
	reader: StoreThread<ReaderOperations>,
	wideReader: StoreThread<ReaderOperations>,
	written: () => Promise<void>,
	assessed: () => Promise<void>,
): LedgerReader {
	return {
		summarize: (query) =>
			unlessUnavailable(written().then(() => (query.team === undefined ? wideReader : reader).request('summarize', query))),
		sumCosts: (query) => unlessUnavailable(written().then(() => reader.request('sumCosts', query))),
		async list(query) {
			const { rows, nextCursor } = await unlessUnavailable(written().then(() => reader.request('list', query)));
			return { rows: rows.map(ledgerEntryOf), nextCursor };
		},
		readTeam: (query) => unlessUnavailable(written().then(() => reader.request('readTeam', query))),
		check: () => unlessUnavailable(written().then(() => reader.request('check', null))),
		listAssessments: (query) => unlessUnavailable(assessed().then(() => reader.request('listAssessments', query))),
		async verdictsOf(requestIds) {
			return new Map(await unlessUnavailable(assessed().then(() => reader.request('verdictsOf', requestIds))));
		},
		end: () => reader.stop(),
	};
}

function threadData(
	kind: LedgerThreadData['kind'],
	{ dataDir, durability, run, spools }: Omit<LedgerThreadData, 'kind'>,
): LedgerThreadData {
	return { kind, dataDir, durability, run, spools };
}

async function unlessUnavailable<Result>(response: Promise<Result>): Promise<Result> {
	try {
		return await response;
	} catch (cause) {
		if (cause instanceof RangeError) throw cause;
		throw new UpstreamError('records_unavailable', { cause });
	}
}

function retain(days: number, prune: (beforeMs: number) => Promise<number>, { clock, log }: SqliteLedgerDeps): () => void {
	let timer: Timer | undefined;
	const work = (): void => {
		timer = clock.after(msPerHour, work);
		prune(clock.nowMs() - days * msPerDay).catch((cause: unknown) => log.warn('old ledger entries could not be deleted', { cause }));
	};
	work();
	return () => timer?.cancel();
}

export function createLedgerThread<Calls extends WorkerOperations>(data: LedgerThreadData): StoreThread<Calls> {
	const file = new URL(`./ledger/ledger-worker${extname(import.meta.url)}`, import.meta.url);
	return createStoreThread({ file, name: `ledger ${data.kind}`, data });
}
