/** Ledger of every admitted request. An entry is opened before the provider is called and closed exactly once. */
import type { UpstreamError } from '../../core/upstream-error.ts';
import type { Usage } from '../../core/usage.ts';
import type { AssessmentReader, AssessmentTaker } from './assessments.ts';

export interface Ledger extends LedgerReader, AssessmentTaker {
	/**
	 * Opens an entry. It survives the death of the process before any data leaves that is written to a socket in this turn of the event loop.
	 * An open entry moves to the provider, model, price and reservation given; its other fields stay. A closed entry stays unchanged.
	 * @returns a promise that rejects with `records_unavailable` if this cannot be guaranteed now; the request is not charged for the
	 * entry then.
	 */
	open(row: OpenEntry): OpenedEntry | Promise<OpenedEntry>;
	/**
	 * Closes an entry; the first close wins. While the ledger is writable, the close has the same durability as an `open`: it survives the
	 * death of the process before any data leaves. Calls `onClosed` when reports include the entry, or with `records_unavailable` when the
	 * ledger is not writable now. The entry is then closed once it is writable, while the process lives. `onClosed` is a callback, because every
	 * request has one; it may run at once and must not throw.
	 * @throws RangeError when the entry cannot be stored.
	 */
	close(row: ClosedEntry, onClosed: CloseListener): void;
	/**
	 * Closes entries that dead processes left open as interrupted, charged their reservation. Meant for the start, before the first `open`;
	 * safe at any time, because entries of live processes are skipped.
	 */
	closeInterrupted(): Promise<readonly InterruptedEntry[]>;
	/**
	 * Deletes closed entries of hours that ended before then, a few at a time, including those taken just before, and assessments of that
	 * time. Sums stay.
	 * @returns the number of deleted entries.
	 */
	prune(beforeMs: number): Promise<number>;
	health(): LedgerHealth;
}

/** The part of the ledger for processes that serve no requests. */
export interface LedgerReader extends AssessmentReader {
	/** Returns sums over UTC days or months, by team, client, provider and model, ordered by their names; reads no single entries. */
	summarize(query: SummaryQuery): Promise<readonly UsageSummary[]>;
	/** Returns the cost of closed requests, in the order of the query; reads no single entries. */
	sumCosts(query: CostQuery): Promise<readonly bigint[]>;
	/** Lists entries, newest first. @throws RangeError for a cursor that no page returned. */
	list(query: EntryQuery): Promise<EntryPage>;
	/** Reads sums and requests of one team in one snapshot: a request that ends meanwhile is either ended in both or open in both. */
	readTeam(query: TeamQuery): Promise<TeamSnapshot>;
	/** Compares entries with sums, and hourly with daily sums. @returns each difference; empty if there is none. */
	check(): Promise<readonly LedgerDifference[]>;
	/** Writes what is queued, then frees all resources. */
	end(): Promise<void>;
}

export interface OpenEntry {
	readonly id: string;
	/** Unix milliseconds of admission. The request counts in the hour, day and month of this moment, whenever it ends. */
	readonly startedMs: number;
	/** Team, client, provider, model, dialect and price version are stored up to their first 256 characters. */
	readonly team: string;
	readonly clientId: string;
	readonly provider: string;
	readonly model: string;
	/** Dialect of the client, such as `chat`. Any text is valid, because another release may have written the entry. */
	readonly dialect: string;
	readonly isStreaming: boolean;
	readonly priceVersion: string;
	/** Charge for the request if it is never closed. */
	readonly reservedNanoUsd: bigint;
	/** Budgets with a reservation of the request, for rebuilding counters. */
	readonly budgets: readonly string[];
}

/** Result of `open`. The caller checks `failure` when it begins to send the request, and closes the entry in either case. */
export interface OpenedEntry {
	/** `records_unavailable`: the entry would not survive after all. */
	readonly failure: UpstreamError | undefined;
}

export const requestOutcomes = ['complete', 'client_closed', 'upstream_error', 'broken', 'interrupted', 'not_sent'] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

export interface ClosedEntry {
	readonly id: string;
	readonly endedMs: number;
	readonly outcome: RequestOutcome;
	/** Status sent to the client; 0 when the request was interrupted. */
	readonly status: number;
	readonly usage: Usage;
	readonly costNanoUsd: bigint;
	/** True when usage is estimated from the content instead of reported by the provider. */
	readonly isEstimated: boolean;
}

/** Result of a `close`: the last two changed nothing. */
export type CloseListener = (outcome: Closing | UpstreamError) => void;

export type Closing = 'closed' | 'closed_before' | 'unknown';

export interface InterruptedEntry {
	readonly id: string;
	readonly team: string;
	readonly startedMs: number;
	readonly budgets: readonly string[];
	readonly costNanoUsd: bigint;
}

export interface SummaryQuery {
	/** Unix milliseconds, inclusive; its whole hour counts. */
	readonly fromMs: number;
	/** Unix milliseconds, exclusive; its whole hour counts. */
	readonly toMs: number;
	/** `all`: one sum over the whole span. */
	readonly period: 'day' | 'month' | 'all';
	/** Default all teams. */
	readonly team?: string;
	/** Dimensions of a sum in addition to the period; names of omitted ones are empty. Default all four. */
	readonly by?: readonly SummaryName[];
	/** Maximum number of rows. Default all. */
	readonly limit?: number;
	/** Key of the row after which the next page begins. */
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

export interface UsageSummary extends SummaryKey {
	/** Admitted requests, including those in flight. */
	readonly requests: number;
	/** Usage of closed requests. */
	readonly usage: Usage;
	readonly costNanoUsd: bigint;
	/** The part of `costNanoUsd` from requests with estimated usage. */
	readonly estimatedCostNanoUsd: bigint;
}

export interface CostQuery {
	/** Unix milliseconds of the start of a UTC day, inclusive. */
	readonly fromMs: number;
	/** Unix milliseconds of the start of a UTC day, exclusive. */
	readonly toMs: number;
	readonly of: readonly { readonly team: string /** Null means all models. */; readonly model: string | null }[];
}

export interface TeamQuery {
	readonly team: string;
	/** Each span has its own sums. */
	readonly spans: readonly Pick<SummaryQuery, 'fromMs' | 'toMs' | 'period'>[];
	/** Undefined if only sums are read. */
	readonly requests?: {
		/** Lower bound for the end of ended requests, unix milliseconds. */
		readonly endedSinceMs: number;
		/** Lower bound for the start of ended requests, unix milliseconds: limits the number of rows scanned. */
		readonly startedSinceMs: number;
	};
}

export interface TeamSnapshot {
	/** In the order of the spans. */
	readonly sums: readonly (readonly UsageSummary[])[];
	readonly openRequests: readonly OpenRequest[];
	readonly endedIds: readonly string[];
}

export type OpenRequest = Pick<OpenEntry, 'id' | 'startedMs' | 'isStreaming' | 'budgets' | 'reservedNanoUsd'>;

export interface EntryQuery {
	readonly team?: string;
	readonly clientId?: string;
	readonly provider?: string;
	readonly model?: string;
	readonly outcome?: RequestOutcome;
	/** 1 to 1,000. */
	readonly limit: number;
	/** From an earlier page. Entries opened since then appear on no later page and shift nothing. */
	readonly cursor?: string;
}

/**
 * Number of rows scanned for one page with filters in addition to `team`. The page then has fewer entries than `limit`, possibly none, and
 * `nextCursor` continues.
 */
export const maxEntriesScanned = 4000;

export interface EntryPage {
	readonly rows: readonly LedgerEntry[];
	readonly nextCursor: string | null;
}

export interface LedgerEntry extends OpenEntry {
	/** Undefined while the request is in flight. */
	readonly closed: Omit<ClosedEntry, 'id'> | undefined;
}

export interface LedgerDifference {
	/** Such as `2026-11-21T14 team red: requests`. */
	readonly what: string;
	/** Value computed from the entries. */
	readonly expected: string;
	/** Value in the sums. */
	readonly found: string;
}

export interface LedgerHealth {
	/** False from a failed write to the next successful one; meanwhile `open` rejects at once. */
	readonly isWritable: boolean;
	/** Entries that wait to be written. */
	readonly queuedEntries: number;
	/** Since the start: closes of entries that were never opened, and of closed ones. Each is an internal error of the caller. */
	readonly unknownCloses: number;
	readonly repeatedCloses: number;
	/** Since the start: entries whose `open` or `close` was rejected. */
	readonly rejectedEntries: number;
	/** Since the start: closes that will never be written, because the process ended first or they cannot be stored. */
	readonly lostCloses: number;
	/** Since the start: assessments that were dropped because the queue was full or writing failed. */
	readonly droppedAssessments: number;
}
