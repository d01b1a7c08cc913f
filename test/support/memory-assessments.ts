import {
	type Assessment,
	type AssessmentQuery,
	type AssessmentReader,
	type AssessmentTaker,
	assessmentPage,
	entriesToFind,
	requireAssessmentCursor,
	verdictOf,
} from '../../src/stores/contracts/assessments.ts';

export interface MemoryAssessments extends AssessmentTaker, AssessmentReader {
	prune(beforeMs: number): void;
}

export function createMemoryAssessments(): MemoryAssessments {
	let retained: { readonly sequence: number; readonly assessment: Assessment }[] = [];
	let lastSequence = 0;
	return {
		assess(assessments) {
			for (const assessment of assessments) {
				if (retained.some((one) => isSame(one.assessment, assessment))) continue;
				retained.push({ sequence: ++lastSequence, assessment: { ...assessment } });
			}
		},
		async listAssessments(query) {
			requireAssessmentCursor(query);
			const toFind = entriesToFind(query);
			const before = Number(query.cursor ?? Number.POSITIVE_INFINITY);
			const found = retained.toReversed().filter(({ sequence, assessment }) => sequence < before && isWanted(assessment, query));
			return assessmentPage(found.slice(0, toFind), toFind);
		},
		async verdictsOf(requestIds) {
			const wanted = new Set(requestIds);
			const found = retained.map(({ assessment }) => assessment).filter(({ requestId }) => wanted.has(requestId));
			return new Map([...Map.groupBy(found, ({ requestId }) => requestId)].map(([id, some]) => [id, verdictOf(some)]));
		},
		prune(beforeMs) {
			retained = retained.filter(({ assessment }) => assessment.atMs >= beforeMs);
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
