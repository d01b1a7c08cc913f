import type { DatabaseSync } from 'node:sqlite';
import {
	type AssessmentPage,
	type AssessmentQuery,
	assessmentActions,
	assessmentOutcomes,
	assessmentPage,
	assessmentStages,
	requireAssessmentCursor,
	rowsToFind,
	type Verdict,
	verdictOf,
} from '../../contracts/assessments.ts';
import { integerOf } from '../database.ts';
import { assessmentOf } from './compact-assessments.ts';
import type { UnsentAssessments } from './ledger-calls.ts';
import { packCallId } from './packed-call-id.ts';

export interface AssessmentReading {
	listAssessments(query: AssessmentQuery): AssessmentPage;
	/** As entries, which pass from thread to thread. */
	verdictsOf(requestIds: readonly string[]): readonly (readonly [id: string, verdict: Verdict])[];
	/** The oldest ones. */
	readUnsent(limit: number): UnsentAssessments;
}

type Condition = readonly [sql: string, value: string | number | Uint8Array];

export function createAssessmentReading(database: DatabaseSync): AssessmentReading {
	const ofCall = database.prepare('SELECT * FROM assessments WHERE id = ?');
	const oldest = database.prepare('SELECT * FROM assessments ORDER BY sequence LIMIT ?');
	return {
		listAssessments(query) {
			requireAssessmentCursor(query);
			const toFind = rowsToFind(query);
			const conditions = conditionsOf(query);
			const found = database
				.prepare(`SELECT * FROM assessments WHERE ${conditions.map(([sql]) => sql).join(' AND ')} ORDER BY sequence DESC LIMIT ?`)
				.all(...conditions.map(([, value]) => value), toFind);
			return assessmentPage(
				found.map((row) => ({ sequence: integerOf(row, 'sequence'), assessment: assessmentOf(row) })),
				toFind,
			);
		},
		verdictsOf: (requestIds) =>
			requestIds.flatMap((id) => {
				const found = ofCall.all(packCallId(id));
				return found.length === 0 ? [] : [[id, verdictOf(found.map(assessmentOf))] as const];
			}),
		readUnsent(limit) {
			const rows = oldest.all(limit);
			const last = rows.at(-1);
			return {
				through: last === undefined ? 0 : integerOf(last, 'sequence'),
				count: rows.length,
				assessments: JSON.stringify(rows.map(assessmentOf)),
			};
		},
	};
}

function conditionsOf({ requestId, team, stage, policy, category, action, outcome, fromMs, toMs, cursor }: AssessmentQuery): Condition[] {
	const conditions: Condition[] = [['sequence < ?', cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor)]];
	const add = (sql: string, value: Condition[1] | undefined): void => void (value !== undefined && conditions.push([sql, value]));
	add('outcome = ?', outcome && assessmentOutcomes.indexOf(outcome));
	// To the letter what the partial indexes say.
	if (outcome !== 'clean') add('outcome <> 0 AND true = ?', 1);
	add('id = ?', requestId === undefined ? undefined : packCallId(requestId));
	add('team = ?', team);
	add('stage = ?', stage && assessmentStages.indexOf(stage));
	add('policy = ?', policy);
	add('category = ?', category);
	add('action = ?', action && assessmentActions.indexOf(action));
	add('at_ms >= ?', fromMs);
	add('at_ms < ?', toMs);
	return conditions;
}
