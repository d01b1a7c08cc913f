/** The record of every call that was admitted. A row is opened before the provider is called and closed exactly once. */
import type { Fault } from '../../core/fault.ts';
import type { Usage } from '../../core/usage.ts';
import type { AssessmentReader, AssessmentTaker } from './assessments.ts';

export interface Ledger extends LedgerReader, AssessmentTaker {
	/**
	 * Answers when the row would survive the death of the process, at the latest before anything leaves that is written to a socket in
	 * this turn of the event loop. A row that is open already moves: it takes the provider, model, price and hold given, and counts there;
	 * all else of it stays. One that is closed stays as it is.
	 * @returns a promise that rejects with Fault `records_unavailable` when that cannot be promised now; the call will not be charged for
	 * the row then.
	 */
	open(row: OpenRow): OpenedRow | Promise<OpenedRow>;
	/**
	 * Closes a row; the first one counts. The close survives the death of the process before anything leaves that is written to a socket
	 * in this turn of the event loop, while the ledger can be written.
	 * @param told when reports have it, or with Fault `records_unavailable` when the ledger cannot be written now; the row is closed once
	 * it can, while the process lives. A callback, since each call has one; may come at once, must not throw.
	 * @throws RangeError when the row cannot be stored.
	 */
	close(row: ClosedRow, told: CloseListener): void;
	/**
	 * Closes the rows that dead processes left open as interrupted, charged their hold. For the start, before the first `open`;
	 * harmless at any time, since rows of living processes are left alone.
	 */
	closeInterrupted(): Promise<readonly InterruptedRow[]>;
	/**
	 * Deletes closed rows of hours that ended before then, a few at a time, those too that were taken just before, and assessments of
	 * that time. Sums stay.
	 * @returns how many rows.
	 */
	prune(beforeMs: number): Promise<number>;
	health(): LedgerHealth;
}

/** The part of the ledger that a process may use which serves no calls. */
export interface LedgerReader extends AssessmentReader {
	/** Sums over UTC days or months, by team, client, provider and model, ordered by their names; reads no raw rows. */
	summarize(query: SummaryQuery): Promise<readonly SummaryRow[]>;
	/** What closed calls cost, of each in the order asked; reads no raw rows. */
	sumCosts(query: CostQuery): Promise<readonly bigint[]>;
	/** Raw rows, newest first. @throws RangeError for a cursor that no page gave. */
	list(query: RowQuery): Promise<RowPage>;
	/** Sums and requests of one team, read in one snapshot: a request that ends meanwhile is in both as ended, or in both as open. */
	readTeam(query: TeamQuery): Promise<TeamSnapshot>;
	/** Compares rows with sums, and sums with each other. @returns each difference; empty when all is well. */
	check(): Promise<readonly LedgerDifference[]>;
	/** Writes what waits, then frees everything. */
	end(): Promise<void>;
}

export interface OpenRow {
	readonly id: string;
	/** Unix milliseconds of admission. The call counts in the hour, day and month of this moment, whenever it ends. */
	readonly startedMs: number;
	/** Team, client, provider, model, dialect and price version are kept up to their first 256 characters. */
	readonly team: string;
	readonly clientId: string;
	readonly provider: string;
	readonly model: string;
	/** That the client speaks, such as `chat`. Any text, for another release may have written the row: one that is not known is no error. */
	readonly dialect: string;
	readonly isStreamed: boolean;
	readonly priceVersion: string;
	/** What the call is charged if it is never closed. */
	readonly holdNanoUsd: bigint;
	/** Budgets that the call holds on, for rebuilding counters. */
	readonly budgets: readonly string[];
}

/** To be looked at when the call begins to leave, and closed by whoever opened it, in either case. */
export interface OpenedRow {
	/** `records_unavailable`: the row would not survive after all. */
	readonly failure: Fault | undefined;
}

/** How a call ended. */
export const callOutcomes = ['complete', 'client_closed', 'upstream_error', 'broken', 'interrupted', 'not_sent'] as const;
export type CallOutcome = (typeof callOutcomes)[number];

export interface ClosedRow {
	readonly id: string;
	readonly endedMs: number;
	readonly outcome: CallOutcome;
	/** Status that the caller got; 0 when the call was interrupted. */
	readonly status: number;
	readonly usage: Usage;
	readonly costNanoUsd: bigint;
	/** True when usage was counted from what was seen instead of told by the provider. */
	readonly isEstimated: boolean;
}

/** What became of a `close`: the last two changed nothing. */
export type CloseListener = (outcome: Closing | Fault) => void;

export type Closing = 'closed' | 'closed_before' | 'unknown';

export interface InterruptedRow {
	readonly id: string;
	readonly team: string;
	readonly startedMs: number;
	readonly budgets: readonly string[];
	readonly costNanoUsd: bigint;
}

export interface SummaryQuery {
	/** Unix milliseconds, inclusive; the hour that it lies in counts whole. */
	readonly fromMs: number;
	/** Unix milliseconds, exclusive; the hour that it lies in counts whole. */
	readonly toMs: number;
	/** `all`: the whole span together. */
	readonly period: 'day' | 'month' | 'all';
	/** All unless given. */
	readonly team?: string;
	/** What tells sums apart, beside the period: names of what is left out are empty. All four unless given. */
	readonly by?: readonly SummaryName[];
	/** At most so many rows. All unless given. */
	readonly limit?: number;
	/** Of the row after which to go on. */
	readonly after?: SummaryKey;
}

export interface SummaryKey {
	/** UTC day such as `2026-11-21`, or month such as `2026-11`; empty for the whole span. */
	readonly period: string;
	readonly team: string;
	readonly clientId: string;
	readonly provider: string;
	readonly model: string;
}

export const summaryNames = ['team', 'clientId', 'provider', 'model'] as const;

export type SummaryName = (typeof summaryNames)[number];

export interface SummaryRow extends SummaryKey {
	/** Calls admitted, those that still run included. */
	readonly requests: number;
	/** Of closed calls. */
	readonly usage: Usage;
	readonly costNanoUsd: bigint;
	/** The part of `costNanoUsd` of calls whose usage was estimated. */
	readonly estimatedCostNanoUsd: bigint;
}

export interface CostQuery {
	/** Unix milliseconds of the start of a UTC day, inclusive. */
	readonly fromMs: number;
	/** Unix milliseconds of the start of a UTC day, exclusive. */
	readonly toMs: number;
	readonly of: readonly { readonly team: string /** Null: all models. */; readonly model: string | null }[];
}

export interface TeamQuery {
	readonly team: string;
	/** Each summed up by itself. */
	readonly spans: readonly Pick<SummaryQuery, 'fromMs' | 'toMs' | 'period'>[];
	/** Undefined: sums alone. */
	readonly requests?: {
		/** Of those that ended, those that ended since then, unix milliseconds. */
		readonly endedSinceMs: number;
		/** Of those that ended, those that started since then: bounds what is looked through. */
		readonly startedSinceMs: number;
	};
}

export interface TeamSnapshot {
	/** In the order of the spans. */
	readonly sums: readonly (readonly SummaryRow[])[];
	readonly openRequests: readonly OpenRequest[];
	readonly endedIds: readonly string[];
}

export type OpenRequest = Pick<OpenRow, 'id' | 'startedMs' | 'isStreamed' | 'budgets' | 'holdNanoUsd'>;

export interface RowQuery {
	readonly team?: string;
	readonly clientId?: string;
	readonly provider?: string;
	readonly model?: string;
	readonly outcome?: CallOutcome;
	/** 1 to 1,000. */
	readonly limit: number;
	/** From an earlier page. Rows that were opened since are not on later pages, and move nothing. */
	readonly cursor?: string;
}

/** Of one page with filters beside `team`; it then has fewer rows than `limit`, even none, and `nextCursor` leads on. */
export const mostRowsLookedThrough = 4000;

export interface RowPage {
	readonly rows: readonly LedgerRow[];
	readonly nextCursor: string | null;
}

export interface LedgerRow extends OpenRow {
	/** Undefined while the call runs. */
	readonly closed: Omit<ClosedRow, 'id'> | undefined;
}

export interface LedgerDifference {
	/** Such as `2026-11-21T14 team red: requests`. */
	readonly what: string;
	/** From the rows. */
	readonly expected: string;
	/** In the sums. */
	readonly found: string;
}

export interface LedgerHealth {
	/** False from a failed write to the next that succeeds; `open` rejects at once then. */
	readonly isWritable: boolean;
	/** Rows that wait to be written. */
	readonly queuedRows: number;
	/** Since the start: closes of rows that were never opened, and of closed ones. Each is a defect of the caller. */
	readonly unknownCloses: number;
	readonly repeatedCloses: number;
	/** Since the start: rows whose `open` or `close` was rejected. */
	readonly rejectedRows: number;
	/** Since the start: closes that will never be written, because the process ended first or nobody could store them. */
	readonly lostCloses: number;
	/** Since the start: assessments that found no room to wait in, or could not be written in the end. */
	readonly droppedAssessments: number;
}
