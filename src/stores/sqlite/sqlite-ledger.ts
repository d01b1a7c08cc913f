/** The ledger in one SQLite file, written by a thread of its own and read by another; several processes may share the file. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Timer } from '../../core/clock.ts';
import { Fault } from '../../core/fault.ts';
import type { Log } from '../../core/log.ts';
import type { Ledger, LedgerReader } from '../contracts/ledger.ts';
import type { ReaderCalls, WriterCalls } from './ledger/ledger-calls.ts';
import { LedgerQueue, type LedgerQueueDeps } from './ledger/ledger-queue.ts';
import { ledgerFileName } from './ledger/ledger-schema.ts';
import { createLedgerThread, type LedgerThread } from './ledger/ledger-thread.ts';
import type { LedgerThreadData } from './ledger/ledger-worker.ts';
import { lockRun } from './ledger/run-lock.ts';
import type { Durability } from './open-database.ts';

export interface SqliteLedgerSettings {
	/** Created, readable to its owner only, when it does not exist. */
	readonly dataDir: string;
	readonly durability: Durability;
	/** Rows of calls that started longer ago are deleted, at the start and every hour; null keeps them for ever. */
	readonly retainDays: number | null;
}

export interface SqliteLedgerDeps {
	readonly clock: Clock;
	readonly log: Log;
}

const msPerHour = 3_600_000;
/** Some ten megabytes of log when batches are small. */
const batchesPerCheckpoint = 250;

/** @throws StoreUnusable when the file cannot be opened. */
export async function openSqliteLedger(settings: SqliteLedgerSettings, deps: SqliteLedgerDeps): Promise<Ledger> {
	const { clock, log } = deps;
	const run = randomBytes(8).toString('hex');
	const writer = createLedgerThread<WriterCalls>(threadData('writer', settings, run));
	const unlockRun = await startWriting(writer, settings.dataDir, run);
	const reading = createReading(threadData('reader', settings, run));
	const path = join(settings.dataDir, ledgerFileName);
	let batchesSinceCheckpoint = 0;
	const write: LedgerQueueDeps['write'] = (batch) => {
		if (++batchesSinceCheckpoint === batchesPerCheckpoint) {
			batchesSinceCheckpoint = 0;
			reading.checkpoint();
		}
		return writer.call('write', batch);
	};
	const queue = new LedgerQueue({ write, clock, log, path });
	const prune = async (beforeMs: number): Promise<number> => {
		let pruned = 0;
		for (let some = 1; some > 0; pruned += some) some = await unlessUnavailable(writer.call('pruneSome', beforeMs));
		return pruned;
	};
	const stopRetention = settings.retainDays === null ? undefined : retain(settings.retainDays, prune, deps);
	const end = async (): Promise<void> => {
		stopRetention?.();
		await queue.end();
		await Promise.all([writer.stop(), reading.end()]);
		unlockRun();
	};
	let ending: Promise<void> | undefined;
	return {
		open: (row) => queue.open(row),
		close: (row) => queue.close(row),
		closeInterrupted: () => unlessUnavailable(writer.call('closeInterrupted', clock.nowMs())),
		prune,
		health: () => queue.health(),
		...reading,
		end() {
			ending ??= end();
			return ending;
		},
	};
}

async function startWriting(writer: LedgerThread<WriterCalls>, dataDir: string, run: string): Promise<() => void> {
	try {
		await writer.call('open', null);
		return lockRun(dataDir, run);
	} catch (cause) {
		await writer.stop();
		throw cause;
	}
}

/** For processes that serve no calls. @throws StoreUnusable when the file cannot be opened. */
export async function openSqliteLedgerReader(settings: Pick<SqliteLedgerSettings, 'dataDir'>): Promise<LedgerReader> {
	const data = threadData('reader', { ...settings, durability: 'process' }, '');
	const reading = createReading(data);
	try {
		await reading.opened();
	} catch (cause) {
		await reading.end();
		throw cause;
	}
	return reading;
}

function createReading(data: LedgerThreadData): LedgerReader & { opened(): Promise<unknown>; checkpoint(): void } {
	const reader: LedgerThread<ReaderCalls> = createLedgerThread(data);
	return {
		opened: () => reader.call('open', null),
		checkpoint: () => void reader.call('checkpoint', null).catch(() => undefined),
		summarize: (query) => unlessUnavailable(reader.call('summarize', query)),
		list: (query) => unlessUnavailable(reader.call('list', query)),
		check: () => unlessUnavailable(reader.call('check', null)),
		end: () => reader.stop(),
	};
}

function threadData(kind: LedgerThreadData['kind'], settings: Omit<SqliteLedgerSettings, 'retainDays'>, run: string): LedgerThreadData {
	return { kind, dataDir: settings.dataDir, durability: settings.durability, run };
}

async function unlessUnavailable<Result>(answer: Promise<Result>): Promise<Result> {
	try {
		return await answer;
	} catch (cause) {
		if (cause instanceof RangeError) throw cause;
		throw new Fault('records_unavailable', { cause });
	}
}

function retain(days: number, prune: (beforeMs: number) => Promise<number>, { clock, log }: SqliteLedgerDeps): () => void {
	let timer: Timer | undefined;
	const work = (): void => {
		timer = clock.after(msPerHour, work);
		prune(clock.nowMs() - days * 24 * msPerHour).catch((cause: unknown) => log.warn('old ledger rows could not be deleted', { cause }));
	};
	work();
	return () => timer?.cancel();
}
