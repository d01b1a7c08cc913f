/** Calls from the main thread to the thread that owns the PostgreSQL connections. */
import type { AssessmentPage, AssessmentQuery, Verdict } from '../../contracts/assessments.ts';
import type {
	CostQuery,
	EntryPage,
	EntryQuery,
	LedgerDifference,
	SummaryQuery,
	TeamQuery,
	TeamSnapshot,
	UsageSummary,
} from '../../contracts/ledger.ts';

export type PostgresLedgerOperations = {
	/** Does not connect. @returns the server's address, without credentials. @throws StoreUnusable for an invalid URL. */
	open(argument: null): string;
	/**
	 * @param rows JSON array of `SpooledEntry`; an empty one checks that the server responds. @returns those that can never be stored; the
	 * others are committed.
	 */
	send(rows: string): Promise<readonly { id: string; why: string }[]>;
	/** @param assessments JSON array of `Assessment`. */
	sendAssessments(assessments: string): Promise<null>;
	listAssessments(query: AssessmentQuery): Promise<AssessmentPage>;
	verdictsOf(requestIds: readonly string[]): Promise<readonly (readonly [id: string, verdict: Verdict])[]>;
	summarize(query: SummaryQuery): Promise<readonly UsageSummary[]>;
	sumCosts(query: CostQuery): Promise<readonly bigint[]>;
	list(query: EntryQuery): Promise<EntryPage>;
	readTeam(query: TeamQuery): Promise<TeamSnapshot>;
	check(argument: null): Promise<readonly LedgerDifference[]>;
	prune(beforeMs: number): Promise<number>;
	/** Creates partitions ahead, closes lost rows, and drops days before then; null keeps them. @returns the number of lost rows. */
	upkeep(argument: { readonly nowMs: number; readonly retainDays: number | null }): Promise<number>;
	stop(argument: null): Promise<null>;
};
