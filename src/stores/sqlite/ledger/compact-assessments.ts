import { type Assessment, assessmentActions, assessmentOutcomes, assessmentStages } from '../../contracts/assessments.ts';
import { integerOf, type Row, textOf } from '../../row.ts';
import type { CompactAssessment } from './ledger-operations.ts';
import { readRequestId } from './packed-request-id.ts';

const maxTeamLength = 256;
/** Clients choose the names of request parts that cannot be parsed. */
const maxNameLength = 128;

export function compactAssessment(assessment: Assessment): CompactAssessment {
	const { requestId, atMs, team, stage, policy, category, action, outcome, count } = assessment;
	return [
		requestId,
		atMs,
		team.slice(0, maxTeamLength),
		assessmentStages.indexOf(stage),
		policy.slice(0, maxNameLength),
		category.slice(0, maxNameLength),
		assessmentActions.indexOf(action),
		assessmentOutcomes.indexOf(outcome),
		count,
	];
}

export function assessmentOf(row: Row): Assessment {
	return {
		requestId: readRequestId(row['id']),
		atMs: integerOf(row, 'at_ms'),
		team: textOf(row, 'team'),
		stage: memberOf(assessmentStages, row, 'stage'),
		policy: textOf(row, 'policy'),
		category: textOf(row, 'category'),
		action: memberOf(assessmentActions, row, 'action'),
		outcome: memberOf(assessmentOutcomes, row, 'outcome'),
		count: integerOf(row, 'count'),
	};
}

function memberOf<Member>(members: readonly Member[], row: Row, column: string): Member {
	const member = members[integerOf(row, column)];
	if (member === undefined) throw new TypeError(`${column} ${String(row[column])} is unknown to this release`);
	return member;
}
