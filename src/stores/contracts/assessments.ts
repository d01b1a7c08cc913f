/**
 * Guardrail findings, and the fact of each evaluation. They never contain the text, and are stored next to the ledger for the same
 * retention.
 */

/** Ordered by severity: the most severe outcome of a request is its verdict. Files store their indexes, so only ever append. */
export const assessmentOutcomes = ['clean', 'masked', 'not_evaluated', 'failed', 'matched'] as const;
export type AssessmentOutcome = (typeof assessmentOutcomes)[number];

export const assessmentStages = ['input', 'output'] as const;
export type AssessmentStage = (typeof assessmentStages)[number];

export const assessmentActions = ['NONE', 'MASK', 'BLOCK'] as const;
export type AssessmentAction = (typeof assessmentActions)[number];

/** One for each policy, category and action of a stage; a repeated one counts once. */
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
	/** Number of findings. */
	readonly count: number;
}

export interface AssessmentTaker {
	/** Never waits and never fails: assessments are dropped and counted when the queue is full. */
	assess(assessments: readonly Assessment[]): void;
}

export interface AssessmentReader {
	/** Newest first. @throws RangeError for a cursor that no page returned. */
	listAssessments(query: AssessmentQuery): Promise<AssessmentPage>;
	/** @returns verdicts by request id, for evaluated requests. At most 1,000 ids. */
	verdictsOf(requestIds: readonly string[]): Promise<ReadonlyMap<string, Verdict>>;
}

export interface AssessmentQuery {
	readonly requestId?: string;
	readonly team?: string;
	readonly stage?: AssessmentStage;
	readonly policy?: string;
	readonly category?: string;
	readonly action?: AssessmentAction;
	/** Default all except `clean`. */
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
	/** True if a response was evaluated. */
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

const maxRows = 1000;

/** Number of rows to read: one more than the page, to detect a following page. */
export function entriesToFind({ limit }: Pick<AssessmentQuery, 'limit'>): number {
	return Math.max(1, Math.min(limit, maxRows)) + 1;
}

/** @param found newest first, as many as `entriesToFind` says. */
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
