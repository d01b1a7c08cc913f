/** Assessments of the fleet, written in batches; a repeated one counts once. */
import { sql } from 'kysely';
import {
	type Assessment,
	type AssessmentPage,
	type AssessmentQuery,
	assessmentPage,
	entriesToFind,
	type Verdict,
	verdictOf,
} from '../../contracts/assessments.ts';
import { plainArray, textArray } from './array-literal.ts';
import type { Database } from './ledger-days.ts';

const columns = ['request_id', 'team', 'stage', 'policy', 'category', 'action', 'outcome', 'at_ms', 'count'];

export async function sendAssessments(db: Database, assessments: readonly Assessment[]): Promise<void> {
	if (assessments.length === 0) return;
	const texts = (['requestId', 'team', 'stage', 'policy', 'category', 'action', 'outcome'] as const).map(
		(name) => sql`${textArray(assessments.map((one) => one[name]))}::text[]`,
	);
	const numbers = (['atMs', 'count'] as const).map((name) => sql`${plainArray(assessments.map((one) => one[name]))}::int8[]`);
	await sql`
		INSERT INTO tollgate.assessments (${sql.raw(columns.join(', '))})
		SELECT * FROM unnest(${sql.join([...texts, ...numbers])}) ON CONFLICT DO NOTHING`.execute(db);
}

export async function listAssessments(db: Database, query: AssessmentQuery): Promise<AssessmentPage> {
	const { requestId, team, stage, policy, category, action, outcome, fromMs, toMs, cursor } = query;
	const toFind = entriesToFind(query);
	const conditions = [
		// The exact predicate of the partial indexes.
		outcome === 'clean' ? sql`true` : sql.raw(`outcome <> 'clean'`),
		...(cursor === undefined ? [] : [sql`sequence < ${cursor}`]),
		...(requestId === undefined ? [] : [sql`request_id = ${requestId}`]),
		...(team === undefined ? [] : [sql`team = ${team}`]),
		...(stage === undefined ? [] : [sql`stage = ${stage}`]),
		...(policy === undefined ? [] : [sql`policy = ${policy}`]),
		...(category === undefined ? [] : [sql`category = ${category}`]),
		...(action === undefined ? [] : [sql`action = ${action}`]),
		...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
		...(fromMs === undefined ? [] : [sql`at_ms >= ${fromMs}`]),
		...(toMs === undefined ? [] : [sql`at_ms < ${toMs}`]),
	];
	const { rows } = await sql<AssessmentColumns>`
		SELECT * FROM tollgate.assessments WHERE ${sql.join(conditions, sql` AND `)} ORDER BY sequence DESC LIMIT ${toFind}`.execute(db);
	return assessmentPage(
		rows.map((row) => ({ sequence: Number(row.sequence), assessment: assessmentOf(row) })),
		toFind,
	);
}

/** Returns entries, because these can be passed between threads. */
export async function verdictsOf(
	db: Database,
	requestIds: readonly string[],
): Promise<readonly (readonly [id: string, verdict: Verdict])[]> {
	const { rows } = await sql<Pick<Assessment, 'stage' | 'outcome'> & { request_id: string }>`
		SELECT request_id, stage, outcome FROM tollgate.assessments WHERE request_id = ANY (${textArray(requestIds)}::text[])`.execute(db);
	return [...Map.groupBy(rows, (row) => row.request_id)].map(([id, some]) => [id, verdictOf(some)]);
}

const entriesAtOnce = 10_000;

export async function pruneAssessments(db: Database, beforeMs: number): Promise<void> {
	for (let some = entriesAtOnce; some === entriesAtOnce; ) {
		const { numAffectedRows } = await sql`
			DELETE FROM tollgate.assessments WHERE ctid IN (
				SELECT ctid FROM tollgate.assessments WHERE at_ms < ${beforeMs} LIMIT ${entriesAtOnce}
			)`.execute(db);
		some = Number(numAffectedRows ?? 0n);
	}
}

interface AssessmentColumns extends Pick<Assessment, 'team' | 'stage' | 'policy' | 'category' | 'action' | 'outcome' | 'count'> {
	readonly sequence: bigint;
	readonly request_id: string;
	readonly at_ms: bigint;
}

function assessmentOf({ sequence: _, request_id: requestId, at_ms: atMs, ...row }: AssessmentColumns): Assessment {
	return { requestId, atMs: Number(atMs), ...row };
}
