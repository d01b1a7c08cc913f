import type { Fault } from '../../../core/fault.ts';
import type { Closing, OpenRow } from '../../contracts/ledger.ts';
import type { CompactClose, RowException } from './ledger-calls.ts';

interface Waiter<Result> {
	resolve(result: Result): void;
	reject(cause: Fault): void;
}

export interface PendingOpen {
	readonly row: OpenRow;
	readonly waiter: Waiter<void>;
}

export interface PendingClose {
	readonly row: CompactClose;
	/** Absent once its caller was refused. */
	readonly waiter?: Waiter<Closing>;
	/** True when it closes an open that was refused after it may have been written. */
	readonly isTakingBack: boolean;
}

/** Rows under way to the database, and who waits for them. */
export interface Batch {
	readonly opens: readonly PendingOpen[];
	readonly closes: readonly PendingClose[];
	readonly sentMs: number;
	/** Sent a second time, after the thread died. */
	readonly isRepeat: boolean;
	/** Everybody who waited for it was refused. */
	isGivenUp: boolean;
}

export interface BatchOutcome {
	unknownCloses: number;
	repeatedCloses: number;
	/** Of rows that can never be stored. */
	readonly failedIds: string[];
	failedCloses: number;
}

/** Tells everybody who waits for a committed batch what became of the row. @param refusal for a row that cannot be stored. */
export function settleBatch(batch: Batch, exceptions: readonly RowException[], refusal: (id: string) => Fault): BatchOutcome {
	const outcome: BatchOutcome = { unknownCloses: 0, repeatedCloses: 0, failedIds: [], failedCloses: 0 };
	const odd = { opens: new Map<number, RowException['what']>(), closes: new Map<number, RowException['what']>() };
	for (const { of, index, what } of exceptions) odd[of].set(index, what);
	for (const [index, { row, waiter }] of batch.opens.entries()) {
		if (odd.opens.get(index) === 'failed') {
			outcome.failedIds.push(row.id);
			waiter.reject(refusal(row.id));
		} else waiter.resolve();
	}
	for (const [index, { row, waiter, isTakingBack }] of batch.closes.entries()) {
		const what = odd.closes.get(index) ?? 'closed';
		if (what === 'failed') {
			outcome.failedIds.push(row[0]);
			outcome.failedCloses += 1;
			waiter?.reject(refusal(row[0]));
			continue;
		}
		// What a repeated batch finds closed, its first sending may have closed.
		const closing = what === 'closed_before' && batch.isRepeat ? 'closed' : what;
		if (closing === 'unknown' && !isTakingBack) outcome.unknownCloses += 1;
		if (closing === 'closed_before' && !isTakingBack) outcome.repeatedCloses += 1;
		waiter?.resolve(closing);
	}
	return outcome;
}
