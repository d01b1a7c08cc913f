/** Calls from the main thread to the ledger's threads. Rows are passed as arrays: cloning these costs a third of cloning objects. */
import type { AssessmentPage, AssessmentQuery, Verdict } from '../../contracts/assessments.ts';
import type {
	CostQuery,
	EntryQuery,
	InterruptedEntry,
	LedgerDifference,
	SummaryQuery,
	TeamQuery,
	TeamSnapshot,
	UsageSummary,
} from '../../contracts/ledger.ts';
import type { SpoolPart, SpoolProgress } from '../../contracts/ledger-spool.ts';

/** Money is a number while that is exact. */
export type CompactInteger = number | bigint;

/** Money is text where a number would not be exact. */
export type CompactOpen = readonly [
	id: string,
	startedMs: number,
	team: string,
	clientId: string,
	provider: string,
	model: string,
	dialect: string,
	isStreaming: number,
	priceVersion: string,
	budgets: string,
	endpoint: string,
	attributes: string,
	reservedNanoUsd: number | string,
];

type TokenColumns = readonly [
	inputTokens: number,
	cacheReadTokens: number,
	cacheWriteTokens: number,
	cacheWriteHourTokens: number,
	outputTokens: number,
	reasoningTokens: number,
];

export type CompactClose = readonly [
	id: string,
	endedMs: number,
	outcome: number,
	status: number,
	isEstimated: number,
	...TokenColumns,
	costNanoUsd: CompactInteger,
];

/**
 * Columns as `entry-pages.ts` selects them. Money is text where a number would not be exact. Columns after the outcome are 0 for an open
 * row.
 */
export type CompactEntry = readonly [
	sequence: number,
	...CompactOpen,
	outcome: number | null,
	durationMs: number,
	status: number,
	isEstimated: number,
	...TokenColumns,
	costNanoUsd: number | string,
];

export interface CompactPage {
	readonly rows: readonly CompactEntry[];
	readonly nextCursor: string | null;
}

/** Written in one transaction, opens first. A batch without rows checks that the database is writable. */
export interface WriteBatch {
	/** Each is a `CompactOpen`, formatted by `lineOf`. */
	readonly opens: readonly string[];
	readonly closes: readonly CompactClose[];
}

/** Form in which a batch is passed to the thread. */
export interface PackedBatch {
	readonly opens: string;
	readonly closedIds: string;
	/** For each close the length of its id, then the columns after it. */
	readonly numbers: Float64Array;
	/** Costs that a number cannot represent, in order; `numbers` has NaN in their positions. */
	readonly largeCosts: readonly bigint[];
}

/** A row of a committed batch that did not simply succeed. A `failed` one can never be stored. */
export interface EntryException {
	readonly of: 'opens' | 'closes';
	readonly index: number;
	readonly what: 'closed_before' | 'unknown' | 'failed';
}

export type CompactAssessment = readonly [
	id: string,
	atMs: number,
	team: string,
	stage: number,
	policy: string,
	category: string,
	action: number,
	outcome: number,
	count: number,
];

export interface UnsentAssessments {
	/** Sequence number of the last of them; 0 when there is none. */
	readonly through: number;
	readonly count: number;
	/** JSON array of `Assessment`. */
	readonly assessments: string;
}

export type WriterOperations = {
	/** @throws Error when the file cannot be opened. */
	open(argument: null): null;
	write(batch: PackedBatch): readonly EntryException[];
	closeInterrupted(nowMs: number): readonly InterruptedEntry[];
	/** Deletes a few rows. @returns the number of deleted rows; 0 when there are no more. */
	pruneSome(beforeMs: number): number;
	/** Like `pruneSome`, for rows that were sent from the outbox. */
	pruneSentSome(beforeMs: number): number;
	forget(done: SpoolProgress): null;
	assess(rows: readonly CompactAssessment[]): null;
	forgetAssessments(through: number): null;
	/** Like `pruneSome`, for assessments. */
	pruneAssessments(beforeMs: number): number;
	/** Closes the file. */
	stop(argument: null): null;
};

export type ReaderOperations = {
	open(argument: null): null;
	summarize(query: SummaryQuery): readonly UsageSummary[];
	sumCosts(query: CostQuery): readonly bigint[];
	list(query: EntryQuery): CompactPage;
	readTeam(query: TeamQuery): TeamSnapshot;
	check(argument: null): readonly LedgerDifference[];
	readOutbox(limit: number): SpoolPart;
	listAssessments(query: AssessmentQuery): AssessmentPage;
	verdictsOf(requestIds: readonly string[]): readonly (readonly [id: string, verdict: Verdict])[];
	/** Empty while another process with the same file sends them. */
	readUnsentAssessments(limit: number): UnsentAssessments;
	/** Copies the write-ahead log into the file, while the writer continues to write. */
	checkpoint(argument: null): null;
	/** Closes the file. */
	stop(argument: null): null;
};
