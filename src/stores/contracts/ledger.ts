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
	/** Returns sums over UTC hours, days or months by chosen dimensions, ordered by their names; reads no single entries. */
	summarize(query: SummaryQuery): Promise<readonly UsageSummary[]>;
	/** Returns the cost of closed requests, in the order of the query; reads no entries, except those that are summed as other attributes. */
	sumCosts(query: CostQuery): Promise<readonly bigint[]>;
	/** Lists entries, newest first. @throws RangeError for a cursor that no page returned. */
	list(query: EntryQuery): Promise<EntryPage>;
	/** Reads sums and requests of one team in one snapshot: a request that ends meanwhile is either ended in both or open in both. */
	readTeam(query: TeamQuery): Promise<TeamSnapshot>;
	/** Compares entries with sums by hour, team, endpoint and attributes, and hourly with daily sums. @returns each difference. */
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
	/** Path that the client requested, such as `/v1/messages`; empty for entries of earlier releases. */
	readonly endpoint: string;
	/** JSON object of names to texts as `attributesText` writes it; empty for none. */
	readonly attributes: string;
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
	readonly clientId: string;
	readonly provider: string;
	readonly model: string;
	readonly dialect: string;
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
	readonly period: 'hour' | 'day' | 'month' | 'all';
	/** Default all teams. */
	readonly team?: string;
	/** Dimensions of a sum in addition to the period; names of omitted ones are empty. Default team, client, provider and model. */
	readonly by?: readonly SummaryName[];
	/** Attributes by which `attributes` distinguishes sums, of the form `attributeName`. Default all. */
	readonly attributeNames?: readonly string[];
	/** Maximum number of rows. Default all. */
	readonly limit?: number;
	/** Key of the row after which the next page begins. */
	readonly after?: SummaryKey;
}

export interface SummaryKey {
	/** UTC hour such as `2026-11-21T14`, day such as `2026-11-21`, or month such as `2026-11`; empty for the whole span. */
	readonly period: string;
	readonly team: string;
	readonly clientId: string;
	readonly provider: string;
	readonly model: string;
	readonly endpoint: string;
	/** Like those of an entry, or `otherAttributes`. */
	readonly attributes: string;
}

/** In the order of `summarize`. */
export const summaryNames = ['team', 'clientId', 'provider', 'model', 'endpoint', 'attributes'] as const;

export type SummaryName = (typeof summaryNames)[number];

export const defaultSummaryNames: readonly SummaryName[] = ['team', 'clientId', 'provider', 'model'];

/** Maximum number of distinct attributes in the sums of a team and UTC day, because clients choose the values. */
export const maxAttributesPerDay = 10_000;

/** Attributes of sums beyond this maximum, whose entries keep their own. No object, so that it is no client's attributes. */
export const otherAttributes = '"other"';

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
	/** Unix milliseconds, inclusive; its whole hour counts. */
	readonly fromMs: number;
	/** Unix milliseconds, exclusive; its whole hour counts. */
	readonly toMs: number;
	readonly of: readonly CostScope[];
}

/** Requests of a team that a cost is the sum of: those that match each of the others that is not null. */
export interface CostScope {
	readonly team: string;
	readonly model: string | null;
	readonly clientId?: string | null;
	readonly provider?: string | null;
	readonly attribute?: { readonly name: string; readonly value: string } | null;
}

export interface TeamQuery {
	readonly team: string;
	/** Each span has its own sums. */
	readonly spans: readonly Pick<SummaryQuery, 'fromMs' | 'toMs' | 'period'>[];
	/** Costs to read in the same snapshot. Default none. */
	readonly costs?: readonly CostQuery[];
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
	/** In the order of the costs. */
	readonly costs: readonly (readonly bigint[])[];
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
	/** Such as `2026-11-21T14 team red endpoint /v1/messages: requests`. */
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
