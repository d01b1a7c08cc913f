import type { UpstreamError } from '../../../core/upstream-error.ts';
import type { CloseListener } from '../../contracts/ledger.ts';
import { readLine } from './compact-entries.ts';
import type { CompactClose, EntryException } from './ledger-operations.ts';

export interface PendingClose {
	readonly row: CompactClose;
	/** Result of writing its line to the journal. */
	readonly line: { readonly failure: UpstreamError | undefined };
	/** Undefined once the caller got an error. */
	readonly onClosed: CloseListener | undefined;
}

/** Rows on the way to the database, with their listeners. */
export interface Batch {
	/** Journal lines. */
	readonly opens: readonly string[];
	readonly closes: readonly PendingClose[];
	readonly sentMs: number;
	/** True if it is sent a second time, after the thread died. */
	readonly isRepeat: boolean;
	/** True if it checks whether a failed database is writable again. */
	readonly isProbe: boolean;
}

export interface BatchOutcome {
	unknownCloses: number;
	repeatedCloses: number;
	/** Ids of rows that can never be stored. */
	readonly failedIds: string[];
	failedCloses: number;
}

export interface SettlePorts {
	/** Creates the error for a row that cannot be stored. */
	rejection(id: string): UpstreamError;
	/** Must not throw, because the queue continues afterwards. */
	notify: (listener: CloseListener, outcome: Parameters<CloseListener>[0]) => void;
}

/** Reports the result of each row of a committed batch to its listener. */
export function settleBatch(batch: Batch, exceptions: readonly EntryException[], { rejection, notify }: SettlePorts): BatchOutcome {
	const outcome: BatchOutcome = { unknownCloses: 0, repeatedCloses: 0, failedIds: [], failedCloses: 0 };
	const oddCloses = new Map<number, EntryException['what']>();
	for (const { of, index, what } of exceptions) {
		if (of === 'closes') oddCloses.set(index, what);
		else outcome.failedIds.push(readLine(batch.opens[index] ?? '')[0]);
	}
	for (const [index, { row, onClosed }] of batch.closes.entries()) {
		const what = oddCloses.get(index) ?? 'closed';
		if (what === 'failed') {
			outcome.failedIds.push(row[0]);
			outcome.failedCloses += 1;
			if (onClosed !== undefined) notify(onClosed, rejection(row[0]));
			continue;
		}
		// A repeated batch may have closed the row in its first attempt.
		const closing = what === 'closed_before' && batch.isRepeat ? 'closed' : what;
		if (closing === 'unknown') outcome.unknownCloses += 1;
		if (closing === 'closed_before') outcome.repeatedCloses += 1;
		if (onClosed !== undefined) notify(onClosed, closing);
	}
	return outcome;
}
