import {
	type Assessment,
	type AssessmentQuery,
	type AssessmentReader,
	type AssessmentTaker,
	assessmentPage,
	requireAssessmentCursor,
	rowsToFind,
	verdictOf,
} from '../../src/stores/contracts/assessments.ts';

export interface MemoryAssessments extends AssessmentTaker, AssessmentReader {
	prune(beforeMs: number): void;
}

export function createMemoryAssessments(): MemoryAssessments {
	let kept: { readonly sequence: number; readonly assessment: Assessment }[] = [];
	let lastSequence = 0;
	return {
		assess(assessments) {
			for (const assessment of assessments) {
				if (kept.some((one) => isSame(one.assessment, assessment))) continue;
				kept.push({ sequence: ++lastSequence, assessment: { ...assessment } });
			}
		},
		async listAssessments(query) {
			requireAssessmentCursor(query);
			const toFind = rowsToFind(query);
			const before = Number(query.cursor ?? Number.POSITIVE_INFINITY);
			const found = kept.toReversed().filter(({ sequence, assessment }) => sequence < before && isWanted(assessment, query));
			return assessmentPage(found.slice(0, toFind), toFind);
		},
		async verdictsOf(requestIds) {
			const wanted = new Set(requestIds);
			const found = kept.map(({ assessment }) => assessment).filter(({ requestId }) => wanted.has(requestId));
			return new Map([...Map.groupBy(found, ({ requestId }) => requestId)].map(([id, some]) => [id, verdictOf(some)]));
		},
		prune(beforeMs) {
			kept = kept.filter(({ assessment }) => assessment.atMs >= beforeMs);
		},
	};
}

function isSame(one: Assessment, other: Assessment): boolean {
	return (['requestId', 'stage', 'policy', 'category', 'action'] as const).every((name) => one[name] === other[name]);
}

function isWanted(assessment: Assessment, { fromMs = 0, toMs = Number.POSITIVE_INFINITY, outcome, ...query }: AssessmentQuery): boolean {
	if (assessment.atMs < fromMs || assessment.atMs >= toMs) return false;
	if (outcome === undefined ? assessment.outcome === 'clean' : assessment.outcome !== outcome) return false;
	const names = ['requestId', 'team', 'stage', 'policy', 'category', 'action'] as const;
	return names.every((name) => query[name] === undefined || query[name] === assessment[name]);
}
