import type { Fault } from '../../../core/fault.ts';
import type { CloseListener } from '../../contracts/ledger.ts';
import { readLine } from './compact-rows.ts';
import type { CompactClose, RowException } from './ledger-calls.ts';

export interface PendingClose {
	readonly row: CompactClose;
	/** What the journal made of its line. */
	readonly line: { readonly failure: Fault | undefined };
	/** Undefined once its caller was refused. */
	readonly told: CloseListener | undefined;
}

/** Rows under way to the database, and who waits for them. */
export interface Batch {
	/** Lines of the journal. */
	readonly opens: readonly string[];
	readonly closes: readonly PendingClose[];
	readonly sentMs: number;
	/** Sent a second time, after the thread died. */
	readonly isRepeat: boolean;
	/** Finds out whether a database that failed can be written. */
	readonly isProbe: boolean;
}

export interface BatchOutcome {
	unknownCloses: number;
	repeatedCloses: number;
	/** Of rows that can never be stored. */
	readonly failedIds: string[];
	failedCloses: number;
}

export interface SettlePorts {
	/** For a row that cannot be stored. */
	refusal(id: string): Fault;
	/** Must not throw: the queue goes on after it. */
	tell: (listener: CloseListener, outcome: Parameters<CloseListener>[0]) => void;
}

/** Tells each listener of a committed batch what became of the row. */
export function settleBatch(batch: Batch, exceptions: readonly RowException[], { refusal, tell }: SettlePorts): BatchOutcome {
	const outcome: BatchOutcome = { unknownCloses: 0, repeatedCloses: 0, failedIds: [], failedCloses: 0 };
	const oddCloses = new Map<number, RowException['what']>();
	for (const { of, index, what } of exceptions) {
		if (of === 'closes') oddCloses.set(index, what);
		else outcome.failedIds.push(readLine(batch.opens[index] ?? '')[0]);
	}
	for (const [index, { row, told }] of batch.closes.entries()) {
		const what = oddCloses.get(index) ?? 'closed';
		if (what === 'failed') {
			outcome.failedIds.push(row[0]);
			outcome.failedCloses += 1;
			if (told !== undefined) tell(told, refusal(row[0]));
			continue;
		}
		// What a repeated batch finds closed, its first sending may have closed.
		const closing = what === 'closed_before' && batch.isRepeat ? 'closed' : what;
		if (closing === 'unknown') outcome.unknownCloses += 1;
		if (closing === 'closed_before') outcome.repeatedCloses += 1;
		if (told !== undefined) tell(told, closing);
	}
	return outcome;
}
