/**
 * Accepts rows, writes them to the journal and gathers them into batches, of which one at a time is sent to the database. While the
 * database fails, opens are rejected, and accepted rows stay queued until it recovers.
 */
import type { Clock, Timer } from '../../../core/clock.ts';
import type { Log } from '../../../core/log.ts';
import { flushOnTick, type TickListener } from '../../../core/tick-flush.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import type { ClosedEntry, CloseListener, LedgerHealth, OpenEntry, OpenedEntry } from '../../contracts/ledger.ts';
import { ThreadLost } from '../../store-thread.ts';
import { compactClose, lineOf, lineOfClose, voided } from './compact-entries.ts';
import { type Batch, type PendingClose, settleBatch } from './ledger-batch.ts';
import type { CompactClose, EntryException, WriteBatch } from './ledger-operations.ts';
import type { OpenJournal } from './open-journal.ts';

export interface LedgerQueueDeps {
	/** Rejects when nothing of the batch was committed, or (`ThreadLost`) when that is unknown. */
	readonly write: (batch: WriteBatch) => Promise<readonly EntryException[]>;
	readonly journal: Pick<OpenJournal, 'isSynced' | 'append' | 'whenSafe' | 'forget' | 'test'>;
	readonly clock: Clock;
	readonly log: Log;
	/** File name for log lines and messages. */
	readonly path: string;
}

/** About 40 MB. */
export const maxQueuedEntries = 100_000;
/** Keeps the cloning of a batch under a millisecond. */
const maxEntriesPerBatch = 1000;
/** Longer than the database waits for another process's lock. */
const stalledAfterMs = 3000;
const probeEveryMs = 250;
/**
 * No request waits for the database, so that rows are delayed for this time to share a batch. Waking the thread and a transaction cost more
 * than a row.
 */
const restMs = 25;

const isStopping = 'the process is shutting down';

/** An open is stored as its line. */
type QueuedEntry = string | PendingClose;

/** Lines of one turn of the event loop. They go into the journal in one write, because a write for each would cost more than the rest. */
interface Gathered extends OpenedEntry {
	lines: string;
	opens: number;
	closes: number;
	failure: UpstreamError | undefined;
}

interface Flush {
	/** Number of rows written since the start at which it resolves. */
	readonly until: number;
	resolve(): void;
}

export class LedgerQueue implements TickListener {
	private readonly deps: LedgerQueueDeps;
	/** A close comes after its open. */
	private entries: QueuedEntry[] = [];
	private gathered: Gathered | undefined;
	private currentBatch: Batch | undefined;
	private rest: NodeJS.Timeout | undefined;
	private failingSinceMs: number | undefined;
	private probe: Timer | undefined;
	private watch: Timer | undefined;
	private isEnding = false;
	private ended: (() => void) | undefined;
	private readonly flushes: Flush[] = [];
	private writtenEntries = 0;
	private readonly counts = { unknownCloses: 0, repeatedCloses: 0, rejectedEntries: 0, lostCloses: 0 };

	constructor(deps: LedgerQueueDeps) {
		this.deps = deps;
	}

	open(row: OpenEntry): OpenedEntry | Promise<OpenedEntry> {
		let gathered: Gathered;
		try {
			// Rows that cannot be stored are rejected before any other check.
			const line = lineOf(row);
			const why = this.openFailure();
			if (why !== undefined) throw this.rejection(why);
			this.entries.push(line);
			gathered = this.gatherLine(line);
			gathered.opens += 1;
		} catch (cause) {
			return Promise.reject(cause);
		}
		return this.deps.journal.isSynced ? this.whenSynced(row, gathered) : gathered;
	}

	/** Implements `TickListener`. */
	onTickFlush(): void {
		const { gathered } = this;
		if (gathered === undefined) return;
		this.gathered = undefined;
		try {
			this.deps.journal.append(gathered.lines, gathered.opens + gathered.closes);
		} catch (cause) {
			// Set first: requests whose lines are not in the journal must not be sent, whatever the listeners do.
			gathered.failure = this.rejection(messageOf(cause), gathered.opens);
			// Closes also arrive during a failure, and must not delay the next attempt.
			if (this.failingSinceMs === undefined) this.fail(cause);
		}
		// Released early, because its requests reference this object until they end.
		gathered.lines = '';
	}

	close(row: ClosedEntry, onClosed: CloseListener): void {
		const compact = compactClose(row);
		// The queue needs no limit for closes: there are never more of them than accepted opens.
		if (this.isEnding) {
			this.counts.lostCloses += 1;
			this.notify(onClosed, this.rejection(isStopping));
		} else if (this.failingSinceMs === undefined) {
			this.addClose(compact, onClosed);
		} else {
			this.addClose(compact, undefined);
			this.notify(onClosed, this.rejection('the disk cannot be written; the entry is kept'));
		}
	}

	/** Resolves when the database has all earlier rows, or is not writable. */
	flush(): Promise<void> {
		const queued = this.countQueued();
		if (this.failingSinceMs !== undefined || queued === 0) return Promise.resolve();
		return new Promise((resolve) => {
			this.flushes.push({ until: this.writtenEntries + queued, resolve });
			this.endRest();
		});
	}

	health(): Omit<LedgerHealth, 'droppedAssessments'> {
		return { isWritable: this.failingSinceMs === undefined, queuedEntries: this.countQueued(), ...this.counts };
	}

	/** Rejects everything from now on, and resolves when the queue is empty, or the database is not writable. */
	async end(): Promise<void> {
		this.isEnding = true;
		this.onTickFlush();
		// Callers whose sync fails add a voiding close.
		await this.deps.journal.whenSafe().catch(() => undefined);
		this.probe?.cancel();
		await new Promise<void>((resolve) => {
			this.ended = resolve;
			if (this.countQueued() === 0) resolve();
			else if (this.failingSinceMs === undefined) this.endRest();
			else if (this.currentBatch === undefined) this.tryAgain();
		});
		this.watch?.cancel();
	}

	/** Catches errors of a listener, which must not block the next batch. */
	private readonly notify = (listener: CloseListener, outcome: Parameters<CloseListener>[0]): void => {
		try {
			listener(outcome);
		} catch (error) {
			this.deps.log.error('internal error', { error });
		}
	};

	private countQueued(): number {
		return this.entries.length + (this.currentBatch === undefined ? 0 : sizeOf(this.currentBatch));
	}

	private openFailure(): string | undefined {
		if (this.isEnding) return isStopping;
		if (this.failingSinceMs !== undefined) return 'the disk cannot be written';
		return this.countQueued() < maxQueuedEntries ? undefined : 'the write queue is full';
	}

	private rejection(why: string, entries = 1): UpstreamError {
		this.counts.rejectedEntries += entries;
		return new UpstreamError('records_unavailable', { message: `The ledger ${this.deps.path} cannot accept the entry: ${why}` });
	}

	private addClose(row: CompactClose, onClosed: CloseListener | undefined): void {
		const gathered = this.gatherLine(lineOfClose(row));
		gathered.closes += 1;
		this.entries.push({ row, line: gathered, onClosed });
	}

	private gatherLine(line: string): Gathered {
		this.rest ??= setTimeout(() => this.endRest(), restMs);
		if (this.gathered === undefined) {
			this.gathered = { lines: '', opens: 0, closes: 0, failure: undefined };
			flushOnTick(this);
		}
		this.gathered.lines += line;
		return this.gathered;
	}

	private async whenSynced(row: OpenEntry, gathered: Gathered): Promise<OpenedEntry> {
		// The sync may begin before the turn ends.
		this.onTickFlush();
		try {
			await this.deps.journal.whenSafe();
		} catch (cause) {
			this.fail(cause);
			gathered.failure ??= this.rejection(messageOf(cause));
		}
		if (gathered.failure === undefined) return gathered;
		// Voids the entry, so that a rejected request is not charged.
		this.addClose(voided(row), undefined);
		throw gathered.failure;
	}

	private endRest(): void {
		clearTimeout(this.rest);
		this.rest = undefined;
		if (this.currentBatch === undefined && this.failingSinceMs === undefined) this.sendNext();
	}

	private sendNext(): void {
		// A full batch does not wait; otherwise the queue of a busy core would grow and grow.
		const isFull = this.entries.length >= maxEntriesPerBatch;
		const isResting = this.rest !== undefined && !isFull && this.ended === undefined && this.flushes.length === 0;
		if (this.entries.length === 0) this.ended?.();
		else if (!isResting) this.sendSome(false);
	}

	/** Writes rows to the database even if the journal fails, because they were accepted before. */
	private tryAgain(): void {
		const isProbe = this.takesTest();
		if (isProbe || this.entries.length > 0) this.sendSome(isProbe);
		else this.tryLater();
	}

	private takesTest(): boolean {
		try {
			this.deps.journal.test();
			return true;
		} catch {
			return false;
		}
	}

	private sendSome(isProbe: boolean): void {
		// The journal needs every line of a batch, because `forget` counts its lines.
		this.onTickFlush();
		const opens: string[] = [];
		const closes: PendingClose[] = [];
		for (const row of this.entries.splice(0, maxEntriesPerBatch)) {
			if (typeof row === 'string') opens.push(row);
			else closes.push(row);
		}
		this.send({ opens, closes, isRepeat: false, isProbe });
	}

	private send(entries: Omit<Batch, 'sentMs'>): void {
		const { clock, write } = this.deps;
		// The batch's outcome decides about the next attempt; two attempts at once could be mistaken for each other.
		this.probe?.cancel();
		this.currentBatch = { ...entries, sentMs: clock.monotonicMs() };
		this.watch ??= clock.after(stalledAfterMs, () => this.checkForStall());
		write({ opens: entries.opens, closes: entries.closes.map(({ row }) => row) }).then(
			(exceptions) => this.succeeded(exceptions),
			(cause: unknown) => this.failed(cause),
		);
	}

	private takeCurrentBatch(): Batch {
		const batch = this.currentBatch;
		if (batch === undefined) throw new TypeError('No batch is in progress');
		this.currentBatch = undefined;
		return batch;
	}

	private succeeded(exceptions: readonly EntryException[]): void {
		const { journal, log, path } = this.deps;
		const batch = this.takeCurrentBatch();
		if (batch.isProbe) this.recover();
		journal.forget(sizeOf(batch));
		const { unknownCloses, repeatedCloses, failedIds, failedCloses } = settleBatch(batch, exceptions, {
			rejection: (id) => this.rejection(`the entry of ${id} cannot be stored`),
			notify: this.notify,
		});
		this.counts.unknownCloses += unknownCloses;
		this.counts.repeatedCloses += repeatedCloses;
		this.counts.lostCloses += failedCloses;
		for (const id of failedIds) log.error('a ledger entry cannot be stored', { path, id });
		this.writtenEntries += sizeOf(batch);
		this.endFlushes();
		if (this.failingSinceMs === undefined) this.sendNext();
		else if (this.ended === undefined) this.tryLater();
		else if (this.entries.length > 0) this.tryAgain();
		else this.ended();
	}

	private endFlushes(): void {
		while (this.flushes[0] !== undefined && (this.failingSinceMs !== undefined || this.flushes[0].until <= this.writtenEntries)) {
			this.flushes.shift()?.resolve();
		}
	}

	private failed(cause: unknown): void {
		const { log, path } = this.deps;
		const batch = this.takeCurrentBatch();
		if (cause instanceof ThreadLost && !batch.isRepeat) {
			log.warn('the ledger thread crashed and is restarted', { path, cause });
			this.send({ ...batch, isRepeat: true });
			return;
		}
		this.entries = [...batch.opens, ...batch.closes, ...this.entries];
		this.fail(cause);
	}

	/** Reports the failure to all waiting callers, and keeps their rows. */
	private fail(cause: unknown): void {
		// Callers that arrive during a failure do not wait.
		if (this.failingSinceMs === undefined) this.beginFailing(cause);
		if (this.currentBatch === undefined) this.tryLater();
	}

	private beginFailing(cause: unknown): void {
		const { clock, log, path } = this.deps;
		this.failingSinceMs = clock.monotonicMs();
		log.error('the ledger cannot be written', { path, cause });
		const why = messageOf(cause);
		const reject = ({ onClosed, ...close }: PendingClose): PendingClose => {
			if (onClosed !== undefined) this.notify(onClosed, this.rejection(why));
			return { ...close, onClosed: undefined };
		};
		if (this.currentBatch !== undefined) this.currentBatch = { ...this.currentBatch, closes: this.currentBatch.closes.map(reject) };
		this.entries = this.entries.map((row) => (typeof row === 'string' ? row : reject(row)));
		this.endFlushes();
	}

	private tryLater(): void {
		this.probe?.cancel();
		if (this.ended === undefined) this.probe = this.deps.clock.after(probeEveryMs, () => this.tryAgain());
		else this.abandon(this.ended);
	}

	private recover(): void {
		const { clock, log, path } = this.deps;
		if (this.failingSinceMs === undefined) return;
		const failedForMs = Math.round(clock.monotonicMs() - this.failingSinceMs);
		log.info('the ledger is writable again', { path, failed_for_ms: failedForMs, queued_entries: this.countQueued() });
		this.failingSinceMs = undefined;
	}

	private checkForStall(): void {
		const { clock } = this.deps;
		this.watch = undefined;
		if (this.currentBatch === undefined) return;
		const isStalled = clock.monotonicMs() - this.currentBatch.sentMs >= stalledAfterMs;
		if (isStalled) this.fail(new Error('the disk did not respond for three seconds'));
		this.watch = clock.after(stalledAfterMs, () => this.checkForStall());
	}

	private abandon(ended: () => void): void {
		const { log, path } = this.deps;
		this.onTickFlush();
		const closes = this.entries.filter((row) => typeof row !== 'string');
		const lost = closes.filter(({ line }) => line.failure !== undefined).length;
		this.counts.lostCloses += lost;
		if (lost > 0) log.error('ledger entries were not closed; the next start charges their reservations', { path, entries: lost });
		if (closes.length > lost) {
			log.warn('ledger entries are in the journal; the next start closes them', { path, entries: closes.length - lost });
		}
		this.entries = [];
		ended();
	}
}

function sizeOf({ opens, closes }: Batch): number {
	return opens.length + closes.length;
}

function messageOf(cause: unknown): string {
	return cause instanceof Error ? cause.message : String(cause);
}
