/**
 * Gathers rows into batches, one under way at a time, and stands between callers and a database that may fail: opens are
 * refused then, closes are kept until it is back.
 */
import type { Clock, Timer } from '../../../core/clock.ts';
import { Fault } from '../../../core/fault.ts';
import type { Log } from '../../../core/log.ts';
import type { ClosedRow, Closing, LedgerHealth, OpenRow } from '../../contracts/ledger.ts';
import { ThreadLost } from '../../store-thread.ts';
import { BatchNames, compactClose, compactMoney, compactOpen, takenBack } from './compact-rows.ts';
import { type Batch, type PendingClose, type PendingOpen, settleBatch } from './ledger-batch.ts';
import type { RowException, WriteBatch } from './ledger-calls.ts';

export interface LedgerQueueDeps {
	/** Rejects when nothing of the batch was committed, or (`ThreadLost`) when that is unknown. */
	readonly write: (batch: WriteBatch) => Promise<readonly RowException[]>;
	readonly clock: Clock;
	readonly log: Log;
	/** Named in log lines and messages. */
	readonly path: string;
}

/** About 40 MB. */
export const mostQueuedRows = 100_000;
/** Keeps the cloning of a batch under a millisecond. */
const mostRowsPerBatch = 1000;
/** Longer than the database waits for another process's lock. */
const stalledAfterMs = 3000;
const probeEveryMs = 250;
/** No caller waits for a close: it goes with the next open, or after so long. Waking the thread costs more than a row. */
const closesRestMs = 5;

export class LedgerQueue {
	private readonly deps: LedgerQueueDeps;
	private opens: PendingOpen[] = [];
	private closes: PendingClose[] = [];
	private underWay: Batch | undefined;
	private isWaking = false;
	private rest: NodeJS.Timeout | undefined;
	private failingSinceMs: number | undefined;
	private probe: Timer | undefined;
	private watch: Timer | undefined;
	private ended: (() => void) | undefined;
	private readonly counts = { unknownCloses: 0, repeatedCloses: 0, rejectedRows: 0, lostCloses: 0 };

	constructor(deps: LedgerQueueDeps) {
		this.deps = deps;
	}

	open(row: OpenRow): Promise<void> {
		return new Promise((resolve, reject) => {
			// What cannot be stored is told before it waits.
			compactMoney(row.holdNanoUsd);
			const why = this.whyNot() ?? (this.failingSinceMs === undefined ? undefined : 'it cannot be written now');
			if (why === undefined) {
				this.opens.push({ row, waiter: { resolve, reject } });
				this.wake();
			} else reject(this.refusal(why));
		});
	}

	close(row: ClosedRow): Promise<Closing> {
		return new Promise((resolve, reject) => {
			const compact = compactClose(row);
			const why = this.whyNot();
			if (why !== undefined) {
				this.counts.lostCloses += 1;
				reject(this.refusal(why));
			} else if (this.failingSinceMs === undefined) {
				this.closes.push({ row: compact, waiter: { resolve, reject }, isTakingBack: false });
				this.rest ??= setTimeout(() => this.endRest(), closesRestMs);
			} else {
				this.closes.push({ row: compact, isTakingBack: false });
				reject(this.refusal('it cannot be written now; it is kept'));
			}
		});
	}

	health(): Omit<LedgerHealth, 'droppedAssessments'> {
		return { isWritable: this.failingSinceMs === undefined, queuedRows: this.countQueued(), ...this.counts };
	}

	/** Refuses everything from now on, and resolves when nothing waits any more, or cannot be written. */
	async end(): Promise<void> {
		await new Promise<void>((resolve) => {
			this.ended = resolve;
			if (this.countQueued() === 0) resolve();
			else if (this.failingSinceMs !== undefined) this.tryAgain();
			else this.endRest();
		});
		this.probe?.cancel();
		this.watch?.cancel();
	}

	private countQueued(): number {
		const { opens, closes, underWay } = this;
		return opens.length + closes.length + (underWay === undefined ? 0 : underWay.opens.length + underWay.closes.length);
	}

	private whyNot(): string | undefined {
		if (this.ended !== undefined) return 'the process is stopping';
		return this.countQueued() < mostQueuedRows ? undefined : 'too many rows wait to be written';
	}

	private refusal(why: string): Fault {
		this.counts.rejectedRows += 1;
		return new Fault('records_unavailable', { message: `The ledger ${this.deps.path} cannot take the row: ${why}` });
	}

	private wake(): void {
		if (this.isWaking || this.underWay !== undefined) return;
		this.isWaking = true;
		setImmediate(() => {
			this.isWaking = false;
			if (this.underWay === undefined && this.failingSinceMs === undefined) this.sendNext();
		});
	}

	private endRest(): void {
		clearTimeout(this.rest);
		this.rest = undefined;
		this.wake();
	}

	private sendNext(): void {
		const isResting = this.rest !== undefined && this.opens.length === 0;
		if (this.opens.length + this.closes.length === 0) this.ended?.();
		else if (!isResting) this.send(this.opens.splice(0, mostRowsPerBatch), this.closes.splice(0, mostRowsPerBatch));
	}

	private tryAgain(): void {
		if (this.underWay === undefined) this.send([], this.closes.splice(0, mostRowsPerBatch));
	}

	private send(opens: readonly PendingOpen[], closes: readonly PendingClose[], repeated?: Batch): void {
		const { clock } = this.deps;
		const batch: Batch = {
			opens,
			closes,
			sentMs: clock.monotonicMs(),
			isRepeat: repeated !== undefined,
			isGivenUp: repeated?.isGivenUp ?? false,
		};
		this.underWay = batch;
		this.watch ??= clock.after(stalledAfterMs, () => this.lookForStall());
		this.write(opens, closes).then(
			(exceptions) => this.succeeded(batch, exceptions),
			(cause: unknown) => this.failed(batch, cause),
		);
	}

	private async write(opens: readonly PendingOpen[], closes: readonly PendingClose[]): Promise<readonly RowException[]> {
		const names = new BatchNames();
		const rows = { opens: opens.map(({ row }) => compactOpen(row, names)), closes: closes.map(({ row }) => row) };
		return this.deps.write({ names: names.list, ...rows });
	}

	private succeeded(batch: Batch, exceptions: readonly RowException[]): void {
		const { log, path } = this.deps;
		this.underWay = undefined;
		this.recover();
		const { unknownCloses, repeatedCloses, failedIds, failedCloses } = settleBatch(batch, exceptions, (id) =>
			this.refusal(`the row of ${id} cannot be stored`),
		);
		this.counts.unknownCloses += unknownCloses;
		this.counts.repeatedCloses += repeatedCloses;
		this.counts.lostCloses += failedCloses;
		for (const id of failedIds) log.error('a ledger row cannot be stored', { path, id });
		if (batch.isGivenUp) this.takeBack(batch.opens);
		this.sendNext();
	}

	private failed(batch: Batch, cause: unknown): void {
		const { clock, log, path } = this.deps;
		if (cause instanceof ThreadLost && !batch.isRepeat) {
			log.warn('the ledger thread died and is started again', { path, cause });
			this.send(batch.opens, batch.closes, batch);
			return;
		}
		this.underWay = undefined;
		this.giveUp(batch, cause);
		this.closes = [...batch.closes.map(withoutWaiter), ...this.closes];
		this.takeBack(batch.opens);
		this.probe?.cancel();
		if (this.ended === undefined) this.probe = clock.after(probeEveryMs, () => this.tryAgain());
		else this.abandon(this.ended);
	}

	/** Refuses everybody who waits, for this batch and behind it. */
	private giveUp(batch: Batch, cause: unknown): void {
		const { clock, log, path } = this.deps;
		if (this.failingSinceMs === undefined) {
			this.failingSinceMs = clock.monotonicMs();
			log.error('the ledger cannot be written', { path, cause });
		}
		const why = cause instanceof Error ? cause.message : String(cause);
		const waiting = [...(batch.isGivenUp ? [] : [...batch.opens, ...batch.closes]), ...this.opens, ...this.closes];
		for (const { waiter } of waiting) waiter?.reject(this.refusal(why));
		batch.isGivenUp = true;
		this.opens = [];
		this.closes = this.closes.map(withoutWaiter);
	}

	/** So that nobody is charged for a call that was refused. */
	private takeBack(refused: readonly PendingOpen[]): void {
		for (const { row } of refused) this.closes.push({ row: takenBack(row), isTakingBack: true });
	}

	private recover(): void {
		const { clock, log, path } = this.deps;
		if (this.failingSinceMs === undefined) return;
		const failedForMs = Math.round(clock.monotonicMs() - this.failingSinceMs);
		log.info('the ledger is written again', { path, failed_for_ms: failedForMs, queued_rows: this.countQueued() });
		this.failingSinceMs = undefined;
	}

	private lookForStall(): void {
		const { clock } = this.deps;
		this.watch = undefined;
		if (this.underWay === undefined) return;
		const isStalled = clock.monotonicMs() - this.underWay.sentMs >= stalledAfterMs;
		if (isStalled) this.giveUp(this.underWay, new Error('the disk has not answered for three seconds'));
		this.watch = clock.after(stalledAfterMs, () => this.lookForStall());
	}

	private abandon(ended: () => void): void {
		const { log, path } = this.deps;
		this.counts.lostCloses += this.closes.length;
		if (this.closes.length > 0) {
			log.error('ledger rows were not closed; the next start charges their holds', { path, rows: this.closes.length });
		}
		this.closes = [];
		ended();
	}
}

function withoutWaiter({ row, isTakingBack }: PendingClose): PendingClose {
	return { row, isTakingBack };
}
