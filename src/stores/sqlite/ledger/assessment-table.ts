import type { DatabaseSync } from 'node:sqlite';
import {
	type AssessmentPage,
	type AssessmentQuery,
	assessmentActions,
	assessmentOutcomes,
	assessmentPage,
	assessmentStages,
	entriesToFind,
	requireAssessmentCursor,
	type Verdict,
	verdictOf,
} from '../../contracts/assessments.ts';
import { integerOf } from '../../row.ts';
import { createTransaction } from '../database.ts';
import { assessmentOf } from './compact-assessments.ts';
import type { CompactAssessment, UnsentAssessments } from './ledger-operations.ts';
import { packRequestId } from './packed-request-id.ts';

interface AssessmentWriting {
	/** Adds assessments; existing ones stay. */
	assess(rows: readonly CompactAssessment[]): void;
	/** Deletes assessments that were sent. */
	forgetThrough(sequence: number): void;
	/** @returns the number of deleted rows; 0 when there are no more. */
	pruneSome(beforeMs: number): number;
}

/** A few milliseconds of work. */
const entriesPerPruning = 1000;

export function createAssessmentWriting(database: DatabaseSync): AssessmentWriting {
	const transaction = createTransaction(database);
	const insert = database.prepare(`
		INSERT INTO assessments (id, at_ms, team, stage, policy, category, action, outcome, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`);
	const forget = database.prepare('DELETE FROM assessments WHERE sequence <= ?');
	const prune = database.prepare(`
		DELETE FROM assessments WHERE sequence IN (SELECT sequence FROM assessments ORDER BY sequence LIMIT ${entriesPerPruning}) AND at_ms < ?`);
	return {
		assess: (rows) =>
			transaction(() => {
				for (const [id, ...rest] of rows) insert.run(packRequestId(id), ...rest);
			}),
		forgetThrough: (sequence) => void transaction(() => forget.run(sequence)),
		pruneSome: (beforeMs) => transaction(() => Number(prune.run(beforeMs).changes)),
	};
}

export interface AssessmentReading {
	listAssessments(query: AssessmentQuery): AssessmentPage;
	/** Returns entries, because these can be passed between threads. */
	verdictsOf(requestIds: readonly string[]): readonly (readonly [id: string, verdict: Verdict])[];
	/** Reads the oldest ones. */
	readUnsent(limit: number): UnsentAssessments;
}

type Value = string | number | Uint8Array;

export function createAssessmentReading(database: DatabaseSync): AssessmentReading {
	const ofCall = database.prepare('SELECT * FROM assessments WHERE id = ?');
	const oldest = database.prepare('SELECT * FROM assessments ORDER BY sequence LIMIT ?');
	return {
		listAssessments(query) {
			requireAssessmentCursor(query);
			const toFind = entriesToFind(query);
			const { sql, values } = conditionsOf(query);
			const found = database.prepare(`SELECT * FROM assessments WHERE ${sql} ORDER BY sequence DESC LIMIT ?`).all(...values, toFind);
			return assessmentPage(
				found.map((row) => ({ sequence: integerOf(row, 'sequence'), assessment: assessmentOf(row) })),
				toFind,
			);
		},
		verdictsOf: (requestIds) =>
			requestIds.flatMap((id) => {
				const found = ofCall.all(packRequestId(id));
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

function conditionsOf(query: AssessmentQuery): { readonly sql: string; readonly values: readonly Value[] } {
	const { requestId, team, stage, policy, category, action, outcome, fromMs, toMs, cursor } = query;
	const conditions: readonly (readonly [sql: string, value: Value | undefined])[] = [
		['sequence < ?', cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor)],
		['outcome = ?', outcome && assessmentOutcomes.indexOf(outcome)],
		['id = ?', requestId === undefined ? undefined : packRequestId(requestId)],
		['team = ?', team],
		['stage = ?', stage && assessmentStages.indexOf(stage)],
		['policy = ?', policy],
		['category = ?', category],
		['action = ?', action && assessmentActions.indexOf(action)],
		['at_ms >= ?', fromMs],
		['at_ms < ?', toMs],
	];
	const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
	// The exact predicate of the partial indexes.
	const listed = outcome === 'clean' ? [] : ['outcome <> 0'];
	return { sql: [...listed, ...given.map(({ sql }) => sql)].join(' AND '), values: given.map(({ value }) => value) };
}
