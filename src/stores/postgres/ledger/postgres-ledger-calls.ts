/** What the main thread asks of the thread that talks to PostgreSQL. */
import type { AssessmentPage, AssessmentQuery, Verdict } from '../../contracts/assessments.ts';
import type {
	CostQuery,
	LedgerDifference,
	RowPage,
	RowQuery,
	SummaryQuery,
	SummaryRow,
	TeamQuery,
	TeamSnapshot,
} from '../../contracts/ledger.ts';

export type PostgresLedgerCalls = {
	/** Does not connect. @returns the server's address, without credentials. @throws StoreUnusable for a URL that is none. */
	open(argument: null): string;
	/** @param rows JSON array of `SpooledRow`; an empty one finds out whether the server answers. @returns those that can never be stored; the others are committed. */
	send(rows: string): Promise<readonly { id: string; why: string }[]>;
	/** @param assessments JSON array of `Assessment`. */
	sendAssessments(assessments: string): Promise<null>;
	listAssessments(query: AssessmentQuery): Promise<AssessmentPage>;
	verdictsOf(requestIds: readonly string[]): Promise<readonly (readonly [id: string, verdict: Verdict])[]>;
	summarize(query: SummaryQuery): Promise<readonly SummaryRow[]>;
	sumCosts(query: CostQuery): Promise<readonly bigint[]>;
	list(query: RowQuery): Promise<RowPage>;
	readTeam(query: TeamQuery): Promise<TeamSnapshot>;
	check(argument: null): Promise<readonly LedgerDifference[]>;
	prune(beforeMs: number): Promise<number>;
	/** Makes partitions ahead, closes lost rows, and drops days before then; null keeps them. @returns how many rows were lost. */
	upkeep(argument: { readonly nowMs: number; readonly retainDays: number | null }): Promise<number>;
	stop(argument: null): Promise<null>;
};
