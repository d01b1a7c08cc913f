/** What guardrails found in calls, and that they looked. Never the text. Kept beside the ledger, as long as its rows. */

/** By severity: the last one that a call has is its verdict. Their places stand for them in files: only ever append. */
export const assessmentOutcomes = ['clean', 'masked', 'not_evaluated', 'failed', 'matched'] as const;
export type AssessmentOutcome = (typeof assessmentOutcomes)[number];

export const assessmentStages = ['input', 'output'] as const;
export type AssessmentStage = (typeof assessmentStages)[number];

export const assessmentActions = ['NONE', 'MASK', 'BLOCK'] as const;
export type AssessmentAction = (typeof assessmentActions)[number];

/** One for each policy, category and action of a stage; the same one twice counts once. */
export interface Assessment {
	readonly requestId: string;
	/** Unix milliseconds. */
	readonly atMs: number;
	readonly team: string;
	readonly stage: AssessmentStage;
	/** Empty when the stage is clean. */
	readonly policy: string;
	readonly category: string;
	readonly action: AssessmentAction;
	readonly outcome: AssessmentOutcome;
	/** Findings that it stands for. */
	readonly count: number;
}

export interface AssessmentTaker {
	/** Never waits and never fails: what finds no room is dropped, and counted. */
	assess(assessments: readonly Assessment[]): void;
}

export interface AssessmentReader {
	/** Newest first. @throws RangeError for a cursor that no page gave. */
	listAssessments(query: AssessmentQuery): Promise<AssessmentPage>;
	/** @returns by id, of the calls that were looked at. At most 1,000 ids. */
	verdictsOf(requestIds: readonly string[]): Promise<ReadonlyMap<string, Verdict>>;
}

export interface AssessmentQuery {
	readonly requestId?: string;
	readonly team?: string;
	readonly stage?: AssessmentStage;
	readonly policy?: string;
	readonly category?: string;
	readonly action?: AssessmentAction;
	/** All but `clean` unless given. */
	readonly outcome?: AssessmentOutcome;
	/** Unix milliseconds, inclusive. */
	readonly fromMs?: number;
	/** Unix milliseconds, exclusive. */
	readonly toMs?: number;
	/** 1 to 1,000. */
	readonly limit: number;
	/** From an earlier page. */
	readonly cursor?: string;
}

export interface AssessmentPage {
	readonly assessments: readonly Assessment[];
	readonly nextCursor: string | null;
}

export interface Verdict {
	readonly outcome: AssessmentOutcome;
	/** Whether an answer was looked at. */
	readonly hasOutput: boolean;
}

export function verdictOf(found: Iterable<Pick<Assessment, 'stage' | 'outcome'>>): Verdict {
	let worst = 0;
	let hasOutput = false;
	for (const { stage, outcome } of found) {
		worst = Math.max(worst, assessmentOutcomes.indexOf(outcome));
		hasOutput ||= stage === 'output';
	}
	return { outcome: assessmentOutcomes[worst] ?? 'clean', hasOutput };
}

const cursorPattern = /^[1-9]\d{0,15}$/;

/** @throws RangeError */
export function requireAssessmentCursor({ cursor }: Pick<AssessmentQuery, 'cursor'>): void {
	if (cursor !== undefined && !cursorPattern.test(cursor)) throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
}

const mostRows = 1000;

/** Rows to look for: one more than the page has tells whether there is another page. */
export function rowsToFind({ limit }: Pick<AssessmentQuery, 'limit'>): number {
	return Math.max(1, Math.min(limit, mostRows)) + 1;
}

/** @param found newest first, as many as `rowsToFind` says. */
export function assessmentPage(
	found: readonly { readonly sequence: number; readonly assessment: Assessment }[],
	toFind: number,
): AssessmentPage {
	const page = found.slice(0, toFind - 1);
	return {
		assessments: page.map(({ assessment }) => assessment),
		nextCursor: found.length === toFind ? String(page.at(-1)?.sequence) : null,
	};
}
