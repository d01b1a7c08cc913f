import type { DatabaseSync } from 'node:sqlite';
import { createTransaction } from '../database.ts';
import type { CompactAssessment } from './ledger-calls.ts';
import { packCallId } from './packed-call-id.ts';

export interface AssessmentWriting {
	/** What is there already stays. */
	assess(rows: readonly CompactAssessment[]): void;
	/** Deletes those that were sent. */
	forgetThrough(sequence: number): void;
	/** @returns how many were deleted; 0 when there are no more. */
	pruneSome(beforeMs: number): number;
}

/** Some milliseconds of work. */
const rowsPerPruning = 1000;

export function createAssessmentWriting(database: DatabaseSync): AssessmentWriting {
	const transaction = createTransaction(database);
	const insert = database.prepare(`
		INSERT INTO assessments (id, at_ms, team, stage, policy, category, action, outcome, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`);
	const forget = database.prepare('DELETE FROM assessments WHERE sequence <= ?');
	const prune = database.prepare(`
		DELETE FROM assessments WHERE sequence IN (SELECT sequence FROM assessments ORDER BY sequence LIMIT ${rowsPerPruning}) AND at_ms < ?`);
	return {
		assess: (rows) =>
			transaction(() => {
				for (const [id, ...rest] of rows) insert.run(packCallId(id), ...rest);
			}),
		forgetThrough: (sequence) => void transaction(() => forget.run(sequence)),
		pruneSome: (beforeMs) => transaction(() => Number(prune.run(beforeMs).changes)),
	};
}
